// For a server without 8BITMIME: random mails become ASCII unless something signed is in their way, and readers see the
// same parts before and after. The seed is printed; SEED=… runs it again.
import { isAscii } from 'node:buffer';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { readEntity } from '../../../../src/protocol/mail/written/entity.ts';
import { splitHeader } from '../../../../src/protocol/mail/written/header-fields.ts';
import { LeafEditor } from '../../../../src/protocol/mail/written/leaf-editor.ts';
import { withTransferEncoding } from '../../../../src/protocol/mail/written/re-encode.ts';
import { toSevenBits } from '../../../../src/protocol/mail/written/seven-bits.ts';
import { SeededRandom } from '../../../fuzz/seeded-random.ts';
import { inPieces } from '../random-bodies.ts';
import { fitLines } from './fitted-mail.ts';
import { randomMailOfParts } from './random-parts.ts';

const MAILS = 300;
const SEED = Number(process.env.SEED ?? Date.now() % 1e6);

function inSevenBits(raw: Buffer, random: SeededRandom): Buffer {
  const end = raw.indexOf('\r\n\r\n') + 4;
  const split = splitHeader(raw.subarray(0, end));
  if ('problem' in split) throw new Error(split.problem);
  const editor = new LeafEditor(
    { lines: 0, entity: readEntity(split.fields) },
    {
      isForShortLines: false,
      isForSevenBits: true,
      holds: ({ mayChange }) => mayChange,
      change: toSevenBits,
      onLongLine() {},
    },
  );
  const body = [...inPieces(raw.subarray(end), random).flatMap((chunk) => editor.push(chunk)), ...editor.end()];
  const header = raw.subarray(0, end - 2);
  const leaving = editor.encoding === null ? header : withTransferEncoding(header, editor.encoding);
  return Buffer.concat([leaving, Buffer.from('\r\n'), ...body]);
}

async function partsOf(raw: Buffer): Promise<string> {
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  const { text, html, attachments } = await simpleParser(raw, options);
  const files = attachments.map(({ contentType, content }) => [contentType, content.toString('hex')]);
  return JSON.stringify([text, html, files]);
}

t.test(`${MAILS} random mails (SEED=${SEED})`, async (t) => {
  const wrong: unknown[] = [];
  const reached = { ascii: 0, changed: 0, signed: 0 };
  for (let seed = SEED; seed < SEED + MAILS; seed++) {
    const { raw, refusedLine } = randomMailOfParts(seed);
    if (refusedLine !== null) continue;
    const mail = fitLines(raw, 1000).leaving;
    const leaving = inSevenBits(mail, new SeededRandom(seed));
    const isSigned = mail.includes('multipart/signed');
    if (isAscii(mail)) reached.ascii++;
    else reached[isSigned ? 'signed' : 'changed']++;
    if (!isSigned && !isAscii(leaving)) wrong.push({ seed, problem: 'not in ASCII' });
    if (!isSigned && /^content-transfer-encoding:\s*(?:8bit|binary)\s*$/im.test(leaving.toString('latin1'))) {
      wrong.push({ seed, problem: 'says that it is not in ASCII' });
    }
    const [came, left] = [await partsOf(mail), await partsOf(leaving)];
    if (came !== left) wrong.push({ seed, came, left });
  }
  t.strictSame(wrong.slice(0, 2), []);
  t.ok(
    Object.values(reached).every((count) => count > MAILS / 100),
    JSON.stringify(reached),
  );
});

const mailOf = (...lines: string[]) => Buffer.from(lines.map((line) => `${line}\r\n`).join(''));
const random = new SeededRandom(1);
const changed = (...lines: string[]) => inSevenBits(mailOf(...lines), random).toString();

t.test('embedded mails change inside, where nothing is signed', async (t) => {
  const embedded = [
    'Subject: x',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Grüße',
  ];
  const outer = ['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: 8bit', '', '--b'];
  const message = ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: 8bit', ''];
  t.equal(
    changed(...outer, ...message, ...embedded, '--b--'),
    mailOf(
      ...['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: 7bit', '', '--b'],
      ...['Content-Type: message/rfc822', 'Content-Transfer-Encoding: 7bit', ''],
      ...['Subject: x', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', ''],
      ...['R3LDvMOfZQ==', '--b--'],
    ).toString(),
  );
  const signed = ['Content-Type: multipart/signed; boundary=s', '', '--s', '', 'Grüße', '--s--'];
  const inside = [...outer, ...message, ...signed, '--b--'];
  t.match(changed(...inside), 'Grüße', 'signed in the embedded mail');
  const field = ['Subject: Grüße', '', 'ascii'];
  t.match(changed(...outer, ...message, ...field, '--b--'), 'Grüße', 'in its header');
  t.match(
    changed('Content-Type: multipart/digest; boundary=b', '', '--b', '', 'Subject: x', '', 'Größe', '--b--'),
    /base64\r\n\r\nR3LDtsOfZQ==/,
    'in a digest, where it is the default',
  );
});
