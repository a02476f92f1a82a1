// DMARC aggregate reports, and what they come packed in. Nothing unpacks to more than the limit,
// however the archive lies.
import { deflateRawSync, gzipSync } from 'node:zlib';
import {
  type DmarcReading,
  type DmarcReport,
  readDmarcReport,
} from '../../../src/protocol/mail/reports/dmarc-report.ts';
import { unpack } from '../../../src/protocol/mail/reports/packed-file.ts';
import { zipOf } from '../../support/dmarc-mail.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzTarget, seedFiles } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const WORDS = [
  ...['<', '>', '</', '/>', '<!--', '-->', '<![CDATA[', ']]>', '<?xml', '?>', '&', '&amp;', '&lt;', '&#0;', '&x;', '"'],
  ...['<!DOCTYPE x [<!ENTITY a "aaaa">]>', '<record>', '</record>', '<row>', '</row>', '<feedback>', '</feedback>'],
  ...['<count>-1</count>', '<count>1e400</count>', '<count>9007199254740993</count>', '<begin>NaN</begin>', '<a:b:c>'],
  ...['\0', '\ufeff', '\ud800', '<__proto__>', '<constructor/>', '<a>'.repeat(13), '<a/>'.repeat(40)],
];
const LONG_WORDS = [
  '<a/>'.repeat(20_000),
  '<a>'.repeat(20_000),
  '<'.repeat(50_000),
  '&amp;'.repeat(20_000),
  '<!--'.repeat(20_000),
];
/** The reports of seeds are small; doubled ones must stay below it by far. */
const MOST_RECORDS = 50_000;
const MOST_CHARACTERS = 500;

export const dmarcReportTarget: FuzzTarget = {
  name: 'dmarc-report',
  open() {
    const material: Material = { seeds: seedFiles('dmarc-report'), words: WORDS, longWords: LONG_WORDS };
    const reached = { read: 0, refused: 0 };
    return {
      mutate: (random: SeededRandom) =>
        random.chance(0.4) ? otherValues(random.pick(material.seeds), random) : mutateText(material, random),
      reached,
      run(xml: string) {
        const reading = readDmarcReport(xml);
        reached[reading.ok ? 'read' : 'refused']++;
        return readingProblem(xml, reading);
      },
    };
  },
};

const VALUES = [
  ...[
    '',
    ' ',
    '-1',
    '0',
    '1.5',
    '1e3',
    '1e400',
    'NaN',
    '0x10',
    '9007199254740993',
    'x'.repeat(600),
    '<b>1</b>',
    '&lt;',
    '<x/>',
  ],
  ...['pass', 'PASS', 'fail', '1795000000000', '<![CDATA[5]]>', '<!-- -->7', '\ud800', '.', 'acme.test..'],
];

/** Well-formed, and with values that no report has. */
function otherValues(xml: string, random: SeededRandom): string {
  return xml.replace(/>([^<>]+)</g, (all) => (random.chance(0.1) ? `>${random.pick(VALUES)}<` : all));
}

function readingProblem(xml: string, reading: DmarcReading): string | null {
  if (!reading.ok) return reading.reason === '' ? 'refused without a reason' : null;
  return expansionProblem(xml, reading.report) ?? reportProblem(reading.report);
}

function reportProblem({ records, policy, ...report }: DmarcReport): string | null {
  if (records.length > MOST_RECORDS) return `${records.length} records`;
  const texts = [report.orgName, report.reportId, ...Object.values(policy), ...records.flatMap(textsOf)];
  const long = texts.find((text) => typeof text !== 'string' || text.length > MOST_CHARACTERS);
  if (long !== undefined) return `a value of ${long.length} characters`;
  const odd = records.find(({ messages }) => !Number.isSafeInteger(messages) || messages < 0);
  if (odd) return `${odd.messages} messages`;
  return report.beginsAt > 0 && report.endsAt > 0 ? null : 'no time';
}

/** What was read stands in the text, and takes no more room than there. */
function expansionProblem(xml: string, { records }: DmarcReport): string | null {
  const characters = records.flatMap(textsOf).reduce((sum, text) => sum + text.length, 0);
  // "none", "pass" and "fail" are what is not said.
  return characters > xml.length + records.length * 12 ? `${characters} characters out of ${xml.length}` : null;
}

function textsOf({ messages: _, ...record }: DmarcReport['records'][number]): string[] {
  return Object.values(record);
}

const LIMIT_OCTETS = 64 * 1024;
const BOMB_OCTETS = 4 * 1024 * 1024;

interface PackedInput {
  packed: Buffer;
  /** What comes out when nobody changed anything. */
  content: Buffer | null;
}

/** Real archives of the reports with octets and numbers changed. */
export const packedFileTarget: FuzzTarget = {
  name: 'packed-file',
  open() {
    const contents = seedFiles('dmarc-report').map((text) => Buffer.from(text));
    const archives = contents.flatMap((content) => archivesOf(content).map((packed) => ({ packed, content })));
    const bombs = archivesOf(Buffer.alloc(BOMB_OCTETS, ' ')).slice(0, 2);
    const reached = { content: 0, refused: 0, 'not packed': 0, 'too large': 0 };
    return {
      reached,
      // The pool of zlib has four threads.
      atOnce: 4,
      show: ({ packed }: PackedInput) => packed.toString('hex'),
      mutate: (random: SeededRandom): PackedInput => {
        const { packed, content } = random.pick(archives);
        if (random.chance(0.02)) return { packed, content };
        const from = random.chance(0.01) ? random.pick(bombs) : packed;
        return {
          packed: changeOctets(
            from,
            archives.map((archive) => archive.packed),
            random,
          ),
          content: null,
        };
      },
      async run({ packed, content }: PackedInput) {
        const unpacked = await unpack(packed, LIMIT_OCTETS);
        reached[unpacked === null ? 'not packed' : unpacked.kind]++;
        if (unpacked?.kind === 'refused' && unpacked.reason.includes('more than')) reached['too large']++;
        if (content !== null) {
          return unpacked?.kind === 'content' && unpacked.content.equals(content) ? null : 'a good one was refused';
        }
        if (unpacked === null) return null;
        if (unpacked.kind === 'refused') return unpacked.reason === '' ? 'refused without a reason' : null;
        if (unpacked.content.length > LIMIT_OCTETS) return `unpacked to ${unpacked.content.length} octets`;
        const xml = unpacked.content.toString('utf8');
        return readingProblem(xml, readDmarcReport(xml));
      },
    };
  },
};

function archivesOf(content: Buffer): Buffer[] {
  return [gzipSync(content), zipOf('a.xml', content, deflateRawSync(content), 8), zipOf('a.xml', content, content, 0)];
}

const NUMBERS = [0, 1, 2, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

/** Most of it near the two ends, where the headers are. */
function changeOctets(octets: Buffer, others: readonly Buffer[], random: SeededRandom): Buffer {
  const changed = Buffer.from(octets);
  const place = () => {
    const near = random.below(Math.min(70, changed.length));
    return random.chance(0.2) ? random.below(changed.length) : random.chance(0.4) ? near : changed.length - 1 - near;
  };
  for (let change = 1 + random.below(4); change > 0; change--) {
    const at = place();
    const number = random.pick(NUMBERS);
    if (random.chance(0.4)) changed[at] = random.below(256);
    else if (at + 4 <= changed.length && random.chance(0.5)) changed.writeUInt32LE(number, at);
    else if (at + 2 <= changed.length) changed.writeUInt16LE(number & 0xffff, at);
  }
  if (random.chance(0.1)) return changed.subarray(0, random.below(changed.length));
  return random.chance(0.1) ? Buffer.concat([changed, random.pick(others)]) : changed;
}
