// Bodies out of a seed as mail programs write them: parts within parts, boundaries of every kind, every transfer encoding
// and charset, attachments with their names in every notation, signed and encrypted parts. Each character is an octet, all
// lines end with CR LF, and none is longer than 998 octets.
import type { SeededRandom } from '../../fuzz/seeded-random.ts';
import { randomBody } from '../../protocol/mail/random-bodies.ts';

export interface Part {
  fields: string[];
  body: string;
}

const CRLF = '\r\n';
const MOST_IN_A_LINE = 998;
const DEEPEST = 4;

export function randomPart(random: SeededRandom, depth = 0): Part {
  const kind = depth >= DEEPEST ? 1 : random.next();
  if (kind > 0.55) return randomLeaf(random);
  if (kind > 0.45) return signed(random, depth);
  if (kind > 0.38 && depth > 0) return forwarded(random, depth);
  const subtype = random.pick(['mixed', 'mixed', 'alternative', 'related', 'parallel', 'report', 'x-own']);
  return multipart(
    subtype,
    random.times(1 + random.below(4), () => randomPart(random, depth + 1)),
    random,
  );
}

export function written({ fields, body }: Part): string {
  return [...fields, '', body].join(CRLF);
}

const BOUNDARIES = [
  'b',
  '=_',
  '----=_Part_4711_',
  "'()+_,-./:=?",
  '__two words__',
  '-',
  '--',
  '_000_AM0PR04MB1234.eurprd04.prod.outlook.com_',
  'x'.repeat(50),
];

function multipart(subtype: string, parts: readonly Part[], random: SeededRandom, parameters: string[] = []): Part {
  const boundary = `${random.pick(BOUNDARIES)}${random.below(1e9)}`;
  const isToken = /^[\w+.-]+$/.test(boundary);
  const name = random.pick(['boundary', 'boundary', 'Boundary', 'BOUNDARY']);
  const parameter = `${name}=${isToken && random.chance(0.5) ? boundary : `"${boundary}"`}`;
  const after = random.pick(['', '', '', ' ', ' \t']);
  const between = parts.map((part) => `--${boundary}${after}${CRLF}${written(part)}${CRLF}`);
  const before = random.pick(['', '', `This is a multi-part message in MIME format.${CRLF}`, CRLF]);
  const behind = random.pick(['', CRLF, `${CRLF}An epilogue.`, `${CRLF}${CRLF}--${boundary}x`]);
  const type = random.pick(['multipart', 'multipart', 'Multipart']);
  return {
    fields: [contentType([`${type}/${subtype}`, ...shuffle(random, [parameter, ...parameters])], random)],
    body: `${before}${between.join('')}--${boundary}--${behind}`,
  };
}

const shuffle = (random: SeededRandom, [first, ...rest]: string[]) =>
  random.chance(0.5) ? [first!, ...rest] : [...rest, first!];

function contentType(parameters: string[], random: SeededRandom): string {
  const separator = random.pick(['; ', ';', ';\r\n\t', ';\r\n ', ' ;\r\n  ']);
  return `${random.pick(['Content-Type', 'Content-type', 'content-type'])}: ${parameters.join(separator)}`;
}

function signed(random: SeededRandom, depth: number): Part {
  const isPgp = random.chance(0.5);
  const type = isPgp ? 'application/pgp-signature' : 'application/pkcs7-signature';
  const name = isPgp ? 'signature.asc' : 'smime.p7s';
  const fields = [`Content-Type: ${type}; name="${name}"`, `Content-Disposition: attachment; filename=${name}`];
  const signature = isPgp
    ? {
        fields,
        body: ['-----BEGIN PGP SIGNATURE-----', '', base64(random, 300), '-----END PGP SIGNATURE-----'].join(CRLF),
      }
    : { fields: [...fields, 'Content-Transfer-Encoding: base64'], body: base64(random, 1500) };
  const parameters = [`protocol="${type}"`, `micalg=${isPgp ? 'pgp-sha512' : 'sha-256'}`];
  return multipart('signed', [randomPart(random, depth + 1), signature], random, parameters);
}

function forwarded(random: SeededRandom, depth: number): Part {
  const header = ['From: Jo <jo@example.com>', 'Subject: =?utf-8?B?R3LDvMOfZQ==?=', 'Bcc: kept@example.com'];
  const inner = randomPart(random, depth + 1);
  return {
    fields: ['Content-Type: message/rfc822', 'Content-Disposition: attachment; filename="forwarded mail.eml"'],
    body: written({ fields: [...header, ...inner.fields], body: inner.body }),
  };
}

function randomLeaf(random: SeededRandom): Part {
  return random.chance(0.6) ? text(random) : file(random);
}

/** Texts as octets of their charset. */
const TEXTS: [charset: string, words: string[]][] = [
  ['us-ascii', ['Hello', 'there.', '=', '=20', '.', 'From', '-- ', '\t']],
  ['utf-8', ['Größe', '漢字', '😀', 'x', '\u00a0', '\u2028', 'e\u0301'].map(utf8)],
  ['UTF-8', ['schöne', 'Grüße', 'плюс'].map(utf8)],
  ['iso-8859-1', ['Gr\xf6\xdfe', '\xa4', 'a\xa0b', '\x85']],
  ['Windows-1252', ['\x80', '\x93quoted\x94', '\x85']],
  ['koi8-r', ['\xf0\xd2\xc9\xd7\xc5\xd4']],
  ['shift_jis', ['\x8a\xbf\x8e\x9a']],
  ['iso-2022-jp', ['\x1b$B4A;z\x1b(B', 'kanji']],
  ['gb2312', ['\xba\xba\xd7\xd6']],
];

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function text(random: SeededRandom): Part {
  const [charset, words] = random.pick(TEXTS);
  const subtype = random.pick(['plain', 'plain', 'html', 'html', 'calendar', 'x-own']);
  const line = () => random.times(random.below(30), () => random.pick(words)).join(random.pick(['', ' ', '  ']));
  const long = random.chance(0.04) ? randomBody(random).toString('latin1') : '';
  const content = withShortLines(`${random.times(random.below(20), line).join(CRLF)}${long}`);
  const parameters =
    charset === 'us-ascii' && random.chance(0.5) ? [] : [`charset=${random.pick([charset, `"${charset}"`])}`];
  if (random.chance(0.2)) parameters.push('format=flowed', 'delsp=yes');
  const type = contentType([`text/${subtype}`, ...parameters], random);
  const isAscii = !/[^\0-\x7f]/.test(content);
  return encode(
    [type],
    content,
    random.pick([isAscii ? '7bit' : '8bit', '8bit', 'quoted-printable', 'base64', 'binary']),
    random,
  );
}

const NAMES = [
  ['; filename=report.pdf'],
  ['; filename="report, 2026; final.pdf"'],
  [';\r\n filename="=?utf-8?Q?Gr=C3=B6=C3=9Fe=2Epdf?="'],
  ["; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf", '; filename="Groesse.pdf"'],
  [";\r\n\tfilename*0*=utf-8''%E6%BC%A2", ';\r\n\tfilename*1="-2026.pdf"'],
  [`; filename="${utf8('Größe.pdf')}"`],
  ['; FileName="a \\"quoted\\" name"', '; size=4711'],
  [],
];
const TYPES = [
  'application/octet-stream',
  'application/pdf',
  'image/png',
  'application/pkcs7-mime; smime-type=enveloped-data',
];

function file(random: SeededRandom): Part {
  const kind = random.pick(['attachment', 'attachment', 'inline', 'ATTACHMENT']);
  const fields = [
    `Content-Type: ${random.pick(TYPES)}`,
    `Content-Disposition: ${kind}${random.pick(NAMES).join('')}`,
    ...(random.chance(0.3) ? [`Content-ID: <logo.${random.below(1000)}@acme.test>`] : []),
    ...(random.chance(0.1) ? ['Content-Description: =?utf-8?Q?f=C3=BCr_Sie?='] : []),
  ];
  // Some that are stored in several pieces.
  const bytes = random.chance(0.02) ? 200_000 + random.below(500_000) : random.below(random.pick([1, 100, 5000]));
  return { fields: [...fields, 'Content-Transfer-Encoding: base64'], body: base64(random, bytes) };
}

function encode(fields: string[], content: string, encoding: string, random: SeededRandom): Part {
  const spelled = random.pick([encoding, encoding, encoding.toUpperCase(), `${encoding} `]);
  const isLeftOut = encoding === '7bit' && random.chance(0.5);
  const all = isLeftOut ? fields : [...fields, `Content-Transfer-Encoding: ${spelled}`];
  if (encoding === 'base64') return { fields: all, body: inLines(Buffer.from(content, 'latin1'), random) };
  return { fields: all, body: encoding === 'quoted-printable' ? quotedPrintable(content, random) : content };
}

/** Longer or shorter than the 76 of RFC 2045, but each line alike. */
function inLines(content: Buffer, random: SeededRandom): string {
  const width = random.pick([76, 76, 72, 64, 4, 60, 900]);
  return content.toString('base64').replace(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${CRLF}`);
}

function base64(random: SeededRandom, bytes: number): string {
  const seed = random.below(1e9);
  return inLines(
    Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => Math.imul(index ^ seed, 2654435761) >>> 13)),
    random,
  );
}

function quotedPrintable(content: string, random: SeededRandom): string {
  const hex = (octet: string) => `=${octet.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
  const most = random.pick([20, 60, 75]);
  const lines = content.split(CRLF).map((line) => {
    const atoms = [...line].map((octet) => (/[!-<>-~ \t]/.test(octet) ? octet : hex(octet)));
    if (/[ \t]/.test(atoms.at(-1) ?? '')) atoms.push(hex(atoms.pop()!));
    const rows = [''];
    for (const atom of atoms) {
      if (rows.at(-1)!.length + atom.length > most) rows.push('');
      rows.push(rows.pop()! + atom);
    }
    return rows.join(`=${CRLF}`);
  });
  return lines.join(CRLF);
}

function withShortLines(octets: string): string {
  return octets
    .replace(/\r(?!\n)/g, '')
    .split(CRLF)
    .map((line) => line.slice(0, MOST_IN_A_LINE))
    .join(CRLF);
}
