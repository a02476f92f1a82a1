// A keeper of certificates in this process, with a clock of the test's, and a real directory: pebble, which rejects nonces,
// reuses proofs, and validates by the test's DNS server.
import { X509Certificate } from 'node:crypto';
import type { Test } from 'tap';
import { CertificateKeeper, type CertificateKit } from '../../../src/certificates/certificate-keeper.ts';
import { openChallengePort } from '../../../src/certificates/challenge-port.ts';
import type { CertificateStore } from '../../../src/store/certificates.ts';
import { keeperKit } from '../../certificates/keeper-kit.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type PebbleOptions, startPebble } from '../../support/pebble.ts';

export const PAIR = ['links.a.test', 'mail.a.test'];
export const NONE = new AbortController().signal;

export async function startBench(t: Test, pebbleOptions: Partial<PebbleOptions> = {}) {
  const dns = await startDnsServer({ records: { 'mail.a.test': { A: ['127.0.0.1'] } } });
  dns.set('links.a.test', 'A', ['127.0.0.1']);
  t.teardown(() => dns.close());
  const httpPort = await findFreePort();
  const pebble = await startPebble(t, { dns, httpPort, ...pebbleOptions });
  const account = { url: pebble.directory, root: pebble.root, email: null, binding: null };
  const { store, answers, kit, lines, time } = await keeperKit(t, account);
  const port = await openChallengePort({ host: '127.0.0.1', port: httpPort, answers, origins: new Map(), home: null });
  t.teardown(() => port.close());
  const open = (wanted: string[][], change: Partial<CertificateKit> = {}) =>
    CertificateKeeper.open({ ...kit, ...change }, wanted);
  const certificateOf = async (keeper: CertificateKeeper, names: string[]) =>
    new X509Certificate((await keeper.source(names).read()).cert);
  return { dns, pebble, store, kit, time, lines, open, certificateOf };
}

/** So that a test can exchange single verbs. */
export function bound(store: CertificateStore): CertificateStore {
  return {
    listCertificates: () => store.listCertificates(),
    beginCertificateAttempt: (id, next) => store.beginCertificateAttempt(id, next),
    keepCertificateOrder: (id, order) => store.keepCertificateOrder(id, order),
    keepCertificate: (id, issued, next) => store.keepCertificate(id, issued, next),
    hastenCertificateAttempt: (id, now) => store.hastenCertificateAttempt(id, now),
    failCertificateAttempt: (id, failure, earliest) => store.failCertificateAttempt(id, failure, earliest),
  };
}
