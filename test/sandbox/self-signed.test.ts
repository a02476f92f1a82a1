// The throw-away certificate, read by OpenSSL's own parser.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import { makeSelfSigned } from '../../src/sandbox/self-signed.ts';

t.test('a certificate that OpenSSL reads and that signs itself', async (t) => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  const { key, cert } = makeSelfSigned('mx.capture.test', now);
  const read = new X509Certificate(cert);
  t.equal(read.checkHost('mx.capture.test'), 'mx.capture.test');
  t.equal(read.checkHost('other.test'), undefined);
  t.equal(read.subject, 'CN=mx.capture.test');
  t.equal(read.issuer, read.subject);
  t.ok(read.verify(read.publicKey));
  t.ok(read.checkPrivateKey(createPrivateKey(key)));
  t.equal(new Date(read.validFrom).toISOString(), '2026-11-19T10:00:00.000Z');
  t.equal(new Date(read.validTo).toISOString(), '2027-11-20T10:00:00.000Z');
  t.not(makeSelfSigned('mx.capture.test', now).key, key, 'another one every time');
});
