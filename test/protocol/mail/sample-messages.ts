// Messages for the DKIM oracles: composed ones of every kind, and hand-made ones with the
// white space and line ends that canonicalization is about. The same on every run.
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { type Composed, type ComposeInput, compose, composeBody } from '../../../src/protocol/mail/compose/compose.ts';
import { hashBody, type SignableMessage } from '../../../src/protocol/mail/dkim/dkim.ts';

export interface Sample {
  name: string;
  raw: Buffer;
}

export const FROM_DOMAIN = 'verified.example';
export const SUBMISSION_ID = '01931f00-0000-7000-8000-0000000000ff';

export interface SampleInput extends ComposeInput {
  text: string | null;
  html: string | null;
  attachments?: readonly MailAttachment[];
}

export function composeInput(changes: Partial<SampleInput> = {}): SampleInput {
  return {
    messageId: '01931f00-0000-7000-8000-00000000abcd',
    from: { name: 'Shop', address: `orders@${FROM_DOMAIN}` },
    to: { name: '', address: 'jo@example.com' },
    subject: 'Your order',
    html: null,
    text: 'Thank you.\n',
    headers: [],
    serviceHeaders: [
      ['CFBL-Address', 'fbl@bounces.example; report=arf'],
      ['CFBL-Feedback-ID', '01931f00-0000-7000-8000-00000000abcd:1aaaaaaaaaaaaaaaa'],
      ['Feedback-ID', 'tenant:verified.example:postrider'],
      ['List-Unsubscribe', '<https://links.example/u/1>, <mailto:u@bounces.example?subject=1>'],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ],
    date: new Date('2026-11-20T10:00:00Z'),
    ...changes,
  };
}

/** Header and body, as they go out together. */
export async function composeWhole(input: SampleInput): Promise<Composed & { raw: Buffer }> {
  const { text, html, attachments } = input;
  const composed = compose(input, await composeBody({ text, html, attachments, boundarySeed: SUBMISSION_ID }));
  return { ...composed, raw: Buffer.concat([composed.header, composed.body]) };
}

export function signable(raw: Buffer): SignableMessage {
  const end = raw.indexOf('\r\n\r\n') + 4;
  const body = raw.subarray(end);
  return { header: raw.subarray(0, end), body, bodyHash: hashBody(body) };
}

function everyByte(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => index));
}

export async function composedSamples(): Promise<Sample[]> {
  const changes: [string, Partial<SampleInput>][] = [
    ['ascii', {}],
    ['html and text', { html: '<p>Thank you.</p>', text: 'Thank you.' }],
    [
      'unicode',
      {
        subject: 'Größe 😀 שלום',
        html: '<p>Ünï 漢字</p>',
        text: '漢字かな',
        to: { name: 'Łu, "x"', address: 'jo@example.com' },
      },
    ],
    ['utf-8 address', { to: { name: 'à', address: 'à@example.à' } }],
    ['spaces only', { text: '   \n \t \n\n' }],
    ['empty', { text: '' }],
    ['blank lines at the end', { text: 'a\n\n\n\n' }],
    ['trailing white space', { text: 'a  \t\n \nb\t \n' }],
    ['one line of 100,000', { text: 'x'.repeat(100_000) }],
    ['4 MiB', { html: `<p>${'Ein Würfel. '.repeat(340_000)}</p>` }],
    [
      'long custom headers',
      {
        headers: [
          ['X-Long', 'word '.repeat(400)],
          ['X-Wide', `a${' '.repeat(200)}b`],
          ['X-Word', 'x'.repeat(997)],
        ],
      },
    ],
    [
      'attachments',
      {
        html: '<p>Thank you. <img src="cid:logo"></p>',
        attachments: [
          { filename: 'Größe.pdf', contentType: 'application/pdf', contentId: null, content: everyByte(70_000) },
          { filename: 'logo.png', contentType: 'image/png', contentId: 'logo', content: everyByte(300) },
          { filename: 'empty', contentType: 'text/plain', contentId: null, content: Buffer.alloc(0) },
        ],
      },
    ],
    ['long subject', { subject: 'ä'.repeat(998), from: { name: 'n'.repeat(900), address: `a@${FROM_DOMAIN}` } }],
  ];
  return Promise.all(
    changes.map(async ([name, change]) => ({ name, raw: (await composeWhole(composeInput(change))).raw })),
  );
}

export function handMadeSamples(): Sample[] {
  const header = [
    'from :\t Jo\t <jo@verified.example>  ',
    'SUBJECT:  many   \t blanks\t',
    'To: a@example.com,\r\n\t b@example.com,\r\n   c@example.com ',
    'To: second@example.com',
    'Message-ID:\r\n <1@verified.example>',
    'In-Reply-To:  <2@verified.example>',
    'Cc:',
    'Reply-To: à@example.\u00e0',
  ].join('\r\n');
  const bodies = [
    '',
    '\r\n',
    '\r\n\r\n\r\n',
    '  ',
    '  \r\n\t\r\n',
    'x',
    'x\r\n',
    ' x',
    ' x \t y\t\t\r\n',
    'x\r\n\r\n \r\n',
    '\r\n\r\nx\r\n',
  ];
  return bodies.map((body) => ({ name: `body ${JSON.stringify(body)}`, raw: Buffer.from(`${header}\r\n\r\n${body}`) }));
}

/** mulberry32: small, and the same everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  'a',
  'Zz',
  ' ',
  '  ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '.',
  '\n.\n',
  '=',
  '=?utf-8?Q?x?=',
  '"',
  ',',
  '<',
  '>',
  '\\',
  'ä',
  'à',
  '漢',
  '😀',
  '\u200f',
  '\u00a0',
  '\0',
  'From ',
  '--',
  ':',
  ';',
  '\ud800',
];

function randomText(random: () => number, length: number): string {
  return Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join('');
}

export async function randomSamples(count: number, seed: number): Promise<Sample[]> {
  const random = seededRandom(seed);
  const text = (most: number) => randomText(random, Math.floor(random() * most));
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const input = composeInput({
        from: { name: text(40), address: `a@${FROM_DOMAIN}` },
        to: { name: text(200), address: random() < 0.2 ? 'à@example.com' : 'b@example.com' },
        subject: text(300),
        html: random() < 0.6 ? text(3000) : null,
        text: random() < 0.8 ? text(3000) : null,
        headers: [
          ['X-Random', text(200)],
          ['Reply-To', `${text(10).replace(/["\\<>]/g, '')} <r@example.com>`],
        ],
      });
      return { name: `random ${seed}/${index}`, raw: (await composeWhole(input)).raw };
    }),
  );
}
