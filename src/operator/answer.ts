// The answer of a command, wherever it ran: in this process or in the daemon.
export type Answer<R = unknown> =
  /** `exit` if the result itself reports a problem; 0 by default. */
  | { kind: 'done'; result: R; exit?: number }
  /** The command was understood but failed: exit 1. */
  | { kind: 'failed'; message: string }
  /** The arguments are invalid: exit 2 and the usage. */
  | { kind: 'wrong_usage'; message: string }
  /** A command that ran until it was stopped, and has printed everything itself. */
  | { kind: 'ended'; exit: number };

export function done<R>(result: R): Answer<R> {
  return { kind: 'done', result };
}

export function failed(message: string): Answer<never> {
  return { kind: 'failed', message };
}

export function wrongUsage(message: string): Answer<never> {
  return { kind: 'wrong_usage', message };
}

export function ended(exit: number): Answer<never> {
  return { kind: 'ended', exit };
}
