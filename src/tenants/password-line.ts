// Passwords are hashed and checked in a short line: scrypt takes 32 MiB and a tenth of a second on a thread
// of the pool that file system and name look-ups need as well. Where nobody is known by an address, the
// same work is done for nothing. A flood of strangers fills a part of it; the rest is for known browsers.
import { hashPassword, verifyPassword } from './passwords.ts';

const AT_ONCE = 2;
/** At ten a second nobody would wait for an answer behind more. */
const WAITING = 50;
/** Places that strangers leave to browsers that have signed in before, which also go first. */
const KEPT_FOR_KNOWN = 10;
/** More of one account wait as strangers do: whoever has an account must not fill the places of all others. */
const KNOWN_OF_ONE_ACCOUNT = 3;

// Of no password that anybody knows: the hash is random. Its parameters are those of new hashes.
const HASH_OF_NOBODY = '$scrypt$ln=15,r=8,p=3$cG9zdHJpZGVyIG5vYm9keQ==$Uu8CxGUBqXqNq0lVnZk2bWJ5dm9pZC1ub2JvZHktMDE=';

interface KnownTurn {
  account: string;
  begin(): void;
}

export class PasswordLine {
  readonly #known: KnownTurn[] = [];
  readonly #strangers: (() => void)[] = [];
  #running = 0;

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password), null);
  }

  /**
   * Null as `stored` stands for a user that there is not: as much work, and always false. `knownTo` is the account
   * that this browser has signed in to before.
   */
  async verify(password: string, stored: string | null, knownTo: string | null = null): Promise<boolean | 'busy'> {
    const account = knownTo !== null && this.#hasPlaceOfOwn(knownTo) ? knownTo : null;
    if (account === null && this.#isFullForStrangers()) return 'busy';
    const holds = await this.#inTurn(() => verifyPassword(password, stored ?? HASH_OF_NOBODY), account);
    return stored !== null && holds;
  }

  #hasPlaceOfOwn(account: string): boolean {
    if (this.#known.filter((turn) => turn.account === account).length >= KNOWN_OF_ONE_ACCOUNT) return false;
    return this.#known.length < KEPT_FOR_KNOWN;
  }

  /** Known browsers for whom no place is kept wait among strangers, so that the two lines are never longer than all. */
  #isFullForStrangers(): boolean {
    return this.#strangers.length >= WAITING - KEPT_FOR_KNOWN;
  }

  async #inTurn<T>(work: () => Promise<T>, account: string | null): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#turn(account);
    else this.#running++;
    try {
      return await work();
    } finally {
      // Whoever is next takes over the place.
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
