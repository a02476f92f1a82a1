// Conformance: certificates from ACME directories.
import type { Test } from 'tap';
import type { CertificateId, IssuedCertificate } from '../../../src/store/certificates.ts';
import { type Bench, T0 } from './harness.ts';

const ID: CertificateId = { directory: 'https://acme.test/dir', names: 'a.test b.test' };
const OTHER: CertificateId = { ...ID, directory: 'https://staging.test/dir' };
const ISSUED: IssuedCertificate = {
  chain: '-----BEGIN CERTIFICATE-----',
  key: { masterKeyId: 'm', sealed: Buffer.from('sealed') },
  notBefore: T0,
  notAfter: T0 + 90,
};
const ORDER = { url: 'https://acme.test/order/1', key: { masterKeyId: 'm', sealed: Buffer.from('of the order') } };

export const certificateCases = {
  'an attempt counts before it is known how it ends': async (t: Test, bench: Bench) => {
    const { certificates } = bench.store;
    t.strictSame(await certificates.listCertificates(), []);
    await certificates.beginCertificateAttempt(ID, T0 + 5);
    const first = { ...ID, issued: null, order: null, failures: 1, nextAttemptAt: T0 + 5, failure: null };
    t.strictSame(await certificates.listCertificates(), [first]);
    await certificates.failCertificateAttempt(ID, { reason: 'busy', at: T0 + 1 }, T0 + 9);
    t.match(await certificates.listCertificates(), [{ nextAttemptAt: T0 + 9 }], 'it asked for a longer pause');
    await certificates.failCertificateAttempt(ID, { reason: 'no such name', at: T0 + 1 }, 0);
    const failed = { ...first, nextAttemptAt: T0 + 9, failure: { reason: 'no such name', at: T0 + 1 } };
    t.strictSame(await certificates.listCertificates(), [failed]);
    await certificates.beginCertificateAttempt(ID, T0 + 20);
    t.strictSame(await certificates.listCertificates(), [{ ...first, failures: 2, nextAttemptAt: T0 + 20 }]);
  },

  'an attempt can be made due at once': async (t: Test, bench: Bench) => {
    const { certificates } = bench.store;
    for (const id of [ID, OTHER]) await certificates.beginCertificateAttempt(id, T0 + 50);
    await certificates.hastenCertificateAttempt(ID, T0 + 9);
    const left = [
      { failures: 1, nextAttemptAt: T0 + 9 },
      { failures: 1, nextAttemptAt: T0 + 50 },
    ];
    t.match(await certificates.listCertificates(), left, 'of one directory, and the attempts before it count');
    await certificates.hastenCertificateAttempt(ID, T0 + 20);
    t.match(await certificates.listCertificates(), left, 'it never comes later');
    await certificates.hastenCertificateAttempt({ ...ID, names: 'c.test' }, T0);
    t.equal((await certificates.listCertificates()).length, 2);
  },

  'an order outlives its attempt, until it is dropped or fulfilled': async (t: Test, bench: Bench) => {
    const { certificates } = bench.store;
    const orders = async () => (await certificates.listCertificates()).map(({ order }) => order);
    for (const id of [ID, OTHER]) await certificates.beginCertificateAttempt(id, T0 + 5);
    await certificates.keepCertificateOrder(ID, ORDER);
    t.strictSame(await orders(), [ORDER, null], 'of one directory');
    await certificates.beginCertificateAttempt(ID, T0 + 6);
    t.strictSame(await orders(), [ORDER, null]);
    await certificates.keepCertificateOrder(ID, null);
    t.strictSame(await orders(), [null, null]);
    await certificates.keepCertificateOrder(ID, ORDER);
    await certificates.keepCertificate(ID, ISSUED, T0 + 60);
    t.strictSame(await orders(), [null, null]);
  },

  'a certificate is replaced, and forgets what failed before it': async (t: Test, bench: Bench) => {
    const { certificates } = bench.store;
    await certificates.keepCertificate(ID, ISSUED, T0 + 60);
    const kept = { ...ID, issued: ISSUED, order: null, failures: 0, nextAttemptAt: T0 + 60, failure: null };
    t.strictSame(await certificates.listCertificates(), [kept], 'also without an attempt before');
    await certificates.beginCertificateAttempt(ID, T0 + 65);
    await certificates.failCertificateAttempt(ID, { reason: 'busy', at: T0 + 61 }, 0);
    t.match(await certificates.listCertificates(), [{ issued: ISSUED, failures: 1 }], 'the old one stays in use');
    const renewed = {
      ...ISSUED,
      chain: 'another',
      key: { masterKeyId: 'n', sealed: Buffer.from('x') },
      notAfter: T0 + 99,
    };
    await certificates.keepCertificate(ID, renewed, T0 + 80);
    t.strictSame(await certificates.listCertificates(), [{ ...kept, issued: renewed, nextAttemptAt: T0 + 80 }]);
  },
};
