// Random calls through the whole daemon: what arrives at the receiving server says to mailparser and to both parsers of
// Python's email package what the call said, to each recipient what it may see, and both its signatures hold before two
// verifiers. The seed is printed; SEED=… runs it again, CALLS=… says how many.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type AddressObject, simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import { comparable } from '../../protocol/mail/mailparser-files.ts';
import { type PythonMail, readByPython } from '../../protocol/mail/python-reader.ts';
import { signingRecords, verifyByMailauth, verifyByPerl } from '../../support/mail-dkim.ts';
import { testFolder } from '../../support/test-folder.ts';
import { messageIdOf, publish, registerSender, startWorld } from '../../support/world.ts';
import { type ExpectedMail, encoded, type Mailbox, randomCall } from './random-calls.ts';

const CALLS = Number(process.env.CALLS ?? 2000);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);
const CALLS_AT_ONCE = 20;
/** What Python gets at once. */
const BATCH = 250;
/** Mail::DKIM needs 50 ms for each. */
const READ_BY_PERL = 100;
const MOST_SHOWN = 3;
const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';

interface Arrived {
  seed: number;
  raw: Buffer;
  recipient: string;
  expected: ExpectedMail;
}

t.test(`${CALLS} random calls (SEED=${SEED})`, async (t) => {
  const { arrived, keys } = await sendAll(t);
  const faults = new Faults(t);
  for (const mail of arrived) {
    faults.compare(mail, 'the envelope', mail.recipient, mail.expected.recipient);
    const text = mail.raw.toString('latin1');
    faults.compare(
      mail,
      'hidden',
      mail.expected.hidden.filter((address) => text.includes(address)),
      [],
    );
    faults.compare(mail, 'mailparser', await seenByMailparser(mail), expectedOfMailparser(mail.expected));
    faults.compare(mail, 'mailauth', await verifyByMailauth(mail.raw, keys), ['pass', 'pass']);
    if (faults.areEnough) break;
  }
  const noPython = readWithPython(testFolder(t), arrived, faults);
  await t.test('Python has read them too', { skip: noPython }, async () => {});
  const some = arrived.slice(0, READ_BY_PERL).map(({ raw }) => raw);
  const verdicts = verifyByPerl(testFolder(t), some, keys);
  await t.test('Mail::DKIM finds both signatures', { skip: typeof verdicts === 'string' && verdicts }, async (t) => {
    t.same(verdicts, Array(some.length).fill(['pass', 'pass', 'pass']));
  });
  t.equal(faults.count, 0, `note: SEED=${SEED} CALLS=${CALLS}, ${arrived.length} messages`);
});

class Faults {
  readonly #t: Test;
  count = 0;

  constructor(t: Test) {
    this.#t = t;
  }

  get areEnough(): boolean {
    return this.count >= MOST_SHOWN;
  }

  compare({ seed }: Arrived, reader: string, seen: unknown, expected: unknown): void {
    if (this.areEnough || isDeepStrictEqual(seen, expected)) return;
    this.count++;
    this.#t.strictSame(seen, expected, `${reader}: SEED=${seed} CALLS=1`);
  }
}

async function sendAll(t: Test): Promise<{ arrived: Arrived[]; keys: Map<string, string> }> {
  const { dns, sink, postrider } = await startWorld(t);
  const daemon = await postrider.serve();
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const sender = await registerSender({ dns, postrider }, daemon);
  const expected = new Map<string, { seed: number; expected: ExpectedMail }>();
  let next = SEED;
  const caller = async () => {
    while (next < SEED + CALLS) {
      const seed = next++;
      const call = randomCall(seed, sender.domain);
      const { status, body } = await daemon.call(sender.key, 'POST /emails', { body: call.body });
      if (status !== 202) throw new Error(`SEED=${seed}: ${status} ${JSON.stringify(body)}`);
      const ids = body.message_ids as string[];
      if (ids.length !== call.expected.length) throw new Error(`SEED=${seed}: ${ids.length} messages`);
      for (const [index, id] of ids.entries()) expected.set(id, { seed, expected: call.expected[index]! });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
  const mails = await sink.received(expected.size);
  const arrived = mails.map(({ raw, to }) => ({ raw, recipient: to, ...expected.get(messageIdOf(raw))! }));
  t.equal(new Set(mails.map(({ raw }) => messageIdOf(raw))).size, expected.size, 'each of them once');
  return { arrived, keys: await signingRecords(dns, arrived[0]!.raw) };
}

interface Seen extends Pick<ExpectedMail, 'subject' | 'from' | 'to' | 'cc' | 'replyTo' | 'files'> {
  parts?: string[];
}

async function seenByMailparser({ raw, expected }: Arrived): Promise<Seen> {
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  const { subject = '', from, to, cc, replyTo, attachments } = await simpleParser(raw, options);
  const files = attachments.map(({ filename = '', contentType, content }) => {
    return { filename, type: contentType, content: content.toString('base64') };
  });
  return {
    ...{ subject, from: mailboxesOf(from)!, to: mailboxesOf(to)!, cc: mailboxesOf(cc), replyTo: mailboxesOf(replyTo) },
    files: comparable(files, expected.files),
  };
}

function mailboxesOf(field: AddressObject | AddressObject[] | undefined): Mailbox[] | null {
  const list = [field ?? []].flat().flatMap(({ value }) => value);
  return list.length === 0 ? null : list.map(({ name, address = '' }) => [name, address]);
}

function expectedOfMailparser({ recipient, hidden, parts, files, ...rest }: ExpectedMail): Seen {
  return { ...rest, files: comparable(files, files) };
}

/** Why there is no Python, or false. */
function readWithPython(folder: string, arrived: readonly Arrived[], faults: Faults): string | false {
  for (let first = 0; first < arrived.length && !faults.areEnough; first += BATCH) {
    const batch = arrived.slice(first, first + BATCH);
    const batchFolder = join(folder, `${first}`);
    mkdirSync(batchFolder);
    const raws = batch.map(({ raw }) => raw);
    const readings = readByPython(batchFolder, raws, '--fields');
    if (typeof readings === 'string') return readings;
    for (const [index, mail] of batch.entries()) {
      for (const [parser, reading] of Object.entries(readings[index]!)) {
        const read = parser === 'default' ? withoutBlanks : (same: Seen) => same;
        const [seen, expected] = [seenByPython(reading, mail.expected), expectedOfPython(mail.expected)];
        faults.compare(mail, `Python, ${parser}`, read(seen), read(expected));
      }
    }
  }
  return false;
}

function seenByPython({ fields, leaves, defects }: PythonMail, { files }: ExpectedMail): Seen & { odd: string[] } {
  const { names, subject, From: from, To: to, Cc: cc, 'Reply-To': replyTo } = fields!;
  // In the order of the message: files come after text and HTML.
  const parts = leaves.slice(0, leaves.length - files.length);
  const found = leaves.slice(parts.length);
  const bcc = names.filter((name) => name.toLowerCase() === 'bcc');
  return {
    ...{ subject, from: from!, to: to!, cc, replyTo },
    parts: parts.map(({ content }) => encoded(Buffer.from(content, 'base64').toString())),
    files: found.map(({ filename, type, content }) => ({ filename: filename ?? '', type, content })),
    odd: [...bcc, ...defects, ...leaves.flatMap((leaf) => leaf.defects)],
  };
}

/** The new parser puts a blank between encoded words of a name, where RFC 2047 section 6.2 wants none. */
function withoutBlanks<T extends Seen>(mail: T): T {
  const bare = ([name, address]: Mailbox): Mailbox => [name.replaceAll(' ', ''), address];
  const { from, to, cc, replyTo } = mail;
  const lists = {
    from: from.map(bare),
    to: to.map(bare),
    cc: cc?.map(bare) ?? null,
    replyTo: replyTo?.map(bare) ?? null,
  };
  return { ...mail, ...lists };
}

function expectedOfPython({ recipient, hidden, ...rest }: ExpectedMail): ReturnType<typeof seenByPython> {
  return { ...rest, odd: [] };
}
