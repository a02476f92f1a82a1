// DKIM key pairs: created for a new domain, parsed once when a signer is set up. The store and domains keep and encrypt
// them.
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

export interface DkimKeyPair {
  /** The p= of the DNS record (RFC 6376 section 3.6.1): SubjectPublicKeyInfo in base64. */
  publicKeyB64: string;
  /** PKCS #8. */
  privateKeyDer: Buffer;
}

/** RFC 8301 section 3.2 recommends 2048 bits; longer keys do not fit into one string of a TXT record. */
const MODULUS_BITS = 2048;

const generate = promisify(generateKeyPair);

/** Runs in the thread pool: it takes from 50 ms to a second. */
export async function createDkimKeyPair(): Promise<DkimKeyPair> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  return {
    publicKeyB64: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    privateKeyDer: privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

export function loadPrivateKey(der: Buffer): KeyObject {
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}
