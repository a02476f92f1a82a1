// Mails as applications hand them in by SMTP: whatever is accepted leaves as one sender's mail, and as the same when it
// is read again.

import { parseAddress } from '../../../src/protocol/mail/addresses/address.ts';
import { hashBody } from '../../../src/protocol/mail/dkim/dkim.ts';
import { LineFitter } from '../../../src/protocol/mail/written/fit-lines.ts';
import { withTransferEncoding } from '../../../src/protocol/mail/written/re-encode.ts';
import { WrittenBody } from '../../../src/protocol/mail/written/written-body.ts';
import { readWrittenHeader, type WrittenHeader } from '../../../src/protocol/mail/written/written-header.ts';
import { inPieces } from '../../protocol/mail/random-bodies.ts';
import { mutateMail } from '../mail-mutations.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget, seedFiles } from '../target.ts';

const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };
const END = '\r\n\r\n';
/** RFC 5321 section 4.5.3.1.5: a reply has 512 octets, of which code, enhanced code and CRLF take some. */
const MOST_REPLY_CHARS = 490;

const WORDS = [
  ...[
    'From: ',
    'from :',
    'Bcc: x\n',
    'bcc\t: x\n',
    'Subject: ',
    'Message-ID: <',
    '>\n',
    'Date: x\n',
    ' \n',
    '\t\n',
    '\n\n',
    ':',
  ],
  ...[
    '"',
    '\\',
    '(',
    ')',
    '<',
    '>',
    ',',
    ';',
    '@',
    '@acme.example',
    '[192.0.2.1]',
    '<@a,@b:c@d.example>',
    'a@b.example',
  ],
  ...[
    '=?utf-8?B?/w==?=',
    '=?utf-8?Q?=0D=0ABcc:_x?=',
    '=?utf-8?Q?=00?=',
    '\xc3\xb6',
    '\xc3',
    '\xed\xa0\x80',
    '\xe2\x80\xae',
    '\xa0',
  ],
  ...[
    'X-Postrider-Tag: a=b\n',
    'X-Postrider-Tag: __proto__=\n',
    'X-Postrider-Metadata: {"a":"b"}\n',
    'X-Postrider-Metadata: [[[[\n',
    'X-Postrider-Tags: a=b\n',
    'X-Postrider-Message-ID: 1\n',
  ],
  ...[
    'X-Postrider-Tracking: off\n',
    'Idempotency-Key: 1\n',
    'Content-Type: multipart/mixed; boundary=b\n\n',
    'Content-Transfer-Encoding: binary\n',
    '\n--b\n\n',
    '\n--b--\n',
    '--b 1',
    'CFBL-Address: x\n',
    'Return-Path: <>\n',
    `X: ${'x'.repeat(996)}\n`,
    `${'x'.repeat(999)}\n`,
    'y'.repeat(1000),
  ],
];

const NAME_TOKENS = [
  ...[
    '',
    ' ',
    '\t',
    '\n ',
    'Jo',
    'J.',
    '"Smith, \\"Jo\\" <x@y.example>"',
    '""',
    '(a (b) \\) c)',
    '()',
    '=?utf-8?Q?J=C3=B6?=',
  ],
  ...[
    '=?x?b?////?=',
    '=?utf-8?Q?=0D=0A?=',
    '\xc3\xb6',
    '\xe2\x80\xae',
    '\x07',
    `${'x'.repeat(900)}\n `,
    '<',
    ',',
    '@',
    '"',
    '(',
  ],
];

interface Input {
  mail: Buffer;
  /** Of the body, cut somewhere. */
  chunks: Buffer[];
}

export const writtenMailTarget: FuzzTarget = {
  name: 'written-mail',
  open() {
    const mails = seedFiles('written-mail').map((text) => Buffer.from(text));
    const reached = { accepted: 0, 'with control headers': 0, encoded: 0, 'with a long line': 0, refused: 0 };
    return {
      reached,
      mutate: (random: SeededRandom) => {
        const mail = random.chance(0.5) ? grown(mails, random) : mutateMail(mails, random, WORDS);
        return cut(onTheWire(mail, random), random);
      },
      show: ({ mail }: Input) => JSON.stringify(mail.toString('latin1')),
      run({ mail, chunks }: Input) {
        const header = readWrittenHeader(headerOf(mail), ADDED);
        if ('problem' in header) {
          reached.refused++;
          return problemOfProblem(header.problem);
        }
        reached.accepted++;
        if (Object.values(header.control).some((value) => value !== null && Object.keys(value).length > 0)) {
          reached['with control headers']++;
        }
        return headerProblem(header) ?? bodyProblem(header, chunks, reached);
      },
    };
  },
};

/** From the grammar, mostly right: fields of all seeds, each at most once, with words put into them. */
function grown(mails: readonly Buffer[], random: SeededRandom): Buffer {
  const texts = mails.map((mail) => mail.toString('latin1'));
  const text = random.pick(texts);
  // Those of the text last: they say what its body is.
  const fields = [...texts, text].flatMap((text) => text.slice(0, text.indexOf('\n\n')).split(/\n(?![ \t])/));
  const byName = new Map(fields.map((field) => [field.split(':')[0]!.trim().toLowerCase(), field]));
  const rest = [...byName.values()].filter(
    (field) => !/^from/i.test(field) && random.chance(/^content-/i.test(field) ? 0.8 : 0.4),
  );
  const inline = WORDS.filter((word) => !word.includes('\n'));
  const worded = (field: string) => {
    const at = field.indexOf(':') + 1 + random.below(field.length - field.indexOf(':'));
    return random.chance(0.2) ? field.slice(0, at) + random.pick(inline) + field.slice(at) : field;
  };
  const from = `From: ${random.times(1 + random.below(4), () => random.pick(NAME_TOKENS)).join('')}<jo@acme.example>`;
  const header = [random.chance(0.9) ? from : random.pick(fields), ...rest.map(worded)];
  const body = text.slice(text.indexOf('\n\n') + 2);
  const at = random.below(body.length);
  const long = random.chance(0.3) ? 'z'.repeat(990 + random.below(20)) : '';
  return Buffer.from(`${header.join('\n')}\n\n${body.slice(0, at)}${long}${body.slice(at)}`, 'latin1');
}

/** Most as SMTP allows them. */
function onTheWire(mail: Buffer, random: SeededRandom): Buffer {
  if (random.chance(0.1)) return mail;
  return Buffer.from(
    mail
      .toString('latin1')
      .replaceAll('\0', '')
      .replace(/\r\n?|\n/g, '\r\n'),
    'latin1',
  );
}

function cut(mail: Buffer, random: SeededRandom): Input {
  return { mail, chunks: inPieces(mail.subarray(headerOf(mail).length), random) };
}

function headerOf(mail: Buffer): Buffer {
  const end = mail.indexOf(END);
  return end < 0 ? mail : mail.subarray(0, end + END.length);
}

function problemOfProblem(problem: string): string | null {
  return /^[ -~]+$/.test(problem) && problem.length <= MOST_REPLY_CHARS ? null : `a sentence for no reply: ${problem}`;
}

const OURS =
  /^(bcc|resent-bcc|return-path|feedback-id|authentication-results|(resend-)?idempotency-key|cfbl-.*|x-postrider-.*)[ \t]*:/i;

function headerProblem(header: WrittenHeader): string | null {
  const { from, subject, leaving, messageId } = header;
  const address = parseAddress(from.address);
  if (!address.ok || address.address.asciiDomain !== from.domain) return `From is ${JSON.stringify(from)}`;
  const texts = [from.name ?? 'x', subject];
  if (texts.some((text) => /\p{Cc}/u.test(text) || !text.isWellFormed() || text.length > 998))
    return `not plain: ${texts}`;
  const lines = leaving.toString('latin1').split('\r\n');
  const ours = lines.find((line) => OURS.test(line) || line.length > 998);
  if (ours !== undefined) return `leaves with ${ours}`;
  const again = readWrittenHeader(Buffer.concat([leaving, Buffer.from('\r\n')]), { ...ADDED, id: 'other' });
  if ('problem' in again) return `what leaves is refused: ${again.problem}`;
  const nothing = { idempotencyKey: null, tags: null, metadata: null, sendAt: null, tracking: {} };
  return (
    difference('what leaves', [from, subject, messageId], [again.from, again.subject, again.messageId]) ??
    difference('its control headers', again.control, nothing) ??
    (again.leaving.equals(leaving) ? null : 'what leaves changes when it leaves again')
  );
}

function bodyProblem(
  header: WrittenHeader,
  chunks: readonly Buffer[],
  reached: { encoded: number; 'with a long line': number },
): string | null {
  const fitted = fit(header, chunks);
  const came = Buffer.concat(chunks);
  const whole = fit(header, [came]);
  if (whole.problem !== null) reached['with a long line']++;
  else if (!whole.body.equals(came)) reached.encoded++;
  const body = new WrittenBody();
  for (const part of fitted.parts) body.push(part);
  const { bytes, bodyHash } = body.end();
  return (
    difference('cut, what leaves', fitted.leaving, whole.leaving) ??
    difference('cut, the problem', fitted.problem, whole.problem) ??
    difference('size', bytes, whole.body.length) ??
    difference('body hash', bodyHash, hashBody(whole.body)) ??
    (whole.problem === null ? lineProblem(whole) : problemOfProblem(whole.problem))
  );
}

function fit(header: WrittenHeader, chunks: readonly Buffer[]) {
  const fitter = new LineFitter(header);
  const parts = [...chunks.flatMap((chunk) => fitter.push(chunk)), ...fitter.end()];
  const leaving = fitter.encoding === null ? header.leaving : withTransferEncoding(header.leaving, fitter.encoding);
  const body = Buffer.concat(parts);
  return { parts, body, leaving: Buffer.concat([leaving, Buffer.from('\r\n'), body]), problem: fitter.problem };
}

/** What leaves has short lines, and stays as it is when it leaves again. */
function lineProblem({ leaving, body }: { leaving: Buffer; body: Buffer }): string | null {
  const lines = body.toString('latin1').split('\n');
  const long = lines.findIndex((line) => line.replace(/\r$/, '').length > 998);
  if (long >= 0) return `line ${long} of the body is too long`;
  const header = readWrittenHeader(headerOf(leaving), ADDED);
  if ('problem' in header) return `what leaves is refused: ${header.problem}`;
  return difference('its body', fit(header, [body]).body, body);
}
