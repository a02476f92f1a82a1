// The key of the account at a directory (RFC 8555 section 7.3), created before the first call and stored sealed: with the
// same key a directory finds the same account, so that none is made twice.
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { Vault } from '../base/vault.ts';
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
  const known = await findAccountKey(kit, directoryUrl);
  if (known !== null) return known;
  const keyId = keyIdOf(directoryUrl);
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
  const added = await findAccountKey(kit, directoryUrl);
  if (added === null) throw new Fault('the key of the ACME account could not be stored');
  return added;
}

/** PEM; null: no daemon has called this directory yet. */
export async function findAccountKey(
  { store, vault }: Pick<AccountKeyKit, 'store' | 'vault'>,
  directoryUrl: string,
): Promise<string | null> {
  const keyId = keyIdOf(directoryUrl);
  const keys = await store.platformKeys.listPlatformKeys(PURPOSE);
  const known = keys.find((key) => key.keyId === keyId);
  return known ? vault.open(known.secret, contextOf(keyId)).toString() : null;
}

function keyIdOf(directoryUrl: string): string {
  return createHash('sha256').update(directoryUrl).digest('hex').slice(0, 16);
}

function contextOf(keyId: string): string {
  return `platform-key:${PURPOSE}:${keyId}`;
}
