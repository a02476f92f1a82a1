// The key of the account at a directory (RFC 8555 section 7.3), created before the first call and stored sealed: with the
// same key a directory finds the same account, so that none is made twice.
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { Vault } from '../base/vault.ts';
import type { PlatformKey } from '../store/platform-keys.ts';
import type { Store } from '../store/store.ts';

const PURPOSE = 'acme-account';

export interface AccountKeyKit {
  store: Pick<Store, 'platformKeys'>;
  vault: Vault;
  clock: Clock;
}

/** PEM. */
export async function loadAccountKey(kit: AccountKeyKit, directoryUrl: string): Promise<string> {
  const { store, vault, clock } = kit;
  const keyId = createHash('sha256').update(directoryUrl).digest('hex').slice(0, 16);
  const known = await findKey(kit, keyId);
  if (known) return open(vault, known);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const secret = vault.seal(Buffer.from(pem), contextOf(keyId));
  await store.platformKeys.addPlatformKey({
    purpose: PURPOSE,
    keyId,
    secret,
    publicPart: null,
    createdAt: clock.now(),
  });
  const added = await findKey(kit, keyId);
  if (!added) throw new Fault('the key of the ACME account could not be stored');
  return open(vault, added);
}

async function findKey({ store }: AccountKeyKit, keyId: string): Promise<PlatformKey | undefined> {
  return (await store.platformKeys.listPlatformKeys(PURPOSE)).find((key) => key.keyId === keyId);
}

function open(vault: Vault, { keyId, secret }: PlatformKey): string {
  return vault.open(secret, contextOf(keyId)).toString();
}

function contextOf(keyId: string): string {
  return `platform-key:${PURPOSE}:${keyId}`;
}
