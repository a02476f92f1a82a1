// Answers to challenges of an order that another daemon on the same store has under way: with one name for several daemons
// a directory may come to any of them. The answer is the token and a hash of the account's key (RFC 8555 section 8.1), and
// that key is in the store, so that no token has to be. Whoever gets an answer gains nothing by it: it proves names to the
// holder of that account only. Left out: TLS-ALPN-01, whose certificate must be made for a token before it is asked for.
import { createHash, createPublicKey } from 'node:crypto';
import type { Vault } from '../base/vault.ts';
import type { Store } from '../store/store.ts';
import { findAccountKey } from './account-key.ts';

export interface SharedAnswersKit {
  store: Pick<Store, 'certificates' | 'platformKeys'>;
  vault: Vault;
  /** Its URL. */
  directory: string;
}

/** At least 128 bits in base64url (RFC 8555 section 8.3). Nothing else of a request is ever given back. */
const TOKEN = /^[A-Za-z0-9_-]{22,128}$/;

/** Of a token: null, unless an order of the account is under way. */
export function sharedAnswers(kit: SharedAnswersKit): (token: string) => Promise<string | null> {
  let thumbprint: string | null = null;
  const isUnderWay = oneAtATime(async () => {
    const records = await kit.store.certificates.listCertificates();
    return records.some(({ directory, order }) => directory === kit.directory && order !== null);
  });
  return async (token) => {
    if (!TOKEN.test(token) || !(await isUnderWay())) return null;
    thumbprint ??= thumbprintOf(await findAccountKey(kit, kit.directory));
    return thumbprint && `${token}.${thumbprint}`;
  };
}

/** RFC 7638: of the members that it names, in the order of their names. */
function thumbprintOf(accountKey: string | null): string | null {
  if (accountKey === null) return null;
  const { crv, kty, x, y } = createPublicKey(accountKey).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

/**
 * Whoever calls shares a read that has not begun: the port is open to all, and must not become many queries. A read that
 * has begun may miss an order that was stored since.
 */
function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      const reading = read();
      running = reading.catch(() => {});
      return reading;
    });
    return next;
  };
}
