// Messages out of a seed, for the comparison of our composer with nodemailer's: everything that the
// API takes, above all what composers get wrong.
import type { SampleInput } from './sample-messages.ts';
import { composeInput, seededRandom } from './sample-messages.ts';

type Random = () => number;

export function randomMessage(seed: number): SampleInput {
  const random = seededRandom(seed);
  const kind = random();
  return composeInput({
    from: { name: name(random), address: address(random) },
    to: { name: name(random), address: address(random) },
    subject: subject(random),
    // Both in most; at least one in all.
    text: kind < 0.85 ? body(random) : null,
    html: kind < 0.2 ? null : `<p>${body(random)}</p>`,
    headers: customHeaders(random),
    serviceHeaders: [],
  });
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const times = (random: Random, most: number): number => Math.floor(random() ** 2 * (most + 1));

function joined(random: Random, pieces: readonly string[], most: number): string {
  return Array.from({ length: times(random, most) }, () => pick(random, pieces)).join('');
}

const WORDS = ['order', 'Your', 'a', 'Rechnung', '2026', 'parcel', 'is', 'on', 'its', 'way', 'GmbH', 'U.S.', "O'Neil"];
const FOREIGN = [
  'Größe',
  'Łódź',
  '漢字',
  'かな交じり',
  'שלום',
  'émoji',
  '😀',
  '👩‍👩‍👧',
  '\u00a0',
  '\u200f',
  '“”',
  '€',
  'ﬁ',
  'ä',
];
const ODD = [
  '"',
  '\\',
  ',',
  ';',
  ':',
  '<',
  '>',
  '@',
  '(c)',
  '()',
  '[x]',
  '=?',
  '?=',
  '=?utf-8?Q?Bcc:_x?=',
  '_',
  '=',
  '%',
  '.',
];
const LONG = ['x'.repeat(80), `https://shop.example/track?id=${'4711'.repeat(40)}`, 'ü'.repeat(90), '漢'.repeat(60)];

/** Without what looks like an encoded word: the oracle sends it as it is, and readers decode it. */
function words(random: Random, most: number): string {
  const kinds = pick(random, [
    [WORDS],
    [WORDS],
    [WORDS, FOREIGN],
    [FOREIGN],
    [WORDS, ODD],
    [WORDS, FOREIGN, ODD, LONG],
  ]);
  return joined(
    random,
    kinds.flatMap((kind) => kind.flatMap((word) => [word, ' '])),
    most,
  )
    .replace(/\s+/g, ' ')
    .replaceAll('=?', '= ?');
}

function name(random: Random): string {
  return random() < 0.2 ? '' : words(random, 14).trim();
}

function subject(random: Random): string {
  return words(random, 60).trim() || 'x';
}

// Without a `<`, which the oracle makes a blank in front of any name.
const LOCALS = [
  'jo',
  'a.b',
  'jo+tag',
  "o'neil",
  'x'.repeat(64),
  '"a b"',
  '"a,b;c"',
  '"q\\"q"',
  'jürgen',
  '用户',
  'a_b=c',
];
const DOMAINS = [
  ...[
    'example.com',
    'Example.ORG',
    'xn--bcher-kva.example',
    'bücher.example',
    '例え.jp',
    'BÜCHER.example',
    'à.example',
  ],
  `${'a'.repeat(60)}.${'b'.repeat(60)}.example`,
];

function address(random: Random): string {
  return `${pick(random, LOCALS)}@${pick(random, DOMAINS)}`;
}

function customHeaders(random: Random): [string, string][] {
  const all: [string, () => string][] = [
    ['X-Order-ID', () => `${Math.floor(random() * 1e9)}`],
    ['x-words', () => words(random, 60).trim() || 'x'],
    ['X-Token', () => 'x'.repeat(1 + Math.floor(random() * 900))],
    ['Reply-To', () => `${pick(random, ['Jo', '"Doe, Jo"', 'Jürgen', '漢字'])} <jo@example.com>, d@example.com`],
    ['References', () => '<a.b@example.com> <c@example.com>'],
    ['In-Reply-To', () => '<c@example.com>'],
    [
      'List-Unsubscribe',
      () => `<https://shop.example/u/${'p'.repeat(Math.floor(random() * 300))}>, <mailto:u@x.example>`,
    ],
  ];
  return all.filter(() => random() < 0.25).map(([header, value]) => [header, value()]);
}

const BREAKS = [
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  ' \n',
  '\t\r\n',
  '  \r',
  '\n.\n',
  '\n..x',
  '\n.',
  '\nFrom ',
  '\n--',
  '\n--=_x',
];
const BODY_ODD = [
  '=',
  '==',
  '=3D',
  '=\n',
  '\t',
  '  ',
  '\0',
  '\x01',
  '\x7f',
  '\u2028',
  '\u0085',
  '\ufeff',
  '</td>',
  '&amp;',
  '.',
];
const BODY_LONG = ['x'.repeat(75), 'y'.repeat(76), 'z'.repeat(77), 'w'.repeat(999), 'word '.repeat(40), ' '.repeat(80)];

function body(random: Random): string {
  const kinds = pick(random, [
    [WORDS, [' '], BREAKS],
    [WORDS, [' '], ['\n']],
    [WORDS, FOREIGN, [' '], BREAKS],
    [FOREIGN, BREAKS],
    [WORDS, FOREIGN, ODD, LONG, BREAKS, BODY_ODD, BODY_LONG],
    [BODY_LONG, BREAKS],
    [BODY_ODD, BREAKS],
  ]);
  return joined(random, kinds.flat(), 120) || pick(random, ['x', ' ', '\n', '.', 'ä', '😀']);
}
