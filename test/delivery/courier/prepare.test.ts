// From the ids of a batch to signed messages: what the recipients of a submission share is made
// once, what is read ahead stays small, and every signature holds.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { Fault, Unavailable } from '../../../src/base/errors.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { Vault } from '../../../src/base/vault.ts';
import { messageSource, SharedBodies, TrackedPages } from '../../../src/delivery/courier/compose-message.ts';
import type { Batch } from '../../../src/delivery/courier/messages.ts';
import { createPrepare, type Prepared } from '../../../src/delivery/courier/prepare.ts';
import { readReturnPath } from '../../../src/protocol/mail/addresses/return-path.ts';
import { hashBody } from '../../../src/protocol/mail/dkim/dkim.ts';
import type { ContentReader, ContentResult, MessageContent } from '../../../src/store/submissions.ts';
import type { WrittenContent } from '../../../src/store/written-mails.ts';
import { verifyByPerl } from '../../support/mail-dkim.ts';
import { testFolder } from '../../support/test-folder.ts';

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
    ...{ subject: 'Your order', html: '<p>Grüße</p>', text: 'Grüße', headers: [], date: Date.UTC(2026, 10, 20) },
    signing: { domainId, domain: 'acme.test', selector: 's1', signingKeyId: 1, privateKey: sealed },
    ...{ bouncesDomain: null, lists: null, attachments: 0, written: null },
    ...{ openTracking: false, clickTracking: false, unsubscribe: false },
    ...change,
  };
}

/** Hands out two messages at a time, and notes what it was asked for. */
class StubReader implements ContentReader {
  readonly asked: string[][] = [];
  /** Of every written mail. */
  pieces: Buffer[] = [];
  readonly piecesRead: number[] = [];
  isAway = false;
  readonly #contents: Map<string, MessageContent>;

  constructor(contents: MessageContent[]) {
    this.#contents = new Map(contents.map((one) => [one.messageId, one]));
  }

  async read(messageId: string): Promise<ContentResult> {
    const found = this.#contents.get(messageId);
    return found ? { kind: 'content', content: found } : { kind: 'unreadable', reason: 'missing' };
  }

  async readSome(messageIds: readonly string[]): Promise<ContentResult[]> {
    this.asked.push([...messageIds]);
    return Promise.all(messageIds.slice(0, 2).map((messageId) => this.read(messageId)));
  }

  async attachments(): Promise<[]> {
    if (this.isAway) throw new Unavailable('the database is away');
    return [];
  }

  async piece({ position }: { position: number }): Promise<Buffer> {
    this.piecesRead.push(position);
    const piece = this.pieces[position];
    if (!piece) throw new Fault(`piece ${position} is missing`, { permanence: 'permanent' });
    return Buffer.from(piece);
  }

  close(): void {}
}

const tokenKey = { id: 'a', key: Buffer.alloc(32, 2) };

/** Called with a batch's IDs: the same array is the same batch. */
function prepareFrom(reader: ContentReader) {
  const prepare = createPrepare({
    contents: reader,
    ...{ vault, tokenKey, bouncesDomain: 'bounces.test', links: { url: 'https://links.test', key: tokenKey } },
    serviceSigner: { domain: 'bounces.test', selector: 's2', key: serviceKeys.privateKey },
    now: () => Date.UTC(2026, 10, 20),
  });
  const batches = new WeakMap<string[], Batch>();
  return (messageIds: string[], index: number) => {
    const batch = batches.get(messageIds) ?? { messageIds };
    batches.set(messageIds, batch);
    return prepare(batch, index);
  };
}

function ready(prepared: Prepared): Extract<Prepared, { kind: 'ready' }> {
  if (prepared.kind !== 'ready') throw new Error(prepared.reason);
  return prepared;
}

function recordOf(key: KeyObject): string {
  return `v=DKIM1; k=rsa; p=${createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')}`;
}

async function signaturesOf(message: Buffer): Promise<string[]> {
  const resolver = async (name: string) => [
    [recordOf(name === 's1._domainkey.acme.test' ? tenantKeys.privateKey : serviceKeys.privateKey)],
  ];
  const { results } = await dkimVerify(message, { resolver: resolver as never });
  return results.map(({ status, signingDomain }) => `${signingDomain} ${status.result}`);
}

t.test('a message that leaves before its time is not from the future', async (t) => {
  const [early, late] = [content({ date: Date.UTC(2026, 11, 24) }), content({ date: Date.UTC(2026, 10, 19) })];
  const prepare = prepareFrom(new StubReader([early, late]));
  const batch = [early.messageId, late.messageId];
  const dates = [];
  for (const index of [0, 1])
    dates.push(/^Date: (.*)\r$/m.exec(ready(await prepare(batch, index)).message.toString())?.[1]);
  t.same(dates, ['Fri, 20 Nov 2026 00:00:00 +0000', 'Thu, 19 Nov 2026 00:00:00 +0000']);
});

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
  return bodies.bodyOf(of, async () => []);
}

t.test('a body is made once for a submission, also for those who ask while it is being made', async (t) => {
  const bodies = new SharedBodies();
  const long = content({ html: 'ä'.repeat(200_000) });
  const [one, other] = await Promise.all([bodyOf(bodies, long), bodyOf(bodies, { ...long, messageId: ids.next() })]);
  t.equal(one, other);
  t.equal(await bodyOf(bodies, long), one);
  t.not(await bodyOf(bodies, { ...long, submissionId: ids.next() }), one);
});

t.test('small bodies are kept up to 256 KiB, the oldest go', async (t) => {
  const bodies = new SharedBodies();
  const asked = Array.from({ length: 6 }, () => content({ html: 'x'.repeat(50_000), text: null }));
  const made = [];
  for (const one of asked) made.push(await bodyOf(bodies, one));
  for (const index of [5, 4]) t.equal(await bodyOf(bodies, asked[index]!), made[index], `${index} is kept`);
  t.not(await bodyOf(bodies, asked[0]!), made[0], 'the first one is gone');
});

t.test('large bodies have 24 MiB of their own, for submissions that take turns; a huge one stays alone', async (t) => {
  const bodies = new SharedBodies();
  const [one, two, three, huge] = [10, 10, 10, 25].map((size) => content({ html: 'x'.repeat(size * 1e6), text: null }));
  const [madeOne, madeTwo] = [await bodyOf(bodies, one!), await bodyOf(bodies, two!)];
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await bodyOf(bodies, two!), madeTwo);
    t.equal(await bodyOf(bodies, one!), madeOne);
  }
  await bodyOf(bodies, three!);
  t.equal(await bodyOf(bodies, one!), madeOne, 'used last, it stays');
  t.not(await bodyOf(bodies, two!), madeTwo, 'the other one went');
  const madeHuge = await bodyOf(bodies, huge!);
  t.equal(await bodyOf(bodies, huge!), madeHuge, 'the newest stays at any size');
  t.not(await bodyOf(bodies, one!), madeOne, 'for which all others went');
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

t.test('messages that are prepared while the database is still being asked are read once', async (t) => {
  const contents = Array.from({ length: 4 }, () => content());
  const batch = contents.map(({ messageId }) => messageId);
  const reader = new StubReader(contents);
  const distant: ContentReader = {
    read: (messageId) => reader.read(messageId),
    attachments: () => reader.attachments(),
    piece: (asked) => reader.piece(asked),
    close: () => reader.close(),
    async readSome(messageIds) {
      const results = await reader.readSome(messageIds);
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      return results;
    },
  };
  const prepare = prepareFrom(distant);
  const prepared = await Promise.all(batch.map((_, index) => prepare(batch, index)));
  t.strictSame(reader.asked, [batch, batch.slice(2)]);
  t.strictSame(
    prepared.map((one) => ready(one).rcptTo),
    batch.map((messageId) => `${messageId}@x.test`),
  );
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

t.test('a message whose attachments cannot be read now can be composed later', async (t) => {
  const one = content({ attachments: 1 });
  const reader = new StubReader([one]);
  reader.isAway = true;
  t.match(await prepareFrom(reader)([one.messageId], 0), { kind: 'unavailable', reason: /the database is away/ });
});

const WRITTEN_HEADER = [
  'FROM:  "Acme" <orders@acme.test>',
  'To: somebody@else.test,',
  '\ttwo@else.test',
  'Subject: Gr=?utf-8?Q?=C3=BC=C3=9Fe?=',
  'Message-Id: <order-4711@app.example>',
  'Date: Fri, 20 Nov 2026 00:00:00 +0000',
  'List-Unsubscribe: <https://acme.test/out>',
  '',
].join('\r\n');

function written(pieces: readonly Buffer[], change: Partial<WrittenContent> & { text?: string } = {}): WrittenContent {
  const body = Buffer.concat(pieces);
  const { text: header = WRITTEN_HEADER, ...facts } = change;
  return {
    header: Buffer.from(header),
    ...{ pieces: pieces.length, bytes: body.length, bodyHash: hashBody(body), eightBit: false },
    ...facts,
  };
}

const WRITTEN = { html: null, text: null, subject: 'Grüße', unsubscribe: true, openTracking: true };
const SMALL = [Buffer.from('. a dot  \r\n.'), Buffer.from('\r'), Buffer.from('\nend\r\n')];
const LARGE = Array.from({ length: 5 }, (_, index) => Buffer.alloc(200_000, `${index} ..\r\n`));
LARGE.push(Buffer.from('\r\n'));

async function wholeOf(prepared: Prepared): Promise<Buffer> {
  const { message, tail, pieces } = ready(prepared);
  const parts = [message, tail ?? Buffer.alloc(0)];
  for await (const piece of pieces?.read() ?? []) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

t.test('a written mail goes out as it was written, below our own fields and signatures', async (t) => {
  const mails: Buffer[] = [];
  for (const pieces of [SMALL, LARGE, []]) {
    const one = content({ ...WRITTEN, written: written(pieces) });
    const reader = new StubReader([one]);
    reader.pieces = [...pieces];
    const prepared = ready(await prepareFrom(reader)([one.messageId], 0));
    const isLarge = pieces === LARGE;
    t.equal(prepared.pieces?.sizeBytes, isLarge ? 1_000_002 : undefined);
    t.equal(reader.piecesRead.length, isLarge ? 0 : pieces.length, 'what is large is read while it is sent');
    t.equal(prepared.rcptTo, `${one.messageId}@x.test`);
    t.strictSame(prepared.needs, { smtputf8: false, eightBit: false });
    const mail = await wholeOf(prepared);
    const body = Buffer.concat(pieces);
    t.ok(mail.subarray(-body.length - 2).equals(Buffer.concat([Buffer.from('\r\n'), body])), 'the body, byte for byte');
    const header = mail.toString('latin1', 0, mail.length - body.length - 2);
    t.ok(header.endsWith(`\r\n${WRITTEN_HEADER}`), 'the header, too');
    const added = header.slice(0, -WRITTEN_HEADER.length);
    t.match(added, `X-Postrider-Message-ID: ${one.messageId}\r\nCFBL-Address: fbl@bounces.test`);
    t.match(added, /^Feedback-ID: /m);
    t.notMatch(added, /^List-Unsubscribe/m, 'the tenant has it on; the mail is not changed for it');
    t.strictSame(await signaturesOf(mail), ['acme.test pass', 'bounces.test pass']);
    mails.push(mail);
  }
  const dns = new Map([
    ['s1._domainkey.acme.test', recordOf(tenantKeys.privateKey)],
    ['s2._domainkey.bounces.test', recordOf(serviceKeys.privateKey)],
  ]);
  const verdicts = verifyByPerl(testFolder(t), mails, dns);
  await t.test('Mail::DKIM', { skip: typeof verdicts === 'string' && verdicts }, async (t) => {
    t.same(verdicts, Array(mails.length).fill(['pass', 'pass', 'pass']));
  });
});

const ALTERNATIVE = WRITTEN_HEADER.replace(
  'List-Unsubscribe: <https://acme.test/out>',
  'Content-Type: multipart/alternative; boundary=b',
);
const page = (filler: string) => [
  ...['--b', '', 'plain', '--b', 'Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: 8bit', ''],
  ...['<p>Grüße <a href="https://shop.test/ä">Shop</a></p>', '--b', 'Content-Type: text/html', ''],
  ...[`<a href="https://shop.test/2">second</a>${filler}`, '--b--', ''],
];

async function prepareWritten(pieces: readonly Buffer[], change: Partial<MessageContent>) {
  const one = content({ ...WRITTEN, ...change });
  const reader = new StubReader([one]);
  reader.pieces = [...pieces];
  return { one, prepared: ready(await prepareFrom(reader)([one.messageId], 0)) };
}

t.test('the HTML of a written mail is tracked for whoever wants that, and nothing else is changed', async (t) => {
  const filler = 'x\r\n'.repeat(60_000);
  for (const lines of [page(''), page(filler)]) {
    const body = Buffer.from(lines.join('\r\n'));
    const pieces = [body.subarray(0, 100), body.subarray(100)];
    const facts = written(pieces, { text: ALTERNATIVE, eightBit: true });
    const { prepared } = await prepareWritten(pieces, { written: facts, clickTracking: true });
    const mail = await wholeOf(prepared);
    t.strictSame(await signaturesOf(mail), ['acme.test pass', 'bounces.test pass']);
    t.equal(prepared.pieces !== undefined, lines.at(-3)!.length > 1000, 'a large one is read while it is sent');
    const text = mail.toString();
    t.match(
      text,
      /<p>Grüße <a href="https:\/\/links\.test\/c\/[\w-]+">Shop<\/a><\/p><img src="https:\/\/links\.test\/o\//,
    );
    const without = text.replace(/https:\/\/links\.test\/c\/[\w-]+/, 'https://shop.test/ä').replace(/<img [^>]*>/, '');
    t.ok(without.endsWith(`\r\n${ALTERNATIVE}\r\n${body}`), 'all else is as it was written');
    t.match(text, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m, 'a header that it did not have');
    t.strictSame(prepared.needs, { smtputf8: false, eightBit: true });
    t.ok((await wholeOf(prepared)).equals(mail), 'reading it again gives the same');

    const ascii = await wholeOf(await prepared.inSevenBits!());
    t.match(ascii.toString('latin1'), /^[\0-\x7f]*$/);
    t.strictSame(await signaturesOf(ascii), ['acme.test pass', 'bounces.test pass']);
    const [eight, seven] = [await simpleParser(mail), await simpleParser(ascii)];
    t.strictSame([seven.html, seven.text], [eight.html, eight.text], 'and means the same in ASCII');
  }
});

t.test('tracked is what is shown, and links that all readers follow alike', async (t) => {
  const link = '<a href="https://shop.test/">Shop</a>';
  const body = Buffer.from(
    [
      ...['--b', 'Content-Type: text/html', 'Content-Disposition: attachment; filename=a.html', '', link, '--b'],
      ...[
        'Content-Type: text/html; charset=iso-8859-1',
        '',
        `${link}<a href="https://shop.test/\xe4">umlaut</a>`,
        '--b--',
        '',
      ],
    ].join('\r\n'),
    'latin1',
  );
  const facts = written([body], { text: ALTERNATIVE, eightBit: true });
  const { prepared } = await prepareWritten([body], { written: facts, clickTracking: true, openTracking: false });
  const text = (await wholeOf(prepared)).toString('latin1');
  t.match(text, `\r\n\r\n${link}\r\n`, 'a file is not');
  t.match(text, /\r\n<a href="https:\/\/links\.test\/c\/[\w-]+">Shop<\/a><a href="https:\/\/shop\.test\/\xe4">/);
});

t.test('a mail inside a mail is not tracked, also where it is read for a server without 8BITMIME', async (t) => {
  const old = '<a href="https://old.test/">Old</a>';
  const html = ['Content-Type: text/html', '', old];
  const nested = ['Content-Type: multipart/mixed; boundary=c', '', '--c', ...html, '--c--'];
  for (const inner of [html, nested]) {
    const embedded = ['--b', 'Content-Type: message/rfc822', '', 'Subject: Old', ...inner, ''];
    const body = Buffer.from([...embedded, ...page('')].join('\r\n'));
    const facts = written([body], { text: ALTERNATIVE, eightBit: true });
    const { prepared } = await prepareWritten([body], { written: facts, clickTracking: true });
    for (const leaving of [prepared, await prepared.inSevenBits!()]) {
      const mail = await wholeOf(leaving);
      t.match(mail.toString(), embedded.join('\r\n'), 'as it was');
      const { html } = await simpleParser(mail, { skipTextToHtml: true });
      t.match(
        html || '',
        /<p>Grüße <a href="https:\/\/links\.test\/c\/[\w-]+">Shop<\/a><\/p><img /,
        "the letter's own",
      );
    }
  }
});

t.test('where links are is found for each HTML anew', async (t) => {
  const pages = new TrackedPages();
  const one = content({ clickTracking: true });
  for (const text of ['a', 'longer']) {
    const html = `<p>${text} <a href="https://shop.test/">Shop</a></p>`;
    const tracked = pages.htmlFor({ ...one, html }, { url: 'https://links.test', key: tokenKey })!;
    t.equal(tracked.replace(/https:\/\/links\.test\/c\/[\w-]+/, 'https://shop.test/'), html);
  }
});

t.test('a mail with something signed or encrypted inside is tracked nowhere', async (t) => {
  const signed = ['--b', 'Content-Type: multipart/signed; boundary=s', '', '--s', '', 'Grüße', '--s--', '--b--', ''];
  const body = Buffer.from([...page('').slice(0, -2), ...signed].join('\r\n'));
  const facts = written([body], { text: ALTERNATIVE, eightBit: true });
  const { prepared } = await prepareWritten([body], { written: facts, clickTracking: true });
  t.ok((await wholeOf(prepared)).toString().endsWith(`\r\n${ALTERNATIVE}\r\n${body}`));
  t.equal((await prepared.inSevenBits!()).needs.eightBit, true, 'and cannot be made to fit');

  const sealed = ALTERNATIVE.replace('multipart/alternative', 'multipart/signed');
  const whole = await prepareWritten([body], { written: written([body], { text: sealed }), clickTracking: true });
  const mail = (await wholeOf(whole.prepared)).toString();
  t.ok(mail.endsWith(`\r\n${sealed}\r\n${body}`));
  t.notMatch(mail, /^List-Unsubscribe/m);
});

t.test('a piece that has been sent takes no more memory', async (t) => {
  const one = content({ ...WRITTEN, written: written(LARGE) });
  const reader = new StubReader([one]);
  reader.pieces = [...LARGE];
  const { pieces } = ready(await prepareFrom(reader)([one.messageId], 0));
  const read: Uint8Array[] = [];
  for await (const piece of pieces!.read()) {
    read.push(piece);
    t.strictSame(
      read.map(({ length }) => length > 0),
      read.map((_, index) => index >= read.length - 2),
      'it and the one before are there',
    );
  }
  t.equal(read.length, LARGE.length);
});

t.test('what a written mail asks of the receiving server', async (t) => {
  const needsOf = async (of: WrittenContent, address = 'a@x.test') => {
    const one = content({ ...WRITTEN, written: of, to: { address, name: null } });
    const reader = new StubReader([one]);
    reader.pieces = [...SMALL];
    return ready(await prepareFrom(reader)([one.messageId], 0)).needs;
  };
  t.strictSame(await needsOf(written(SMALL, { eightBit: true })), { smtputf8: false, eightBit: true });
  const utf8 = written(SMALL, { text: WRITTEN_HEADER.replace('somebody', 'jemänd') });
  t.strictSame(await needsOf(utf8), { smtputf8: true, eightBit: true });
  t.strictSame(await needsOf(written(SMALL), 'jemänd@x.test'), { smtputf8: true, eightBit: false });
  t.strictSame(await needsOf(written(SMALL), 'jemand@exämple.test'), { smtputf8: false, eightBit: false });
});

t.test('a written mail that lacks a piece stops nobody', async (t) => {
  const contents = [content({ ...WRITTEN, written: written(SMALL) }), content()];
  const batch = contents.map(({ messageId }) => messageId);
  const reader = new StubReader(contents);
  reader.pieces = SMALL.slice(0, 2);
  const prepare = prepareFrom(reader);
  t.match(await prepare(batch, 0), { kind: 'unreadable', reason: /piece 2 is missing/ });
  t.equal((await prepare(batch, 1)).kind, 'ready');
});

t.test('the source of a written mail is what was written, below our own fields', async (t) => {
  const one = content({ ...WRITTEN, written: written(SMALL) });
  const source = { ...one, files: [], writtenBody: Buffer.concat(SMALL) };
  const shown = await messageSource(source, { bouncesDomain: 'bounces.test', linksUrl: 'https://links.test' });
  t.match(shown.toString(), `X-Postrider-Message-ID: ${one.messageId}\r\nCFBL-Address`);
  t.ok(shown.toString().endsWith(`\r\n${WRITTEN_HEADER}\r\n${Buffer.concat(SMALL)}`));
});
