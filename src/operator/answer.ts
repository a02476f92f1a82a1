// What a command answers, wherever it ran: in this process or in the daemon.
export type Answer<R = unknown> =
  /** `exit` when the result itself says that something is wrong; 0 when not given. */
  | { kind: 'done'; result: R; exit?: number }
  /** The command was understood and could not be carried out: exit 1. */
  | { kind: 'failed'; message: string }
  /** The arguments make no sense: exit 2 and the usage. */
  | { kind: 'wrong_usage'; message: string }
  /** What ran until it was stopped has said everything itself. */
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
