// Attachments of the API. What is accepted is what was written, makes header fields of its own only, and is read back by
// the rules; what is refused names its field.
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { attachmentFields } from '../../../src/protocol/mail/compose/attachment-fields.ts';
import { type AttachmentBody, readAttachments } from '../../../src/submission/attachments.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const NAMES: Material = {
  seeds: [
    'report.pdf',
    'Größe 漢字.docx',
    '👩‍👩‍👧.png',
    '=?utf-8?B?eA==?=',
    "utf-8''%41",
    'a "b" <c>.txt',
    'x'.repeat(255),
  ],
  words: [
    ...['/', '\\', '..', '\0', '\r\n', '\r\nBcc: x', '\t', '"', ';', '; filename=x', '*0*=', '%', "''", '=?', '?='],
    ...['\ud800', '\udc00', '\u0085', '\u2028', '\u202e', '\ufeff', '\u{10ffff}', 'e\u0301', ' ', '  ', '.eml'],
  ],
  longWords: ['x'.repeat(100_000), '😀'.repeat(50_000), '"'.repeat(100_000)],
};
const TYPES: Material = {
  seeds: ['application/pdf', 'text/plain; charset=utf-8', 'a/b; c="d; e"; f=g', 'message/rfc822', 'multipart/mixed'],
  words: ['/', ';', '; ', '=', '"', '\\', '*', '; name="x"', '; a=b', '\r\n', '\0', ' ', '\t', 'é', 'x/y', '\u2028'],
  longWords: ['; a=b'.repeat(20_000), '"'.repeat(100_000), ' '.repeat(100_000), 'a'.repeat(100_000)],
};
const CONTENTS: Material = {
  seeds: ['', 'SGk=', 'SGk', 'AAEC/w==', 'QUJD\r\nREVG\r\n', '+/+/', 'A'.repeat(76)],
  words: ['=', '==', '\r\n', '\n', ' ', '-', '_', 'A', '/', '\0', 'data:', '\u0141', '\ud800', '.', '\t'],
  longWords: [
    'A'.repeat(300_000),
    ' '.repeat(300_000),
    '='.repeat(300_000),
    'A '.repeat(150_000),
    'A\n'.repeat(150_000),
  ],
};
const IDS: Material = {
  seeds: ['logo', 'a.b_c-d@x', 'x'.repeat(128)],
  words: ['<', '>', ' ', '\r\n', '@', '.', 'ä', '\0', 'cid:'],
};

export const attachmentsTarget: FuzzTarget = {
  name: 'attachments',
  open() {
    const reached = { accepted: 0, filename: 0, content: 0, content_type: 0, content_id: 0 };
    return {
      mutate: (random: SeededRandom) => random.times(1 + random.below(3), () => attachmentBy(random)),
      reached,
      run(given: AttachmentBody[]) {
        const read = readAttachments(given);
        if (!Array.isArray(read)) {
          const key = /^attachments\[\d\]\.(\w+)$/.exec(read.field)?.[1] as keyof typeof reached;
          if (!(key in reached)) return `no field is named, but ${read.field}`;
          reached[key]++;
          return /^[a-z].*\.$/.test(read.problem) ? null : `not a sentence: ${read.problem}`;
        }
        reached.accepted++;
        for (const [index, body] of given.entries()) {
          const problem = problemWith(body, read[index]!);
          if (problem !== null) return problem;
        }
        return null;
      },
    };
  },
} as FuzzTarget;

function attachmentBy(random: SeededRandom): AttachmentBody {
  const text = (material: Material, untouched: number) =>
    random.chance(untouched) ? random.pick(material.seeds) : mutateText(material, random);
  return {
    filename: text(NAMES, 0.5),
    content: text(CONTENTS, 0.5),
    content_type: random.chance(0.3) ? null : text(TYPES, 0.4),
    content_id: random.chance(0.6) ? null : text(IDS, 0.5),
  };
}

function problemWith(body: AttachmentBody, read: MailAttachment): string | null {
  const digits = body.content.replace(/[\r\n=]/g, '');
  const again = read.content.toString('base64').replaceAll('=', '');
  // Bits that are left over in the last digit are dropped.
  if (again.length !== digits.length) return `${digits.length} digits were read as ${again.length}`;
  if (again.slice(0, -1) !== digits.slice(0, -1)) return 'the content is not what was written';
  const fields = attachmentFields(read, 'inline');
  if (/[^\r\n -~]|\r(?!\n)|(?<!\r)\n/.test(fields)) return 'a control character in the header';
  if (fields.split('\r\n').some((line) => line.length > 300)) return 'a long line in the header';
  const names = fields.split(/\r\n(?![ \t])/).map((field) => field.split(':', 1)[0]);
  const ours = ['Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition'];
  return difference('header fields', names, [...ours, ...(read.contentId === null ? [] : ['Content-ID']), '']);
}
