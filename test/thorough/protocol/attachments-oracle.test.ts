// Random messages with attachments, as mailparser and both parsers of Python's email package read them: every name, type
// and byte as it was given, and text and HTML too. The seed is printed; SEED=… runs it again, MESSAGES=… says how many.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { simpleParser } from 'mailparser';
import t from 'tap';
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { withCrlf } from '../../../src/protocol/mail/compose/lean-body.ts';
import { comparable } from '../../protocol/mail/mailparser-files.ts';
import { type PythonMail, readByPython } from '../../protocol/mail/python-reader.ts';
import { randomAttachments } from '../../protocol/mail/random-attachments.ts';
import { randomMessage } from '../../protocol/mail/random-messages.ts';
import { composeWhole, type SampleInput } from '../../protocol/mail/sample-messages.ts';
import { testFolder } from '../../support/test-folder.ts';

const MESSAGES = Number(process.env.MESSAGES ?? 2000);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);
/** What Python gets at once. */
const BATCH = 250;

type Input = SampleInput & { attachments: MailAttachment[] };

function randomInput(seed: number): Input {
  const message = randomMessage(seed);
  // Some have neither text nor HTML.
  const content = seed % 50 === 0 ? { text: null, html: null } : {};
  return { ...message, ...content, attachments: randomAttachments(seed) };
}

/** The files for the HTML come first. */
function filesOf({ html, attachments }: Input) {
  const isInline = ({ contentId }: MailAttachment) => html !== null && contentId !== null;
  return [...attachments.filter(isInline), ...attachments.filter((file) => !isInline(file))].map((file) => ({
    filename: file.filename,
    type: file.contentType.split(';', 1)[0]!,
    contentId: file.contentId,
    disposition: isInline(file) && !file.contentType.startsWith('text/') ? 'inline' : 'attachment',
    content: file.content.toString('base64'),
  }));
}

type Files = ReturnType<typeof filesOf>;

async function seenByMailparser(raw: Buffer): Promise<Files> {
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  const { attachments } = await simpleParser(raw, options);
  return attachments.map(({ filename = '', contentType, cid, contentDisposition = '', content }) => {
    const [contentId, disposition] = [cid ?? null, contentDisposition];
    return { filename, type: contentType, contentId, disposition, content: content.toString('base64') };
  });
}

function partsOf(input: Input): string[] {
  return [input.text, input.html].flatMap((part) => (part ? [Buffer.from(withCrlf(part)).toString('base64')] : []));
}

function seenByPython({ leaves, defects }: PythonMail, { attachments }: Input) {
  // In the order of the message: files come after text and HTML.
  const parts = leaves.slice(0, leaves.length - attachments.length).map(({ content }) => content);
  const files = leaves.slice(leaves.length - attachments.length);
  return {
    parts,
    files: files.map(({ filename, type, contentId, disposition, content }) => ({
      ...{ filename, type, contentId: contentId?.slice(1, -1) ?? null, disposition, content },
    })),
    typeNames: files.map(({ typeName }) => typeName),
    defects: [...defects, ...leaves.flatMap((leaf) => leaf.defects)],
  };
}

function expectedOfPython(input: Input): ReturnType<typeof seenByPython> {
  const files = filesOf(input);
  return { parts: partsOf(input), files, typeNames: files.map(({ filename }) => filename), defects: [] };
}

/** What no server may have to put up with. A type, parameter or content ID that is longer than a line stays whole. */
function flawsOf(raw: Buffer): string[] {
  const body = raw.toString('latin1', raw.indexOf('\r\n\r\n'));
  const tooLong = (line: string) =>
    line.length > 76 && !/^(Content-ID: <\S+>|Content-Type: [\w./-]+;| [\w-]+=\w+;)$/.test(line);
  return [
    /\r(?!\n)|(?<!\r)\n/.test(body) ? 'a bare CR or LF' : '',
    /[^\t\r\n -\x7f]/.test(body) ? 'not ASCII' : '',
    ...body.split('\r\n').filter(tooLong),
  ].filter((flaw) => flaw !== '');
}

t.test(`${MESSAGES} random messages with attachments (SEED=${SEED})`, async (t) => {
  const folder = testFolder(t);
  let wrong = 0;
  let noPython: string | false = false;
  const compare = (seed: number, reader: string, seen: unknown, expected: unknown) => {
    if (isDeepStrictEqual(seen, expected) || wrong >= 3) return;
    wrong++;
    t.strictSame(seen, expected, `${reader}: SEED=${seed} MESSAGES=1`);
  };
  for (let first = SEED; first < SEED + MESSAGES && wrong < 3; first += BATCH) {
    const count = Math.min(BATCH, SEED + MESSAGES - first);
    const inputs = Array.from({ length: count }, (_, index) => randomInput(first + index));
    const raws: Buffer[] = [];
    for (const [index, input] of inputs.entries()) {
      const { raw } = await composeWhole(input);
      raws.push(raw);
      compare(first + index, 'lines', flawsOf(raw), []);
      const files = filesOf(input);
      const seen = comparable(await seenByMailparser(raw), files);
      compare(first + index, 'mailparser', seen, comparable(files, files));
    }
    const batchFolder = join(folder, `${first}`);
    mkdirSync(batchFolder);
    const readings = readByPython(batchFolder, raws);
    if (typeof readings === 'string') {
      noPython = readings;
      continue;
    }
    for (const [index, input] of inputs.entries()) {
      for (const [parser, mail] of Object.entries(readings[index]!)) {
        compare(first + index, `Python, ${parser}`, seenByPython(mail, input), expectedOfPython(input));
      }
    }
  }
  t.equal(wrong, 0, `note: SEED=${SEED} MESSAGES=${MESSAGES}`);
  await t.test('Python has read them too', { skip: noPython }, async () => {});
});
