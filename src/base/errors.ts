// The one error class that crosses folders. A peer or tenant may see `message`; only the log may contain `detail` and
// `cause`. Unknown errors count as temporary.

export interface FaultOptions {
  /** 'permanent' only when a retry cannot succeed. */
  permanence?: 'temporary' | 'permanent';
  /** For the log only. */
  detail?: string;
  cause?: unknown;
}

export class Fault extends Error {
  readonly permanence: 'temporary' | 'permanent';
  readonly detail: string | null;

  constructor(message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.permanence = options.permanence ?? 'temporary';
    this.detail = options.detail ?? null;
  }
}

/** Who would know does not answer right now: what is asked for may be there, and later it can be had. */
export class Unavailable extends Fault {}

/** Nobody knows whether it was stored: it may be there, now or later. */
export class InDoubt extends Fault {}

/** A short text for a log line or a reason, for anything that was thrown. */
export function describeError(thrown: unknown): string {
  if (thrown instanceof Fault && thrown.detail) return `${thrown.message} (${thrown.detail})`;
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return String(thrown);
}

/** Marks a branch of a switch that the type checker has proved unreachable. */
export function unreachable(value: never): never {
  throw new Fault('unreachable branch', { detail: JSON.stringify(value) });
}
