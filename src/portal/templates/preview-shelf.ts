// The HTML of previews, kept in memory for the frame that shows it: it has to come from an address of its own,
// since in a srcdoc the portal's policy would hold, and no mail looks right under it. Each person has one at a
// time, nobody else can fetch it, and it is forgotten after a few minutes. Each node for
// itself: a browser stays with one of them.
import { randomBytes } from 'node:crypto';
import { type Clock, MINUTE_MS } from '../../base/clock.ts';

interface Shelved {
  userId: string;
  markup: string;
  at: number;
}

const KEPT_MS = 10 * MINUTE_MS;
/** Of all people together; one preview has at most a mebibyte. */
const MOST_CHARS = 32 * 1024 * 1024;
const TOKEN_BYTES = 16;

export class PreviewShelf {
  readonly #clock: Clock;
  readonly #mostChars: number;
  /** By token, the oldest first. */
  readonly #shelved = new Map<string, Shelved>();
  #chars = 0;

  constructor(clock: Clock, mostChars = MOST_CHARS) {
    this.#clock = clock;
    this.#mostChars = mostChars;
  }

  /** Returns the token that finds it. */
  put(userId: string, markup: string): string {
    for (const [token, shelved] of this.#shelved) if (shelved.userId === userId) this.#drop(token, shelved);
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#shelved.set(token, { userId, markup, at: this.#clock.now() });
    this.#chars += markup.length;
    this.#makeRoom();
    return token;
  }

  find(userId: string, token: string): string | null {
    this.#makeRoom();
    const shelved = this.#shelved.get(token);
    return shelved?.userId === userId ? shelved.markup : null;
  }

  #makeRoom(): void {
    const old = this.#clock.now() - KEPT_MS;
    for (const [token, shelved] of this.#shelved) {
      if (shelved.at > old && this.#chars <= this.#mostChars) break;
      this.#drop(token, shelved);
    }
  }

  #drop(token: string, { markup }: Shelved): void {
    this.#shelved.delete(token);
    this.#chars -= markup.length;
  }
}
