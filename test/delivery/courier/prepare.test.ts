// From the ids of a batch to signed messages: what the recipients of a submission share is made
// once, what is read ahead stays small, and every signature holds.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { IdSource } from '../../../src/base/ids.ts';
import { Vault } from '../../../src/base/vault.ts';
import { SharedBodies } from '../../../src/delivery/courier/compose-message.ts';
import { createPrepare, type Prepared } from '../../../src/delivery/courier/prepare.ts';
import { readReturnPath } from '../../../src/protocol/mail/return-path.ts';
import type { ContentReader, ContentResult, MessageContent } from '../../../src/store/submissions.ts';

const ids = new IdSource();
const vault = new Vault([Buffer.alloc(32, 1)]);
const domainId = ids.next();
const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const [tenantKeys, serviceKeys] = [pair(), pair()];
const sealed = vault.seal(tenantKeys.privateKey.export({ type: 'pkcs8', format: 'der' }), `domain-key:${domainId}`);

function content(change: Partial<MessageContent> = {}): MessageContent {
  const messageId = change.messageId ?? ids.next();
  return {
    ...{ messageId, tenantId: ids.next(), submissionId: ids.next() },
    from: { address: 'orders@acme.test', name: 'Acme' },
    to: { address: `${messageId}@x.test`, name: null },
    ...{ subject: 'Your order', html: '<p>Grüße</p>', text: 'Grüße', headers: [], createdAt: Date.UTC(2026, 10, 20) },
    signing: { domainId, domain: 'acme.test', selector: 's1', signingKeyId: 1, privateKey: sealed },
    ...{ bouncesDomain: null, lists: null, attachments: 0 },
    ...{ openTracking: false, clickTracking: false, unsubscribe: false },
    ...change,
  };
}

/** Hands out two messages at a time, and notes what it was asked for. */
class StubReader implements ContentReader {
  readonly asked: string[][] = [];
  readonly #contents: Map<string, MessageContent>;

  constructor(contents: MessageContent[]) {
    this.#contents = new Map(contents.map((one) => [one.messageId, one]));
  }

  read(messageId: string): ContentResult {
    const found = this.#contents.get(messageId);
    return found ? { kind: 'content', content: found } : { kind: 'unreadable', reason: 'missing' };
  }

  readSome(messageIds: readonly string[]): ContentResult[] {
    this.asked.push([...messageIds]);
    return messageIds.slice(0, 2).map((messageId) => this.read(messageId));
  }

  attachments(): [] {
    return [];
  }

  close(): void {}
}

const tokenKey = { id: 'a', key: Buffer.alloc(32, 2) };

function prepareFrom(reader: ContentReader) {
  return createPrepare({
    contents: reader,
    ...{ vault, tokenKey, bouncesDomain: 'bounces.test', links: { url: 'https://links.test', key: tokenKey } },
    serviceSigner: { domain: 'bounces.test', selector: 's2', key: serviceKeys.privateKey },
    now: () => Date.UTC(2026, 10, 20),
  });
}

function ready(prepared: Prepared): Extract<Prepared, { kind: 'ready' }> {
  if (prepared.kind !== 'ready') throw new Error(prepared.reason);
  return prepared;
}

async function signaturesOf(message: Buffer): Promise<string[]> {
  const record = (key: KeyObject) =>
    `v=DKIM1; k=rsa; p=${createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')}`;
  const resolver = async (name: string) => [
    [record(name === 's1._domainkey.acme.test' ? tenantKeys.privateKey : serviceKeys.privateKey)],
  ];
  const { results } = await dkimVerify(message, { resolver: resolver as never });
  return results.map(({ status, signingDomain }) => `${signingDomain} ${status.result}`);
}

t.test('the recipients of a submission get one body, each below a header and signatures of their own', async (t) => {
  const submissionId = ids.next();
  const contents = Array.from({ length: 5 }, () => content({ submissionId }));
  const batch = contents.map(({ messageId }) => messageId);
  const prepare = prepareFrom(new StubReader(contents));
  const bodies = new Set<string>();
  for (const [index, messageId] of batch.entries()) {
    const { message, rcptTo, mailFrom } = ready(await prepare(batch, index));
    t.equal(rcptTo, `${messageId}@x.test`);
    t.equal(
      readReturnPath(mailFrom.split('@')[0]!, () => tokenKey.key),
      messageId,
    );
    t.strictSame(await signaturesOf(message), ['acme.test pass', 'bounces.test pass']);
    const mail = await simpleParser(message);
    t.match(mail.messageId, messageId);
    t.strictSame([mail.text, mail.html], ['Grüße', '<p>Grüße</p>']);
    bodies.add(message.subarray(message.indexOf('\r\n\r\n')).toString());
  }
  t.equal(bodies.size, 1);
  const other = content();
  const { message } = ready(await prepareFrom(new StubReader([other]))([other.messageId], 0));
  t.notOk(bodies.has(message.subarray(message.indexOf('\r\n\r\n')).toString()), 'another submission has its own');
});

t.test('recipients whose links are their own share no body', async (t) => {
  const submissionId = ids.next();
  const html = '<p><a href="https://shop.test/">Grüße</a></p>';
  const tracked = { submissionId, html, openTracking: true, clickTracking: true, unsubscribe: true };
  const contents = [content(tracked), content(tracked)];
  const batch = contents.map(({ messageId }) => messageId);
  const prepare = prepareFrom(new StubReader(contents));
  const pages = new Set<string>();
  for (const index of batch.keys()) {
    const { message } = ready(await prepare(batch, index));
    t.strictSame(await signaturesOf(message), ['acme.test pass', 'bounces.test pass']);
    const page = String((await simpleParser(message)).html);
    t.match(
      page,
      /^<p><a href="https:\/\/links\.test\/c\/[\w-]+">Grüße<\/a><\/p><img src="https:\/\/links\.test\/o\/[\w-]+"/,
    );
    t.match(message.toString(), /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const again = ready(await prepareFrom(new StubReader(contents))(batch, index)).message;
    t.ok(again.equals(message), 'a retry sends the same message');
    pages.add(page);
  }
  t.equal(pages.size, 2);
});

function bodyOf(bodies: SharedBodies, of: MessageContent) {
  return bodies.bodyOf(of, () => []);
}

t.test('a body is made once for a submission, also for those who ask while it is being made', async (t) => {
  const bodies = new SharedBodies();
  const long = content({ html: 'ä'.repeat(200_000) });
  const [one, other] = await Promise.all([bodyOf(bodies, long), bodyOf(bodies, { ...long, messageId: ids.next() })]);
  t.equal(one, other);
  t.equal(await bodyOf(bodies, long), one);
  t.not(await bodyOf(bodies, { ...long, submissionId: ids.next() }), one);
});

t.test('bodies are kept up to 256 KiB, the oldest go, the newest stays whatever its size', async (t) => {
  const bodies = new SharedBodies();
  const asked = Array.from({ length: 6 }, () => content({ html: 'x'.repeat(80_000), text: null }));
  const made = [];
  for (const one of asked) made.push(await bodyOf(bodies, one));
  for (const index of [5, 4]) t.equal(await bodyOf(bodies, asked[index]!), made[index], `${index} is kept`);
  t.not(await bodyOf(bodies, asked[0]!), made[0], 'the first one is gone');
  const huge = content({ html: 'x'.repeat(400_000), text: null });
  const body = await bodyOf(bodies, huge);
  t.equal(await bodyOf(bodies, huge), body);
  t.not(await bodyOf(bodies, asked[5]!), made[5], 'for which all others went');
  t.not(await bodyOf(bodies, huge), body, 'until the next one comes');
});

t.test('a batch is read some messages at a time, in its order, each of them once', async (t) => {
  const contents = Array.from({ length: 5 }, () => content());
  const batch = contents.map(({ messageId }) => messageId);
  const reader = new StubReader(contents.slice(0, 4));
  const prepare = prepareFrom(reader);
  const kinds = [];
  for (const index of batch.keys()) {
    const prepared = await prepare(batch, index);
    kinds.push(prepared.kind === 'ready' ? prepared.rcptTo : prepared.reason);
  }
  t.strictSame(kinds, [...batch.slice(0, 4).map((messageId) => `${messageId}@x.test`), 'missing']);
  t.strictSame(reader.asked, [batch, batch.slice(2), batch.slice(4)]);
  await prepare([...batch], 3);
  t.strictSame(reader.asked.at(-1), batch.slice(3), 'another batch is read anew, from where it is asked for');
});

t.test('what others have to say goes out before a message is read and signed', async (t) => {
  const one = content();
  const reader = new StubReader([one]);
  const preparing = prepareFrom(reader)([one.messageId], 0);
  for (let step = 0; step < 20; step++) await null;
  t.equal(reader.asked.length, 0, 'promises do not start it');
  t.equal((await preparing).kind, 'ready');
});

t.test('a message that cannot be composed stops nobody', async (t) => {
  const contents = [content({ to: { address: 'nobody', name: null } }), content()];
  const batch = contents.map(({ messageId }) => messageId);
  const prepare = prepareFrom(new StubReader(contents));
  t.match(await prepare(batch, 0), { kind: 'unreadable', reason: /cannot be composed.*address/ });
  t.equal((await prepare(batch, 1)).kind, 'ready');
});
