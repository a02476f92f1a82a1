// Sign-ins whose password was right and that wait for their code. The token that says so is with the browser alone
// (account-token.ts), so that the code may be sent to another node than the password, and a restart ends none. It ends
// after five minutes, or when the password changes.
//
// Only the number of codes is counted here, by each node: the throttles count every code as an attempt at the account.
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';
import { type Clock, MINUTE_MS } from '../../base/clock.ts';
import { bytesToUuid, uuidToBytes } from '../../base/ids.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { User } from '../../store/tenants.ts';
import { openToken, readToken, sealToken, type TokenKeys, type TokenKind } from './account-token.ts';

export interface SecondStepKit extends TokenKeys {
  store: StoreVerbs<{ accounts: 'getUser' }>;
  clock: Clock;
}

const LIFE_MS = 5 * MINUTE_MS;
const CODES_PER_STEP = 5;
/** Each is of somebody who knows the password, and counts against the throttles. */
const MAX_COUNTED = 10_000;

const USER_BYTES = 16;
const TIME_BYTES = 6;
/** Tells two steps apart that begin in the same millisecond. */
const RANDOM_BYTES = 8;
const KIND: TokenKind = { purpose: 'second step', contentBytes: USER_BYTES + TIME_BYTES + RANDOM_BYTES };

export class SecondSteps {
  readonly #kit: SecondStepKit;
  /** How many codes were tried, by step. Oldest first. */
  readonly #codes = new BoundedMap<string, number>(MAX_COUNTED);

  constructor(kit: SecondStepKit) {
    this.#kit = kit;
  }

  /** For a user whose password was right just now. */
  begin(user: User): string {
    const { key, clock } = this.#kit;
    const content = Buffer.alloc(KIND.contentBytes);
    content.set(uuidToBytes(user.id));
    content.writeUIntBE(clock.now() + LIFE_MS, USER_BYTES, TIME_BYTES);
    content.set(randomBytes(RANDOM_BYTES), USER_BYTES + TIME_BYTES);
    return sealToken(KIND, content, user, key);
  }

  /** Whose it is. Null: it is not one of ours, it is over, or the password has changed since. */
  async find(step: string): Promise<User | null> {
    const { store, clock, keys } = this.#kit;
    const claimed = readToken(KIND, step);
    if (claimed === null) return null;
    const user = await store.accounts.getUser(bytesToUuid(claimed.subarray(0, USER_BYTES)));
    const content = openToken(KIND, step, user, keys);
    const isOver = content === null || content.readUIntBE(USER_BYTES, TIME_BYTES) <= clock.now();
    return isOver || this.#isUsedUp(step) ? null : user;
  }

  /** Before a code is checked, so that concurrent ones can't bypass the limit. False: there were too many. */
  countCode(step: string): boolean {
    if (this.#isUsedUp(step)) return false;
    this.#codes.set(step, (this.#codes.get(step) ?? 0) + 1);
    return true;
  }

  /** It has led to a session. */
  end(step: string): void {
    this.#codes.set(step, CODES_PER_STEP);
  }

  #isUsedUp(step: string): boolean {
    return (this.#codes.get(step) ?? 0) >= CODES_PER_STEP;
  }
}
