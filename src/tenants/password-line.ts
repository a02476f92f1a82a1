// Passwords are hashed and checked in a short line: scrypt takes 32 MiB and a tenth of a second on a thread
// of the pool that file system and name look-ups need as well. Where nobody is known by an address, the
// same work is done for nothing.
import { hashPassword, verifyPassword } from './passwords.ts';

const AT_ONCE = 2;
/** At ten a second nobody would wait for an answer behind more. */
const WAITING = 50;

// Of no password that anybody knows: the hash is random. Its parameters are those of new hashes.
const HASH_OF_NOBODY = '$scrypt$ln=15,r=8,p=3$cG9zdHJpZGVyIG5vYm9keQ==$Uu8CxGUBqXqNq0lVnZk2bWJ5dm9pZC1ub2JvZHktMDE=';

export class PasswordLine {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password));
  }

  /** Null stands for a user that there is not: as much work, and always false. */
  async verify(password: string, stored: string | null): Promise<boolean | 'busy'> {
    if (this.#waiting.length >= WAITING) return 'busy';
    const holds = await this.#inTurn(() => verifyPassword(password, stored ?? HASH_OF_NOBODY));
    return stored !== null && holds;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      // Whoever is next takes over the place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
