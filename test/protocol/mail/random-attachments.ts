// Attachments out of a seed: names in many scripts and of every length, what parsers of parameters get wrong, and any
// bytes.
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { seededRandom } from './sample-messages.ts';

type Random = () => number;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const upTo = (random: Random, most: number): number => Math.floor(random() * (most + 1));

const SCRIPTS = [
  'Rechnung 2026',
  'Größe-Übersicht',
  'счёт-фактура',
  '請求書（控え）',
  '견적서',
  'חשבונית',
  'فاتورة ضريبية',
  'ใบเสร็จ',
  'रसीद',
  '👩‍👩‍👧 photo 😀',
  'e\u0301te\u0301',
  'ﬁle\u00a0name\u2028x\u200f',
];
const ODD = [
  '"',
  "'",
  '%',
  '%41',
  "utf-8''",
  '=?utf-8?B?eA==?=',
  '=?utf-8?Q?x?=',
  '=?',
  '?=',
  ';',
  '; filename=x',
  '=',
  '*',
  '*0*=',
  ',',
  '(c)',
  '<>',
  '[1]',
  '@',
  '  ',
  ' ',
  '.',
  '~',
  '_',
  '+',
  '\\',
];
const EXTENSIONS = ['.pdf', '.docx', '.png', '.txt', '.tar.gz', '.eml', '', '.ПДФ'];
/** The limit of the API. */
const MAX_NAME_CHARS = 255;

function randomName(random: Random): string {
  const words = pick(random, [SCRIPTS, SCRIPTS, ODD, [...SCRIPTS, ...ODD], ['a', 'report', '-', ' ', '2026'], ['x']]);
  const most = pick(random, [1, 3, 8, 300]);
  let name = '';
  for (let count = upTo(random, most); count >= 0; count--) name += pick(random, words);
  const extension = pick(random, EXTENSIONS);
  return [...name].slice(0, MAX_NAME_CHARS - extension.length).join('') + extension;
}

const TYPES = [
  'application/pdf',
  'application/octet-stream',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'text/plain',
  'text/html',
  'text/csv; charset=iso-8859-1; header=present',
  'text/calendar; charset="utf-8"; method=REQUEST',
  `application/x-long; ${'p'.repeat(60)}=${'v'.repeat(60)}; q="a; b='c'"; r=1`,
];
const IMAGES = ['image/png', 'image/jpeg', 'image/svg+xml'];

function randomContent(random: Random): Buffer {
  const length = pick(random, [0, 1, 2, 3, 56, 57, 58, 114, upTo(random, 3000), upTo(random, 3000), 60_000]);
  const kind = random();
  if (kind < 0.2) return Buffer.from('\r\n--=_mixed_\r\n.\r\nFrom x\n\r\0'.repeat(length)).subarray(0, length);
  if (kind < 0.4) return Buffer.alloc(length, Math.floor(random() * 256));
  return Buffer.from(Uint8Array.from({ length }, () => Math.floor(random() * 256)));
}

export function randomAttachments(seed: number): MailAttachment[] {
  const random = seededRandom(seed ^ 0x5eed);
  return Array.from({ length: 1 + upTo(random, pick(random, [0, 2, 5])) }, (_, index) => {
    const isInline = random() < 0.4;
    return {
      filename: randomName(random),
      contentType: pick(random, isInline ? [...IMAGES, ...IMAGES, ...TYPES] : TYPES),
      contentId: isInline ? `${pick(random, ['logo', 'a.b_c-d@x', 'i'.repeat(120)])}${index}` : null,
      content: randomContent(random),
    };
  });
}
