// Contract: second factors of users (TOTP), and recovery codes for when the device is lost. The secret is
// sealed; of recovery codes the store knows the SHA-256.
import type { SealedSecret } from '../base/vault.ts';

export interface SecondFactor {
  secret: SealedSecret;
  /** Of the last code that was taken, counted in time steps. */
  lastStep: number;
  createdAt: number;
  /** Null until the first code proved that the device has the secret: it protects nothing until then. */
  confirmedAt: number | null;
  recoveryCodes: number;
}

export interface Confirmation {
  step: number;
  at: number;
  recoveryCodeHashes: readonly Buffer[];
}

export interface SecondFactorStore {
  findSecondFactor(userId: string): Promise<SecondFactor | null>;
  /** Takes the place of one that was never confirmed. False when a confirmed one is there, or no such user. */
  beginSecondFactor(userId: string, secret: SealedSecret, at: number): Promise<boolean>;
  /** False when none waits for it. */
  confirmSecondFactor(userId: string, confirmation: Confirmation): Promise<boolean>;
  /** False when a code of this step or of a later one was taken before. */
  takeStep(userId: string, step: number): Promise<boolean>;
  /** Each works once. Null when the user has no such code, otherwise how many are left. */
  takeRecoveryCode(userId: string, codeHash: Buffer): Promise<number | null>;
  /** False without a confirmed second factor. */
  replaceRecoveryCodes(userId: string, codeHashes: readonly Buffer[]): Promise<boolean>;
  /** With its recovery codes. False when there was none. */
  dropSecondFactor(userId: string): Promise<boolean>;
}
