// Our composer against nodemailer's MailComposer, which gets the same message as a whole, names and
// addresses too: a reader must find the same header fields, the same parts in the same encodings
// and the same text in both. The seed is printed; SEED=… runs it again, MESSAGES=… says how many.
import { isDeepStrictEqual } from 'node:util';
import { simpleParser } from 'mailparser';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import t from 'tap';
import { parseAddress } from '../../../src/protocol/mail/addresses/address.ts';
import { chooseComposer } from '../../../src/protocol/mail/compose/lean-body.ts';
import { randomMessage } from '../../protocol/mail/random-messages.ts';
import { composeWhole, type SampleInput } from '../../protocol/mail/sample-messages.ts';

const MESSAGES = Number(process.env.MESSAGES ?? 10_000);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

function composeByOracle(input: SampleInput): Promise<Buffer> {
  // Which it leaves to its caller.
  const withCrlf = (text: string | null) => text?.replace(/\r\n?|\n/g, '\r\n');
  const from = parseAddress(input.from.address);
  const composer = new MailComposer({
    ...{ from: input.from, to: input.to, subject: input.subject, date: input.date },
    text: withCrlf(input.text),
    html: withCrlf(input.html),
    messageId: `<${input.messageId}@${from.ok && from.address.asciiDomain}>`,
    headers: input.headers.map(([key, value]) => ({ key, value })),
    newline: 'windows',
  });
  return composer.compile().build();
}

interface Part {
  type: string;
  encoding: string;
  parts: Part[];
}

/** The structure alone, without an interest in the text. */
function structureOf(entity: string): Part {
  const end = entity.indexOf('\r\n\r\n');
  const header = entity.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const fieldValue = (name: string) => new RegExp(`^${name}: *(.*)$`, 'im').exec(header)?.[1] ?? '';
  const boundary = /boundary="([^"]+)"/.exec(fieldValue('Content-Type'))?.[1];
  const parts = boundary === undefined ? [] : entity.slice(end + 2).split(`\r\n--${boundary}`);
  const type = fieldValue('Content-Type').replace(/ *boundary="[^"]+"/, '');
  const children = parts.slice(1, -1).map((part) => structureOf(part.replace(/^\r\n/, '')));
  return { type, encoding: fieldValue('Content-Transfer-Encoding'), parts: children };
}

async function seenByReader(raw: Buffer) {
  const skips = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true };
  const { headers, text, html, attachments } = await simpleParser(raw, skips);
  const fields: Record<string, unknown> = Object.fromEntries(headers);
  // Its boundary is everybody's own.
  delete fields['content-type'];
  // Nobody but the reader of a subject decodes its words.
  const words = fields['x-words'];
  if (typeof words === 'string') fields['x-words'] = (await simpleParser(`Subject: ${words}\r\n\r\n`)).subject;
  return { fields, text, html, attachments, structure: structureOf(raw.toString('latin1')) };
}

const linesOf = (text: string) => text.split('\r\n');

/** RFC 5322 section 2.1.1 recommends 78; a word that has no blank inside may be longer. */
const isUnfolded = (line: string) => line.length > 78 && !/^([^ ]+:)? ?[^ ]+$/.test(line);

/** What no reader may have to put up with; empty when all is well. */
function flawsOf(raw: Buffer): string[] {
  const text = raw.toString('latin1');
  const [header = ''] = text.split('\r\n\r\n', 1);
  const lines = linesOf(text);
  return [
    /\r(?!\n)|(?<!\r)\n/.test(text) ? 'a bare CR or LF' : '',
    !text.endsWith('\r\n') ? 'the last line is not ended' : '',
    lines.some((line) => line.length > 998) ? 'a line of more than 998 octets' : '',
    linesOf(header).some(isUnfolded) ? 'a line of the header is not folded' : '',
    // RFC 2047 section 2.
    /=\?utf-8\?.\?[^?]{64,}\?=/i.test(header) ? 'an encoded word of more than 75 characters' : '',
    linesOf(header).some((line) => /=\?utf-8\?/i.test(line) && line.length > 76) ? 'encoded words, and over 76' : '',
    linesOf(text.slice(header.length)).some((line) => line.length > 76) ? 'a line over 76 in the body' : '',
    /[^\t\r\n -\x7f]/.test(text.slice(header.length)) ? 'not ASCII in the body' : '',
    /\r\n[ \t]+(\r\n|$)/.test(header) ? 'a line of white space alone in the header' : '',
  ].filter((flaw) => flaw !== '');
}

t.test(`${MESSAGES} random messages read like MailComposer's (SEED=${SEED})`, async (t) => {
  const lowerDomain = (input: SampleInput, key: 'from' | 'to') => {
    const { name, address } = input[key];
    const at = address.lastIndexOf('@');
    return { name, address: address.slice(0, at) + address.slice(at).toLowerCase() };
  };
  let wrong = 0;
  for (let index = 0; index < MESSAGES && wrong < 3; index++) {
    const random = randomMessage(SEED + index);
    // The oracle writes domains in lower case, we as they were given.
    const input = { ...random, from: lowerDomain(random, 'from'), to: lowerDomain(random, 'to') };
    if (chooseComposer(input).decision !== 'lean') throw new Error('the random message is not a common one');
    const [raw, oracle] = [(await composeWhole(input)).raw, await composeByOracle(input)];
    const [ours, theirs] = [await seenByReader(raw), await seenByReader(oracle)];
    const flaws = flawsOf(raw);
    if (isDeepStrictEqual(ours, theirs) && flaws.length === 0) continue;
    wrong++;
    t.strictSame({ ...ours, flaws }, { ...theirs, flaws: [] }, `SEED=${SEED + index} MESSAGES=1`);
  }
  t.equal(wrong, 0, `note: SEED=${SEED} MESSAGES=${MESSAGES}`);
});
