// Random mails of a library, their headers in every order, spelling and folding: what leaves is read by mailparser as the
// mail that came, less what was taken out, and its signature holds for both verifiers.
// The seed is printed; SEED=… runs it again.
import { simpleParser } from 'mailparser';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import t, { type Test } from 'tap';
import { signedHeader } from '../../../../src/protocol/mail/dkim/dkim.ts';
import { createDkimKeyPair, loadPrivateKey } from '../../../../src/protocol/mail/dkim/dkim-key.ts';
import { WrittenBody } from '../../../../src/protocol/mail/written/written-body.ts';
import { readWrittenHeader, type WrittenHeader } from '../../../../src/protocol/mail/written/written-header.ts';
import { SeededRandom } from '../../../fuzz/seeded-random.ts';
import { verifyByMailauth, verifyByPerl } from '../../../support/mail-dkim.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { inPieces } from '../random-bodies.ts';
import { randomMessage } from '../random-messages.ts';
import { leaves, respelled, shuffled, someOddFields } from './odd-fields.ts';

const MAILS = 200;
const SEED = Number(process.env.SEED ?? Date.now() % 1e6);
const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };
const CRLF = '\r\n';

interface WrittenMail {
  raw: Buffer;
  headerEnd: number;
}

async function randomMail(seed: number): Promise<WrittenMail> {
  const random = new SeededRandom(seed);
  const { from, to, subject, text, html } = randomMessage(seed);
  const composer = new MailComposer({
    from: { name: from.name, address: 'jo@acme.example' },
    to: { name: to.name, address: 'ann@example.com' },
    ...{ subject, text: text ?? undefined, html: html ?? undefined, newline: 'windows' },
    textEncoding: random.pick(['base64', 'quoted-printable']),
    attachments: random.times(random.below(3), (index) => ({
      filename: `Größe ${index}.bin`,
      content: Buffer.from(random.times(random.below(3000), () => random.below(256))),
    })),
  });
  const composed = (await composer.compile().build()).toString('latin1').replace(/\r\n?|\n/g, CRLF);
  const end = composed.indexOf(CRLF + CRLF);
  const header = mixed(composed.slice(0, end).split(/\r\n(?![ \t])/), random).join(CRLF);
  const raw = Buffer.from(`${header}${composed.slice(end)}${CRLF}`, 'latin1');
  return { raw, headerEnd: header.length + 4 };
}

function mixed(composed: readonly string[], random: SeededRandom): string[] {
  const kept = composed.filter((field) => !/^(Date|Message-ID|MIME-Version):/.test(field) || random.chance(0.6));
  const fields = [...kept, ...someOddFields(random, '1')].map((field) => respelled(field, random));
  return shuffled(fields, random);
}

const readerOptions = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };

async function readAll(raw: Buffer) {
  const { text, html, attachments, headerLines, from, subject, messageId } = await simpleParser(raw, readerOptions);
  const files = attachments.map(({ filename, contentType, content }) => [
    filename,
    contentType,
    content.toString('hex'),
  ]);
  const lines = headerLines.map(({ line }) => line);
  return { parts: JSON.stringify([text, html, files]), lines, from: from?.value, subject, messageId };
}

/** What is wrong, or null; and the mail as it leaves, with its signature. */
async function passOn({ raw, headerEnd }: WrittenMail, sign: Sign, random: SeededRandom) {
  const header = readWrittenHeader(raw.subarray(0, headerEnd), ADDED);
  if ('problem' in header) return { problem: header.problem };
  const body = new WrittenBody();
  for (const chunk of inPieces(raw.subarray(headerEnd), random)) body.push(chunk);
  const { bodyHash } = body.end();
  const leaving = Buffer.concat([header.leaving, Buffer.from(CRLF)]);
  const unsigned = Buffer.concat([leaving, raw.subarray(headerEnd)]);
  const problem = difference(header, await readAll(raw), await readAll(unsigned));
  return { problem, signed: Buffer.concat([sign(leaving, bodyHash), raw.subarray(headerEnd)]) };
}

type Sign = (header: Buffer, bodyHash: string) => Buffer;
type Reading = Awaited<ReturnType<typeof readAll>>;

function difference(header: WrittenHeader, came: Reading, left: Reading): string | null {
  if (left.parts !== came.parts) return 'the parts differ';
  const missing = [
    ['Date', 'Date: Thu, 26 Nov 2026 10:00:00 +0000'],
    ['Message-ID', `Message-ID: <${ADDED.id}@acme.example>`],
    ['MIME-Version', 'MIME-Version: 1.0'],
  ].filter(([name]) => !came.lines.some((line) => new RegExp(`^${name}[ \t]*:`, 'i').test(line)));
  const expected = [...missing.map(([, line]) => line), ...came.lines.filter(leaves)];
  if (JSON.stringify(left.lines) !== JSON.stringify(expected)) return `left: ${JSON.stringify([left.lines, expected])}`;
  if (left.messageId !== `<${header.messageId}>`) return `Message-ID: ${left.messageId}, ${header.messageId}`;
  const { address, name } = came.from![0]!;
  if (address !== header.from.address) return `From: ${address}, ${header.from.address}`;
  if (plain(name) !== plain(header.from.name ?? '')) return `name: ${JSON.stringify([name, header.from.name])}`;
  const [one, other] = [plain(came.subject ?? ''), plain(header.subject)];
  return one === other ? null : `subject: ${JSON.stringify([one, other])}`;
}

/** Readers differ about blanks at folds. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

t.test(`${MAILS} random mails (SEED=${SEED})`, async (t) => {
  const pair = await createDkimKeyPair();
  const signer = { domain: 'acme.example', selector: 's', key: loadPrivateKey(pair.privateKeyDer) };
  const records = new Map([['s._domainkey.acme.example', `v=DKIM1; k=rsa; p=${pair.publicKeyB64}`]]);
  const sign: Sign = (header, bodyHash) => signedHeader({ header, bodyHash }, [signer], ADDED.date.getTime() / 1000);
  const wrong: unknown[] = [];
  const signed: Buffer[] = [];
  for (let seed = SEED; seed < SEED + MAILS; seed++) {
    const passed = await passOn(await randomMail(seed), sign, new SeededRandom(seed));
    if (passed.problem) wrong.push({ seed, problem: passed.problem });
    if (passed.signed) signed.push(passed.signed);
  }
  t.strictSame(wrong, []);
  t.equal(signed.length, MAILS);
  await verifySignatures(t, signed, records);
});

async function verifySignatures(t: Test, mails: readonly Buffer[], records: ReadonlyMap<string, string>) {
  const failed = [];
  for (const [index, mail] of mails.entries()) {
    const results = await verifyByMailauth(mail, records);
    if (results[0] !== 'pass') failed.push({ seed: SEED + index, results });
  }
  t.strictSame(failed, [], 'by mailauth');
  const byPerl = verifyByPerl(testFolder(t), mails, records);
  const skip = typeof byPerl === 'string' ? byPerl : false;
  await t.test('by Mail::DKIM', { skip }, async (t) => {
    const results = byPerl as string[][];
    const failed = results.flatMap((found, index) => (found.includes('pass') ? [] : [SEED + index]));
    t.strictSame(failed, []);
    t.equal(results.length, mails.length);
  });
}
