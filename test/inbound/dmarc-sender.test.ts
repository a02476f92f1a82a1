// Who a report's sender proves to be: aligned DKIM or SPF, and nothing else.
import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import t from 'tap';
import { proveSender } from '../../src/inbound/dmarc-sender.ts';
import type { Resolver } from '../../src/protocol/dns/lookup/resolver.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PUBLIC = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const TEXTS: Record<string, string> = {
  's._domainkey.big.test': `v=DKIM1; k=rsa; p=${PUBLIC}`,
  's._domainkey.evil.test': `v=DKIM1; k=rsa; p=${PUBLIC}`,
  'big.test': 'v=spf1 ip4:192.0.2.1 -all',
  'mail.big.test': 'v=spf1 ip4:192.0.2.2 -all',
  'evil.test': 'v=spf1 ip4:192.0.2.1 -all',
};
const resolver = {
  txt: async (name: string) =>
    TEXTS[name] === undefined ? { kind: 'no_domain' } : { kind: 'found', records: [TEXTS[name]] },
} as unknown as Resolver;

const PLAIN = 'From: DMARC <noreply@big.test>\r\nSubject: report\r\n\r\na report\r\n';

async function signedBy(domain: string, mail = PLAIN): Promise<string> {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signature = { signingDomain: domain, selector: 's', privateKey: key };
  const { signatures } = await dkimSign(mail, { ...signature, signatureData: [signature] });
  return signatures + mail;
}

async function senderOf(content: string, change = {}): Promise<string | null> {
  const envelope = { remoteIp: '203.0.113.1', ehloName: 'mx.evil.test', mailFrom: 'a@evil.test', ...change };
  return (await proveSender({ ...envelope, content: Buffer.from(content) }, resolver)).domain;
}

t.test('DKIM', async (t) => {
  t.equal(await senderOf(await signedBy('big.test')), 'big.test');
  t.equal(await senderOf(await signedBy('evil.test')), null, 'of another domain');
  t.equal(await senderOf((await signedBy('big.test')).replace('a report', 'a forgery')), null, 'changed');
});

t.test('SPF', async (t) => {
  t.equal(await senderOf(PLAIN, { remoteIp: '192.0.2.1', mailFrom: 'a@big.test' }), 'big.test');
  t.equal(await senderOf(PLAIN, { remoteIp: '192.0.2.2', mailFrom: 'a@mail.big.test' }), 'big.test', 'relaxed');
  t.equal(await senderOf(PLAIN, { remoteIp: '192.0.2.2', mailFrom: '', ehloName: 'mail.big.test' }), 'big.test');
  t.equal(await senderOf(PLAIN, { remoteIp: '192.0.2.9', mailFrom: 'a@big.test' }), null);
  t.equal(await senderOf(PLAIN, { remoteIp: '192.0.2.1', mailFrom: 'a@evil.test' }), null, 'of another domain');
});

t.test('a From field that leaves room for doubt proves nobody', async (t) => {
  const envelope = { remoteIp: '192.0.2.1', mailFrom: 'a@big.test' };
  t.equal(await senderOf(`From: x@other.test\r\n${PLAIN}`, envelope), null);
  t.equal(await senderOf(PLAIN.replace('DMARC <', 'a@other.test, <'), envelope), null);
  t.equal(await senderOf('Subject: x\r\n\r\n', envelope), null);
});
