// Whole mails out of a seed, as applications and the relays in front of them write them: fields in any order, folded and
// spelled in any way, with what is taken out of them; bodies of random-mail-parts.ts.
import { SeededRandom } from '../../fuzz/seeded-random.ts';
import { leaves, respelled, shuffled, someOddFields } from '../../protocol/mail/written/odd-fields.ts';
import { RECEIVER } from '../../support/world.ts';
import { randomPart } from './random-mail-parts.ts';

export interface RandomMail {
  /** With blanks in front of colons. */
  isOfOldForm: boolean;
  to: string[];
  raw: Buffer;
  /** The fields that leave with it, in their order, as octets; each ends with CR LF. */
  header: string;
  body: string;
  /** Names that the header lacks and that are added. */
  added: string[];
}

const CRLF = '\r\n';
const NEEDED = ['Date', 'Message-ID', 'MIME-Version'];

export function randomMail(seed: number): RandomMail {
  const random = new SeededRandom(seed);
  const to = random.times(1 + random.below(4), (index) => address(`to${seed}-${index}`, random));
  const part = randomPart(random);
  const needed = [
    `Date: ${random.pick(['Thu, 26 Nov 2026 10:00:00 +0000', '26 Nov 26 10:00 GMT', 'Thu, 26 Nov 2026\r\n 10:00:00 -0500 (EST)'])}`,
    `Message-ID: ${random.pick(['', '\r\n '])}<${random.pick(['order-', 'a.b+c=', 'A!#$&.'])}${seed}@app.example>`,
    'MIME-Version: 1.0',
  ];
  const own = [
    field('From', random.pick(FROM), random),
    ...(random.chance(0.95) ? [field('To', random.pick([octets(to.slice(0, 2).join(', ')), ...TO]), random)] : []),
    ...(random.chance(0.3) ? [field('Cc', random.pick(TO), random)] : []),
    ...(random.chance(0.2) ? [field('Reply-To', random.pick(TO.slice(1)), random)] : []),
    ...(random.chance(0.95) ? [field('Subject', random.pick(SUBJECTS)(random), random)] : []),
    ...(random.chance(0.3) ? [references(random)] : []),
  ];
  const all = [
    ...needed.filter(() => random.chance(0.7)),
    ...own,
    ...someOddFields(random, `key-${seed}`),
    ...part.fields,
  ];
  const isOfOldForm = random.chance(0.1);
  const blanks = isOfOldForm ? undefined : [''];
  const fields = shuffled(all, random).map((one) => respelled(one, random, blanks));
  const has = (name: string) => fields.some((one) => one.toLowerCase().startsWith(name.toLowerCase()));
  const body = `${part.body}${CRLF}`;
  return {
    isOfOldForm,
    to,
    raw: Buffer.from(`${fields.join(CRLF)}${CRLF}${CRLF}${body}`, 'latin1'),
    header: fields
      .filter(leaves)
      .map((one) => one + CRLF)
      .join(''),
    body,
    added: NEEDED.filter((name) => !has(name)),
  };
}

/** None has a blank: the receiving server refuses it. */
function address(local: string, random: SeededRandom): string {
  const forms = [
    local,
    local,
    `${local}+tag`,
    `o'${local}`,
    `"${local},x;y"`,
    ...(random.chance(0.1) ? [`ü${local}`] : []),
  ];
  return `${random.pick(forms)}@${RECEIVER}`;
}

function octets(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Folded at blanks, at none of them, at one or at all. */
function field(name: string, value: string, random: SeededRandom): string {
  const share = random.pick([0, 0, 0.2, 1]);
  const folded = value.replace(/ (?=\S)/g, (blank) =>
    random.chance(share) ? `${CRLF}${random.pick([' ', '\t', '   '])}` : blank,
  );
  return `${name}:${random.pick([' ', ' ', '', '   '])}${folded}`;
}

const FROM = [
  'app@acme.test',
  '<app@acme.test>',
  'Shop <app@acme.test>',
  '"Shop, the" <app@acme.test>',
  '=?utf-8?Q?Gr=C3=B6=C3=9Fe?= <app@acme.test>',
  '=?ISO-8859-1?B?R3L232U=?= =?utf-8?B?5ryi?= <APP@Acme.Test>',
  `${octets('Größe und 漢字')} <app@acme.test>`,
  'Shop (of Acme) <app@acme.test>',
  'app@acme.test (Shop)',
];
const TO = [
  'undisclosed-recipients:;',
  'Ann <ann@example.com>, "Doe, Bo" <bo@example.com>, =?utf-8?Q?J=C3=BCrgen?= <j@example.com>',
  'Team: ann@example.com, bo@example.com;, cy@example.com',
  `${octets('Jürgen')} <j@example.com>`,
  octets('jürgen@bücher.example'),
  Array.from({ length: 40 }, (_, index) => `reader-${index}@example.com`).join(', '),
];
const SUBJECTS: ((random: SeededRandom) => string)[] = [
  () => 'Your order',
  () => '',
  () => '=?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  () => '=?UTF-8?B?5ryi5a2X?= =?utf-8?b?8J+YgA==?= and =?iso-8859-1?q?Gr=FC=DFe?=',
  // One character over two words.
  () => '=?utf-8?B?5g==?= =?utf-8?B?vKI=?=',
  () => octets('Grüße, 漢字 und 😀'),
  () => '=?utf-8?X?bad?= =?=? = ?utf-8?Q?x?=',
  (random) =>
    random.times(1 + random.below(12), () => random.pick(['word', 'a:b', '"', '\\', '(c)', 'x'.repeat(70)])).join(' '),
];

function references(random: SeededRandom): string {
  return field(
    'References',
    random.times(1 + random.below(30), (index) => `<${index}.abc@app.example>`).join(' '),
    random,
  );
}
