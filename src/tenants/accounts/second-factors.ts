// The second step of signing in: a code of the user's device, or one of the recovery codes that were shown when it was
// set up. The secret is sealed; no code is accepted twice.

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { encodeBase32 } from '../../base/text/base32.ts';
import type { Vault } from '../../base/vault.ts';
import type { SecondFactor } from '../../store/accounts.ts';
import type { Store } from '../../store/store.ts';
import type { RandomBytes } from '../random-text.ts';
import { matchingStep, TOTP_SECRET_BYTES } from './totp.ts';

const RECOVERY_CODES = 10;
/** 80 bits, as 16 characters: no slow hash is needed. */
const RECOVERY_CODE_BYTES = 10;

export interface SecondFactorKit {
  store: Pick<Store, 'accounts'>;
  clock: Clock;
  vault: Vault;
  random?: RandomBytes;
}

export type CodeCheck =
  | { kind: 'right' }
  /** How many recovery codes are left. */
  | { kind: 'recovery'; left: number }
  | { kind: 'wrong' };

export class SecondFactors {
  readonly #kit: SecondFactorKit;
  readonly #random: RandomBytes;

  constructor(kit: SecondFactorKit) {
    this.#kit = kit;
    this.#random = kit.random ?? randomBytes;
  }

  /** The confirmed second factor, which sign-ins require, or null. */
  async findConfirmed(userId: string): Promise<SecondFactor | null> {
    const factor = await this.#kit.store.accounts.findSecondFactor(userId);
    return factor?.confirmedAt == null ? null : factor;
  }

  /** A new secret for the device; null when the user has a second factor already. */
  async begin(userId: string): Promise<Buffer | null> {
    const { store, vault, clock } = this.#kit;
    const secret = this.#random(TOTP_SECRET_BYTES);
    const begun = await store.accounts.beginSecondFactor(
      userId,
      vault.seal(secret, secondFactorContext(userId)),
      clock.now(),
    );
    return begun ? secret : null;
  }

  /** The secret that is not confirmed yet, to be shown again; null when there is none. */
  async unconfirmedSecret(userId: string): Promise<Buffer | null> {
    const factor = await this.#kit.store.accounts.findSecondFactor(userId);
    return factor && factor.confirmedAt === null ? this.#open(userId, factor) : null;
  }

  /** The first right code turns it on. Returns the recovery codes, which are shown once; null: the code is wrong. */
  async confirm(userId: string, code: string): Promise<string[] | null> {
    const { store, clock } = this.#kit;
    const secret = await this.unconfirmedSecret(userId);
    const step = secret && matchingStep(secret, code, { now: clock.now(), lastStep: 0 });
    if (step === null) return null;
    const codes = this.#newCodes();
    const confirmation = { step, at: clock.now(), recoveryCodeHashes: codes.map(hashOf) };
    return (await store.accounts.confirmSecondFactor(userId, confirmation)) ? codes : null;
  }

  async check(userId: string, code: string): Promise<CodeCheck> {
    const factor = await this.findConfirmed(userId);
    if (!factor) return { kind: 'wrong' };
    const { store, clock } = this.#kit;
    const at = { now: clock.now(), lastStep: factor.lastStep };
    const step = matchingStep(this.#open(userId, factor), code, at);
    if (step !== null) return { kind: (await store.accounts.takeStep(userId, step)) ? 'right' : 'wrong' };
    const left = await store.accounts.takeRecoveryCode(userId, hashOf(code));
    return left === null ? { kind: 'wrong' } : { kind: 'recovery', left };
  }

  /** New recovery codes, shown once; the old ones become invalid. Null without a second factor. */
  async renewCodes(userId: string): Promise<string[] | null> {
    const codes = this.#newCodes();
    return (await this.#kit.store.accounts.replaceRecoveryCodes(userId, codes.map(hashOf))) ? codes : null;
  }

  drop(userId: string): Promise<boolean> {
    return this.#kit.store.accounts.dropSecondFactor(userId);
  }

  #open(userId: string, { secret }: SecondFactor): Buffer {
    return this.#kit.vault.open(secret, secondFactorContext(userId));
  }

  #newCodes(): string[] {
    return Array.from({ length: RECOVERY_CODES }, () =>
      encodeBase32(this.#random(RECOVERY_CODE_BYTES)).replace(/.{4}(?=.)/g, '$&-'),
    );
  }
}

export function secondFactorContext(userId: string): string {
  return `second-factor:${userId}`;
}

/** Ignores spaces, hyphens and case. */
function hashOf(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replace(/[\s-]/g, ''), 'buffer');
}
