// By what a complaint proves its message: tokens, or a signature that verifies. Messages here are
// composed and signed as couriers do it, and their keys stand where DNS would have them.
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { prove } from '../../src/inbound/proof.ts';
import type { Resolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { makeFeedbackId } from '../../src/protocol/mail/addresses/feedback-id.ts';
import { makeReturnPath } from '../../src/protocol/mail/addresses/return-path.ts';
import { signMessage } from '../../src/protocol/mail/dkim/dkim.ts';
import type { OriginalMessage } from '../../src/protocol/mail/inbound/inbound-mail.ts';
import type { ReportedMessage } from '../../src/store/inbound.ts';

const ID = '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10';
const KEY = { id: 'a', key: Buffer.alloc(32, 1) };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PUBLIC = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
const BODY = 'Hello.\r\n';

const known = { id: ID, fromDomain: 'acme.test', recipient: 'jo@x.test' } as ReportedMessage;

function kit(change: { message?: ReportedMessage | null; tokens?: boolean } = {}) {
  const asked: string[] = [];
  const txt: Resolver['txt'] = async (name) => {
    asked.push(name);
    const isThere = /^s1\._domainkey\.(acme|evil|bounces\.postrider)\.test$/.test(name);
    return isThere ? { kind: 'found', records: [`v=DKIM1; k=rsa; p=${PUBLIC}`], ttlMs: 1000 } : { kind: 'no_domain' };
  };
  const findReported = async (id: string) =>
    id === ID ? (change.message === undefined ? known : change.message) : null;
  return {
    asked,
    store: { inbound: { findReported } },
    tokenKeys: (id: string) => (id === 'a' && change.tokens !== false ? KEY.key : undefined),
    resolver: { txt } as Resolver,
  };
}

function signed(domain: string, fields = `Message-ID: <${ID}@acme.test>\r\n`): Buffer {
  const header = Buffer.from(`From: a@acme.test\r\nTo: jo@x.test\r\nSubject: Hello\r\n${fields}\r\n`);
  const bodyHash = createHash('sha256').update(BODY).digest('base64');
  const signer = { domain, selector: 's1', key: privateKey };
  return signMessage({ header, body: Buffer.from(BODY), bodyHash }, [signer], 1_795_000_000);
}

function original(change: Partial<OriginalMessage>): OriginalMessage {
  return { messageId: null, returnPaths: [], feedbackIds: [], from: [], to: [], subject: '', content: null, ...change };
}

t.test('tokens', async (t) => {
  const returnPath = `${makeReturnPath(ID, KEY)}@bounces.postrider.test`;
  const byPath = await prove({ returnPath: ID, original: null }, kit());
  t.match(byPath, { proof: 'return_path', messageId: ID, message: { id: ID }, weight: 0.5 });
  const feedbackIds = ['nonsense', makeFeedbackId(ID, KEY)];
  t.match(await prove({ returnPath: null, original: original({ feedbackIds }) }, kit()), {
    ...{ proof: 'feedback_id', weight: 1 },
  });
  t.match(await prove({ returnPath: ID, original: original({ feedbackIds }) }, kit()), { weight: 1 }, 'both');
  const embedded = original({ returnPaths: ['x@y.test', returnPath] });
  t.match(await prove({ returnPath: null, original: embedded }, kit()), { proof: 'embedded_return_path' });
  const forged = original({ feedbackIds: [`${ID}:a${'b'.repeat(16)}`], returnPaths: [`b${returnPath.slice(2)}`] });
  t.match(await prove({ returnPath: null, original: forged }, kit()), { proof: null, message: null });
  const gone = await prove({ returnPath: ID, original: null }, kit({ message: null }));
  t.match(gone, { proof: 'return_path', messageId: ID, message: null });
});

t.test('the signature of an original, when its tokens are of a key that is gone', async (t) => {
  const bySignature = (content: Buffer, one = kit({ tokens: false })) =>
    prove({ returnPath: null, original: original({ content }) }, one);
  t.match(await bySignature(signed('acme.test')), { proof: 'signature', messageId: ID });
  t.match(await bySignature(signed('evil.test')), { proof: null }, 'signed by somebody else');
  const service = signed('bounces.postrider.test');
  t.match(
    await bySignature(service),
    { proof: null },
    "by the service only, as another tenant's mail with this Message-ID",
  );
  const changed = Buffer.from(signed('acme.test').toString().replace('Hello.', 'Bye.'));
  t.match(await bySignature(changed), { proof: null }, 'changed');
  const other = Buffer.from(signed('acme.test').toString().replace(ID, ID.replace('0', '1')));
  t.match(await bySignature(other), { proof: null }, 'another message');
  const two = Buffer.from(`Message-ID: <${ID}@acme.test>\r\n${signed('acme.test', 'Message-ID: <x@acme.test>\r\n')}`);
  t.match(await bySignature(two), { proof: null }, 'two Message-IDs');
  t.match(await bySignature(Buffer.from(`Message-ID: <${ID}@acme.test>\r\n\r\nx`)), { proof: null }, 'none at all');
});

t.test('strangers cannot make us work', async (t) => {
  const many = kit({ tokens: false });
  const flood = `${'DKIM-Signature: v=1; a=rsa-sha256; d=acme.test; s=s1; h=from; bh=x; b=y\r\n'.repeat(50)}`;
  const content = Buffer.from(`${flood}Message-ID: <${ID}@acme.test>\r\n\r\nx`);
  t.match(await prove({ returnPath: null, original: original({ content }) }, many), { proof: null });
  t.same(many.asked, [], 'nothing is looked up for fifty signatures');
});
