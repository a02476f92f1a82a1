// Random mails of nested parts, some with lines that are too long, in leaves that may change and in those that may not.
import { SeededRandom } from '../../../fuzz/seeded-random.ts';

export interface MailOfParts {
  raw: Buffer;
  hasLongLine: boolean;
  /** The number of the first line that can't be made to fit; null: there is none. */
  refusedLine: number | null;
}

interface Line {
  /** Octets as latin1. */
  text: string;
  /** Inside a leaf that may change, or be cut. */
  mayChange: boolean;
}

interface Plan {
  random: SeededRandom;
  /** How likely a line is too long. */
  longLines: number;
  boundaries: number;
}

const WORDS = [
  'order',
  'Größe',
  '漢字',
  '😀',
  'a=b',
  '=3D',
  '<p style="x:y">',
  '. ',
  '..',
  '--',
  '-- ',
  '\t',
  ' ',
  '&amp;',
];
const LATIN1 = ['Gr\xfc\xdfe', '\xe4', 'order', '\xa0'];
const TYPES = [
  'text/plain; charset=utf-8',
  'TEXT/HTML; charset="utf-8"',
  'application/json',
  'text/csv; charset=utf-8',
];

export function randomMailOfParts(seed: number): MailOfParts {
  const random = new SeededRandom(seed);
  const plan = { random, longLines: random.pick([0, 0, 0.05, 0.2]), boundaries: 0 };
  const fields = [
    'From: jo@acme.example',
    'To: ann@example.com',
    'Subject: x',
    'Date: Thu, 26 Nov 2026 10:00:00 +0000',
  ];
  const { header, body } = random.chance(0.25) ? leaf(plan, false) : multipart(plan, 0, false);
  const own = ['Message-ID: <1@acme.example>', 'MIME-Version: 1.0', ...header];
  const lines = [...fixed([...fields, ...own, '']), ...body];
  const refused = lines.findIndex(({ text, mayChange }) => text.length > 998 && !mayChange);
  return {
    raw: Buffer.from(lines.map(({ text }) => `${text}\r\n`).join(''), 'latin1'),
    hasLongLine: lines.some(({ text }) => text.length > 998),
    refusedLine: refused < 0 ? null : refused + 1,
  };
}

const fixed = (texts: readonly string[]): Line[] => texts.map((text) => ({ text, mayChange: false }));

interface Part {
  header: string[];
  body: Line[];
}

function multipart(plan: Plan, depth: number, isSealed: boolean): Part {
  const { random } = plan;
  const kind = random.chance(0.1) ? 'signed' : random.pick(['mixed', 'alternative', 'related', 'x-other']);
  const sealed = isSealed || kind === 'signed';
  plan.boundaries++;
  // One begins with another, as with Nodemailer.
  const boundary = random.pick(['b', '--=_Part_', "a'b (c)"]) + plan.boundaries;
  const parts = random.times(1 + random.below(3), () =>
    depth < 4 && random.chance(0.3) ? multipart(plan, depth + 1, sealed) : leaf(plan, sealed),
  );
  const body = parts.flatMap(({ header, body }) => [...fixed([`--${boundary}`, ...header, '']), ...body]);
  const around = () =>
    fixed(random.times(random.below(3), () => random.pick(['', 'This is a multi-part message.', ' '])));
  const spelled = random.pick(['boundary', 'Boundary', 'BOUNDARY']);
  const parameter = /[ ()=]/.test(boundary) || random.chance(0.5) ? `"${boundary}"` : boundary;
  const encoding = random.chance(0.2) ? ['Content-Transfer-Encoding: 8bit'] : [];
  return {
    header: [
      `Content-Type: multipart/${kind};${random.pick([' ', '\r\n\t', '\r\n '])}${spelled}=${parameter}`,
      ...encoding,
    ]
      .join('\r\n')
      .split('\r\n'),
    body: [...around(), ...body, ...fixed([`--${boundary}--`]), ...around()],
  };
}

function leaf(plan: Plan, isSealed: boolean): Part {
  const { random } = plan;
  if (random.chance(0.2)) return encodedLeaf(plan, isSealed);
  const isLatin1 = random.chance(0.2);
  const words = isLatin1 ? LATIN1 : WORDS.map((word) => Buffer.from(word).toString('latin1'));
  const type = isLatin1 ? 'text/plain; charset=iso-8859-1' : random.pick(TYPES);
  const fields = [
    ...(random.chance(0.9) ? [`Content-Type: ${type}`] : []),
    ...(random.chance(0.5)
      ? [`content-transfer-encoding:${random.pick([' ', '\r\n '])}${random.pick(['7bit', '8BIT', 'binary'])}`]
      : []),
    ...(random.chance(0.3) ? ['X-Other:  two'] : []),
  ];
  const line = () => {
    const short = random.times(random.below(12), () => random.pick(words)).join(random.pick([' ', '']));
    return random.chance(plan.longLines) ? short.padEnd(999, random.pick(['x', 'word ', ' '])) : short;
  };
  const body = random.times(random.below(9), () => ({ text: line(), mayChange: !isSealed }));
  return { header: fields.join('\r\n').split('\r\n').filter(Boolean), body };
}

const QUOTED_WORDS = ['order', '=C3=A4', '=3D', '-----', ' ', '\t', '. ', '=\r\n', '=2D'];

function quotedLeaf({ random, longLines }: Plan, isSealed: boolean): Part {
  const line = () => {
    const words = random.chance(longLines) ? 900 : random.below(12);
    return random.times(words, () => random.pick(words > 12 ? QUOTED_WORDS.toSpliced(-2, 1) : QUOTED_WORDS)).join('');
  };
  return {
    header: ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'],
    body: random
      .times(random.below(9), () => `${line()}x`.split('\r\n').map((text) => ({ text, mayChange: !isSealed })))
      .flat(),
  };
}

function encodedLeaf(plan: Plan, isSealed: boolean): Part {
  const { random, longLines } = plan;
  if (random.chance(0.5)) return quotedLeaf(plan, isSealed);
  const content = Buffer.from(random.times(random.below(300), () => random.below(256))).toString('base64');
  const columns = random.chance(longLines) ? 1000 : 76;
  const long = columns === 76 ? content : content.padStart(1000, 'QUJD');
  return {
    header: ['Content-Type: application/octet-stream; name=x.bin', 'Content-Transfer-Encoding: Base64'],
    body: (long.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []).map((text) => ({ text, mayChange: !isSealed })),
  };
}
