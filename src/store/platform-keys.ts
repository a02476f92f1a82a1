// Contract: keys of the platform itself, sealed, several per purpose side by side so that they
// can be rotated: the newest makes new tokens, the older ones still open theirs.
import type { SealedSecret } from '../base/vault.ts';

export type KeyPurpose = 'message-token' | 'tracking' | 'known-browser' | 'service-dkim';

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
  /** 'exists' when the purpose already has a key of this id: somebody else was first. */
  addPlatformKey(key: PlatformKey): Promise<'added' | 'exists'>;
}
