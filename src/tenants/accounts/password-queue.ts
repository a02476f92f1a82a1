// Passwords are hashed and verified in a short queue: scrypt takes 32 MiB and a tenth of a second on a thread of the
// pool that file access and DNS look-ups need as well. An address without a user costs the same, with a dummy hash.
// Strangers can only fill a part of the queue; the rest is reserved for known browsers.
import { hashPassword, verifyPassword } from './passwords.ts';

const MAX_RUNNING = 2;
/** At ten a second, more would mean too long a wait. */
const MAX_WAITING = 50;
/** Slots reserved for known browsers, which also go first. */
const RESERVED_FOR_KNOWN = 10;
/** Beyond this, attempts of one account wait with the strangers: one account must not fill the reserved slots. */
const MAX_KNOWN_PER_ACCOUNT = 3;

// A random hash that matches no known password. Its parameters are those of new hashes.
const DUMMY_HASH = '$scrypt$ln=15,r=8,p=3$cG9zdHJpZGVyIG5vYm9keQ==$Uu8CxGUBqXqNq0lVnZk2bWJ5dm9pZC1ub2JvZHktMDE=';

interface KnownTurn {
  account: string;
  begin(): void;
}

export class PasswordQueue {
  readonly #known: KnownTurn[] = [];
  readonly #strangers: (() => void)[] = [];
  #running = 0;

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password), null);
  }

  /**
   * `stored` is null for a user that doesn't exist: takes as long, and is always false. `knownTo` is the account that
   * this browser has signed in to before.
   */
  async verify(password: string, stored: string | null, knownTo: string | null = null): Promise<boolean | 'busy'> {
    const account = knownTo !== null && this.#hasReservedSlot(knownTo) ? knownTo : null;
    if (account === null && this.#isFullForStrangers()) return 'busy';
    const matches = await this.#inTurn(() => verifyPassword(password, stored ?? DUMMY_HASH), account);
    return stored !== null && matches;
  }

  #hasReservedSlot(account: string): boolean {
    if (this.#known.filter((turn) => turn.account === account).length >= MAX_KNOWN_PER_ACCOUNT) return false;
    return this.#known.length < RESERVED_FOR_KNOWN;
  }

  /** Known browsers without a reserved slot wait with the strangers, so that the two queues together stay bounded. */
  #isFullForStrangers(): boolean {
    return this.#strangers.length >= MAX_WAITING - RESERVED_FOR_KNOWN;
  }

  async #inTurn<T>(work: () => Promise<T>, account: string | null): Promise<T> {
    if (this.#running >= MAX_RUNNING) await this.#turn(account);
    else this.#running++;
    try {
      return await work();
    } finally {
      // The next job takes over the slot.
      const next = this.#known.shift()?.begin ?? this.#strangers.shift();
      if (next) next();
      else this.#running--;
    }
  }

  #turn(account: string | null): Promise<void> {
    return new Promise((begin) => {
      if (account === null) this.#strangers.push(begin);
      else this.#known.push({ account, begin });
    });
  }
}
