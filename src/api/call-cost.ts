// What a call costs of its key's rate: the largest of the calls that it is worth, the size of its body, and the size of
// what templates make of it. All but the first token is charged when it is known: a call that was let in is not refused
// for it, the next one waits.
import { type Refusal, refuse } from '../base/refusals.ts';
import type { BodyRoom } from '../http/http.ts';
import { SMALL_BODY_BYTES } from './body/body-pool.ts';

/** Each full one costs a token, on top of the call's own. */
const BYTES_PER_TOKEN = 64 * 1024;

/** As long as a template waits for its turn. */
const RETRY_AFTER_SECS = 10;

export class CallCost {
  readonly #charge: (tokens: number) => void;
  readonly #room: Pick<BodyRoom, 'take'>;
  /** The call's own token. */
  #charged = 1;
  #renderedBytes = 0;

  constructor(charge: (tokens: number) => void, room: Pick<BodyRoom, 'take'>) {
    this.#charge = charge;
    this.#room = room;
  }

  countBody(bytes: number): void {
    this.countAs(1 + Math.floor(bytes / BYTES_PER_TOKEN));
  }

  /** For a call that does the work of several: less what was charged already. */
  countAs(calls: number): void {
    if (calls <= this.#charged) return;
    this.#charge(calls - this.#charged);
    this.#charged = calls;
  }

  /** What templates make is charged like a body, and takes its room in memory: little data may become a large message. */
  countRendered(bytes: number): Refusal | null {
    const before = this.#renderedBytes;
    this.#renderedBytes += bytes;
    this.countBody(this.#renderedBytes);
    const large = beyondSmall(this.#renderedBytes) - beyondSmall(before);
    if (large === 0 || this.#room.take(large)) return null;
    const message = 'Too many large messages are being accepted. Retry later or send fewer at once.';
    return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
  }
}

function beyondSmall(bytes: number): number {
  return Math.max(0, bytes - SMALL_BODY_BYTES);
}
