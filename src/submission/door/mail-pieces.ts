// The body of a mail on its way to the disk, in pieces: whatever its size, a connection holds no more than one, and the
// writer is never busy with one for long. The last one goes with the transaction that makes the mail count, so that a small
// mail takes a single commit.
import type { Clock } from '../../base/clock.ts';
import { MAX_PIECE_BYTES as PIECE_BYTES, type WrittenMails } from '../../store/written-mails.ts';

export interface PiecesOf {
  tenantId: string;
  /** Of the submission to be. */
  id: string;
  clock: Clock;
}

export class MailPieces {
  readonly #store: WrittenMails;
  readonly #of: PiecesOf;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #stored = 0;

  constructor(store: WrittenMails, of: PiecesOf) {
    this.#store = store;
    this.#of = of;
  }

  async add(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      // A full one is kept back until more comes: it may be the last.
      if (this.#waitingBytes === PIECE_BYTES) await this.#storeOne();
      const part = rest.subarray(0, PIECE_BYTES - this.#waitingBytes);
      this.#waiting.push(part);
      this.#waitingBytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** How many there are, and the last one, which isn't stored: there is none when the body is empty. */
  takeAll(): { pieces: number; last?: Buffer } {
    if (this.#waitingBytes === 0) return { pieces: this.#stored };
    return { pieces: this.#stored + 1, last: this.#takeWaiting() };
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }

  async #storeOne(): Promise<void> {
    const { tenantId, id, clock } = this.#of;
    const bytes = this.#takeWaiting();
    await this.#store.keepPiece({ tenantId, id, position: this.#stored, bytes, at: clock.now() });
    this.#stored++;
  }

  /** Nothing came of the mail. What can't be removed now is swept later. */
  async drop(): Promise<void> {
    const { tenantId, id } = this.#of;
    if (this.#stored > 0) await this.#store.drop({ tenantId, id });
  }
}
