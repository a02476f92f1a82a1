// Keys of the service itself, created at the first start and stored sealed: the key that authenticates return paths and
// feedback IDs, that of links in mail, that of known browsers, and the one of the service's own DKIM signature, whose
// record an operator has to publish.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { Vault } from '../base/vault.ts';
import { createDkimKeyPair } from '../protocol/mail/dkim/dkim-key.ts';
import type { KeyPurpose, PlatformKey } from '../store/platform-keys.ts';
import type { Store } from '../store/store.ts';

export interface ServiceIdentity {
  /** Signs new tokens; older keys still verify theirs. */
  tokenKey: { id: string; key: Buffer };
  /** All keys by ID, including the newest. */
  tokenKeys: ReadonlyMap<string, Buffer>;
  /** The same for links in mail: tracking and unsubscribing. */
  linkKey: { id: string; key: Buffer };
  linkKeys: ReadonlyMap<string, Buffer>;
  /** The same for what browsers keep of an account: known-browser cookies, steps of a sign-in. */
  browserKey: { id: string; key: Buffer };
  browserKeys: ReadonlyMap<string, Buffer>;
  dkim: { domain: string; selector: string; privateKeyDer: Buffer; publicKeyB64: string };
  /** Whether the DKIM key was created just now, so that its record cannot be published yet. */
  dkimIsNew: boolean;
}

export interface ServiceIdentityKit {
  store: Pick<Store, 'platformKeys'>;
  vault: Vault;
  clock: Clock;
  dkim: { domain: string; selector: string };
}

const TOKEN_KEY_BYTES = 32;

export async function loadServiceIdentity(kit: ServiceIdentityKit): Promise<ServiceIdentity> {
  const newToken = async () => ({ secret: randomBytes(TOKEN_KEY_BYTES), publicPart: null });
  const token = await loadOrCreate(kit, 'message-token', 'a', newToken);
  const link = await loadOrCreate(kit, 'tracking', 'a', newToken);
  const browser = await loadOrCreate(kit, 'known-browser', 'a', newToken);
  // One key per name: changing the domain or selector creates a new key, which needs a new record.
  const { domain, selector } = kit.dkim;
  const dkim = await loadOrCreate(kit, 'service-dkim', dkimKeyId(kit.dkim), async () => {
    const pair = await createDkimKeyPair();
    return { secret: pair.privateKeyDer, publicPart: pair.publicKeyB64 };
  });
  const openAll = ({ all }: Loaded) => new Map(all.map((key) => [key.keyId, openKey(kit.vault, key)]));
  return {
    tokenKey: { id: token.current.keyId, key: openKey(kit.vault, token.current) },
    tokenKeys: openAll(token),
    linkKey: { id: link.current.keyId, key: openKey(kit.vault, link.current) },
    linkKeys: openAll(link),
    browserKey: { id: browser.current.keyId, key: openKey(kit.vault, browser.current) },
    browserKeys: openAll(browser),
    dkim: { domain, selector, privateKeyDer: openKey(kit.vault, dkim.current), publicKeyB64: dkim.current.publicPart! },
    dkimIsNew: dkim.isNew,
  };
}

interface Loaded {
  current: PlatformKey;
  all: PlatformKey[];
  isNew: boolean;
}

type Make = () => Promise<{ secret: Buffer; publicPart: string | null }>;

/** Whether a daemon has created it. Other commands must not, or the daemon would not say which record to publish. */
export async function hasServiceIdentity({
  store,
  dkim,
}: Pick<ServiceIdentityKit, 'store' | 'dkim'>): Promise<boolean> {
  const known = await store.platformKeys.listPlatformKeys('service-dkim');
  return known.some(({ keyId }) => keyId === dkimKeyId(dkim));
}

function dkimKeyId({ domain, selector }: ServiceIdentityKit['dkim']): string {
  return `${selector}._domainkey.${domain}`;
}

/** Tokens rotate: their newest key is current, whatever its ID. A DKIM key is current for its own name only. */
async function loadOrCreate(kit: ServiceIdentityKit, purpose: KeyPurpose, keyId: string, make: Make): Promise<Loaded> {
  const { store, vault, clock } = kit;
  const pick = (keys: PlatformKey[]) =>
    purpose === 'service-dkim' ? keys.find((key) => key.keyId === keyId) : keys[0];
  const known = await store.platformKeys.listPlatformKeys(purpose);
  const current = pick(known);
  if (current) return { current, all: known, isNew: false };
  const { secret, publicPart } = await make();
  const sealed = vault.seal(secret, platformKeyContext(purpose, keyId));
  await store.platformKeys.addPlatformKey({ purpose, keyId, secret: sealed, publicPart, createdAt: clock.now() });
  const all = await store.platformKeys.listPlatformKeys(purpose);
  const made = pick(all);
  if (!made) throw new Fault(`the platform key ${purpose} could not be created`);
  return { current: made, all, isNew: true };
}

function openKey(vault: Vault, key: PlatformKey): Buffer {
  return vault.open(key.secret, platformKeyContext(key.purpose, key.keyId));
}

/** Binds a sealed key to its row. */
export function platformKeyContext(purpose: KeyPurpose, keyId: string): string {
  return `platform-key:${purpose}:${keyId}`;
}
