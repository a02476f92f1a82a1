// Contract: keys of the platform itself, sealed, several per purpose so that they can be
// rotated: the newest one makes new tokens, the older ones still verify theirs.
import type { SealedSecret } from '../base/vault.ts';

export type KeyPurpose = 'message-token' | 'tracking' | 'known-browser' | 'service-dkim' | 'acme-account';

export interface PlatformKey {
  purpose: KeyPurpose;
  keyId: string;
  secret: SealedSecret;
  publicPart: string | null;
  createdAt: number;
}

export interface PlatformKeyStore {
  /** Newest first, without retired ones. */
  listPlatformKeys(purpose: KeyPurpose): Promise<PlatformKey[]>;
  /** 'exists' when the purpose already has a key with this ID: another process was first. */
  addPlatformKey(key: PlatformKey): Promise<'added' | 'exists'>;
}
