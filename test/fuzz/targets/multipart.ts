// What forms with files send. What is written as browsers write it is read as it was; whatever becomes of that on
// its way is read or refused, and what is read was somewhere in it.

import { parseFormBody } from '../../../src/http/form-body.ts';
import type { FormBody } from '../../../src/http/multipart.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget } from '../target.ts';
import { changeText, type Material } from '../text-mutations.ts';

const WORDS = [
  ...[
    '\r\n',
    '\r',
    '\n',
    '\r\n\r\n',
    '--',
    '\r\n--',
    '--\r\n',
    'b',
    '----b',
    '"',
    '""',
    ';',
    '; ',
    '=',
    '\\"',
    '%22',
    '\0',
    'ü',
    '🎉',
  ],
  ...[
    'Content-Disposition: form-data; name="x"',
    'content-disposition:',
    '; filename="f"',
    '; filename=',
    '; name="',
    'name=',
  ],
  ...['Content-Type: text/plain', '__proto__', 'form_token'],
];
const LONG_WORDS = [
  '\r\n--b'.repeat(10_000),
  '; name="x"'.repeat(5_000),
  ';'.repeat(50_000),
  ' '.repeat(50_000),
  '\r\n'.repeat(30_000),
];
const MATERIAL: Material = {
  seeds: ['a', 'jo@x.test\r\nann@y.test\r\n', '', 'name="x"; filename="y"'],
  words: WORDS,
  longWords: LONG_WORDS,
};
/** Of the 100 that are taken. */
const MOST_PARTS = 6;

interface Part {
  name: string;
  /** Null: a field. */
  file: string | null;
  content: string;
}

interface Sent {
  contentType: string;
  /** In octets, one to a character. */
  body: string;
  /** What must come out of it; null where it was changed on its way. */
  parts: Part[] | null;
}

export const multipartTarget: FuzzTarget = {
  name: 'multipart',
  open() {
    const reached = { written: 0, read: 0, refused: 0 };
    return {
      mutate: sentBy,
      reached,
      run({ contentType, body, parts }: Sent) {
        const octets = Buffer.from(body, 'latin1');
        const read = parseFormBody(contentType, octets);
        reached[parts !== null ? 'written' : read === null ? 'refused' : 'read']++;
        if (parts !== null) return difference('what was written and read', shown(read), shown(formOf(parts)));
        return read === null ? null : inventionIn(read, octets);
      },
      show: ({ contentType, body }: Sent) => JSON.stringify({ contentType, body }),
    };
  },
} as FuzzTarget;

function sentBy(random: SeededRandom): Sent {
  const parts = random.times(random.below(MOST_PARTS), () => partBy(random));
  const contents = parts.map(({ content }) => content).join('\n');
  let boundary = random.pick(['b', '----b', '----WebKitFormBoundaryAbC', "'()+_,-./:=?"]);
  while (contents.includes(boundary)) boundary += 'x';
  const quoted = random.chance(0.5) || /[()/:=?,]/.test(boundary) ? `"${boundary}"` : boundary;
  const contentType = `multipart/form-data; boundary=${quoted}`;
  const body = written(parts, boundary);
  if (random.chance(0.4)) return { contentType, body, parts };
  let changed = body;
  for (let changes = 1 + random.below(4); changes > 0; changes--) changed = changeText(changed, MATERIAL, random);
  const type = random.chance(0.2) ? changeText(contentType, MATERIAL, random) : contentType;
  return { contentType: type, body: changed, parts: null };
}

function partBy(random: SeededRandom): Part {
  // A percent sign in a name is not escaped by browsers: what it was cannot be told.
  const name = (least: string) =>
    `${least}${random.times(random.below(4), () => random.pick(WORDS)).join('')}`.replaceAll('%', '');
  const content = random.times(random.below(5), () => random.pick(WORDS)).join('');
  return { name: name('n'), file: random.chance(0.3) ? name('') : null, content };
}

/** The HTML standard, "multipart/form-data encoding algorithm". */
function written(parts: readonly Part[], boundary: string): string {
  const escaped = (text: string) =>
    text.replace(/\r\n|\r|\n/g, (end) => ({ '\r\n': '%0D%0A', '\r': '%0D', '\n': '%0A' })[end]!).replaceAll('"', '%22');
  const text = parts.map(({ name, file, content }) => {
    const fileName = file === null ? '' : `; filename="${escaped(file)}"\r\nContent-Type: text/csv`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${fileName}\r\n\r\n${content}\r\n`;
  });
  return Buffer.from(`${text.join('')}--${boundary}--\r\n`).toString('latin1');
}

function formOf(parts: readonly Part[]): FormBody {
  const fields = new URLSearchParams();
  const files = new Map();
  for (const { name, file, content } of parts) {
    if (file === null) fields.append(name, content);
    else files.set(name, { name: file, bytes: Buffer.from(content) });
  }
  return { fields, files };
}

function shown(form: FormBody | null) {
  return (
    form && [[...form.fields], [...form.files].map(([name, file]) => [name, file.name, file.bytes.toString('utf8')])]
  );
}

/** Nothing is read that was not sent. */
function inventionIn({ files }: FormBody, octets: Buffer): string | null {
  for (const { bytes } of files.values())
    if (!octets.includes(bytes)) return `a file of ${bytes.length} octets was made up`;
  return null;
}
