// Random mails, as applications write them, through the SMTP door of the whole daemon: what arrives at the receiving server
// is the mail to the octet, less what is taken out, with our fields in front; mailparser and both parsers of Python's email
// package read it as they read the original, and both its signatures hold before two verifiers. The seed is printed;
// SEED=… runs it again, MESSAGES=… says how many.

import { isDeepStrictEqual } from 'node:util';
import { type ParsedMail, simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import { type PythonMail, readByPython } from '../../protocol/mail/python-reader.ts';
import { DoorClient, findDoorAddress, submissionIdIn } from '../../support/door-client.ts';
import { signingRecords, verifyByMailauth, verifyByPerl } from '../../support/mail-dkim.ts';
import { testFolder } from '../../support/test-folder.ts';
import { messageIdOf, publish, registerSender, startWorld } from '../../support/world.ts';
import { type RandomMail, randomMail } from './random-mails.ts';

const MESSAGES = Number(process.env.MESSAGES ?? 2000);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);
const CONNECTIONS = 20;
/** So many are handed in, awaited and read before the next ones. */
const ROUND = 200;
const MOST_SHOWN = 3;
/** Mail::DKIM needs 50 ms for each. */
const READ_BY_PERL = 100;
const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';
const OURS = [
  'CFBL-Address',
  'CFBL-Feedback-ID',
  'DKIM-Signature',
  'DKIM-Signature',
  'Feedback-ID',
  'X-Postrider-Message-ID',
];

interface Arrived {
  seed: number;
  submissionId: string;
  raw: Buffer;
  recipient: string;
}

t.test(`${MESSAGES} random mails (SEED=${SEED})`, async (t) => {
  const door = await openDoor(t);
  let arrivedInAll = 0;
  for (let first = SEED; first < SEED + MESSAGES && t.passing(); first += ROUND) {
    await t.test(`from SEED=${first}`, async (t) => {
      const arrived = await door.handIn(first, Math.min(ROUND, SEED + MESSAGES - first));
      arrivedInAll += arrived.length;
      await readAll(t, arrived, await door.keys(arrived[0]!));
    });
  }
  t.ok(
    arrivedInAll >= MESSAGES,
    `note: SEED=${SEED} MESSAGES=${MESSAGES}, ${arrivedInAll} arrived: many at several recipients`,
  );
});

async function readAll(t: Test, arrived: readonly Arrived[], keys: ReadonlyMap<string, string>): Promise<void> {
  const faults = new Faults(t);
  for (const mail of arrived) {
    const sent = randomMail(mail.seed);
    compareOctets(mail, sent, faults);
    const [asWritten, asArrived] = [await seenByMailparser(sent.raw), await seenByMailparser(mail.raw)];
    faults.compare(mail, 'mailparser', asArrived, asWritten);
    faults.compare(mail, 'mailauth', (await verifyByMailauth(mail.raw, keys)).slice(0, 2), ['pass', 'pass']);
  }
  const noPython = readWithPython(testFolder(t), arrived, faults);
  await t.test('Python has read them too', { skip: noPython }, async () => {});
  t.equal(faults.count, 0, `${arrived.length} mails are as they were written`);
  if (arrived[0]!.seed >= SEED + ROUND) return;
  const some = arrived.slice(0, READ_BY_PERL).map(({ raw }) => raw);
  const verdicts = verifyByPerl(testFolder(t), some, keys);
  await t.test('Mail::DKIM finds both signatures', { skip: typeof verdicts === 'string' && verdicts }, async (t) => {
    // The application's own signatures stand behind ours, and fail.
    const ours = (verdicts as string[][]).map(([, ...signatures]) => signatures.slice(0, 2));
    t.same(ours, Array(some.length).fill(['pass', 'pass']));
  });
}

class Faults {
  readonly #t: Test;
  count = 0;

  constructor(t: Test) {
    this.#t = t;
  }

  /** Shows the first ones. */
  compare({ seed }: Arrived, reader: string, seen: unknown, expected: unknown): void {
    if (isDeepStrictEqual(seen, expected)) return;
    this.count++;
    if (this.count <= MOST_SHOWN) this.#t.strictSame(seen, expected, `${reader}: SEED=${seed} MESSAGES=1`);
  }
}

async function openDoor(t: Test) {
  const settings = await findDoorAddress();
  const { dns, sink, postrider } = await startWorld(t, { settings });
  const daemon = await postrider.serve();
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const sender = await registerSender({ dns, postrider }, daemon);
  const signIn = () => DoorClient.signIn(settings.submission, sender.key);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, signIn));
  t.teardown(() => {
    for (const client of clients) client.close();
  });

  /** What becomes of it: by message id. */
  async function handInOne(
    client: DoorClient,
    seed: number,
    expected: Map<string, Omit<Arrived, 'raw'>>,
  ): Promise<void> {
    const mail = randomMail(seed);
    const reply = await client.hand(mail);
    const submissionId = submissionIdIn(reply);
    if (submissionId === null) throw new Error(`SEED=${seed}: ${reply}`);
    const { body } = await daemon.call(sender.key, `GET /submissions/${submissionId}`);
    const messages = body.messages as { id: string; to: string }[];
    if (messages.length !== mail.to.length) throw new Error(`SEED=${seed}: ${messages.length} messages`);
    for (const { id, to } of messages) expected.set(id, { seed, submissionId, recipient: to });
  }

  return {
    async handIn(first: number, count: number): Promise<Arrived[]> {
      const expected = new Map<string, Omit<Arrived, 'raw'>>();
      let next = first;
      const application = async (client: DoorClient) => {
        while (next < first + count) await handInOne(client, next++, expected);
      };
      sink.mails.length = 0;
      await Promise.all(clients.map(application));
      const mails = [...(await sink.received(expected.size))];
      t.equal(new Set(mails.map(({ raw }) => messageIdOf(raw))).size, expected.size, 'each of them once');
      return mails.map(({ raw, to }) => {
        const known = expected.get(messageIdOf(raw))!;
        if (known.recipient !== to) t.equal(to, known.recipient, `the envelope: SEED=${known.seed}`);
        return { raw, ...known };
      });
    },
    /** Of our own signatures, which are all that the front has. */
    keys({ raw, seed }: Arrived): Promise<Map<string, string>> {
      return signingRecords(dns, Buffer.from(`${frontOf(raw, randomMail(seed))}\r\n`, 'latin1'));
    },
  };
}

/** The mail as it was written is the end of what arrived; in front stand our fields and those that it lacked, each once. */
function compareOctets(mail: Arrived, sent: RandomMail, faults: Faults): void {
  const text = mail.raw.toString('latin1');
  // Both together may have megabytes, which nobody wants to see.
  faults.compare(mail, 'octets', text.endsWith(endOf(sent)) || text, true);
  const front = frontOf(mail.raw, sent);
  faults.compare(mail, 'the fields in front', [...namesIn(front)].sort(), [...OURS, ...sent.added].sort());
  if (!sent.added.includes('Message-ID')) return;
  const id = /^Message-ID: <(.*)>\r$/m.exec(front)?.[1];
  faults.compare(mail, 'Message-ID', id, `${mail.submissionId}@acme.test`);
}

function endOf({ header, body }: RandomMail): string {
  return `${header}\r\n${body}`;
}

function frontOf(raw: Buffer, sent: RandomMail): string {
  return raw.toString('latin1', 0, raw.length - endOf(sent).length);
}

function namesIn(header: string): string[] {
  return [...header.matchAll(/^([!-9;-~]+):/gm)].map(([, name]) => name!);
}

/** Without what is ours in front, and what was taken out. */
async function seenByMailparser(raw: Buffer): Promise<unknown> {
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  const { text, html, attachments, subject, from, to, cc, replyTo, references }: ParsedMail = await simpleParser(
    raw,
    options,
  );
  const files = attachments.map(({ filename, contentType, contentDisposition, cid, content }) => {
    return { filename, contentType, contentDisposition, cid, content: content.toString('base64') };
  });
  return { text, html, files, subject, references, lists: [from, to, cc, replyTo] };
}

/** Why there is no Python, or false. One copy of each mail: the others differ in our own fields only, as was seen above. */
function readWithPython(folder: string, arrived: readonly Arrived[], faults: Faults): string | false {
  const copies = [...new Map(arrived.map((mail) => [mail.seed, mail])).values()];
  // It finds no header in the others.
  const read = copies.filter(({ seed }) => !randomMail(seed).isOfOldForm);
  const raws = read.flatMap(({ seed, raw }) => [randomMail(seed).raw, raw]);
  const readings = readByPython(folder, raws, '--fields');
  if (typeof readings === 'string') return readings;
  for (const [index, mail] of read.entries()) {
    const [asWritten, asArrived] = [readings[2 * index]!, readings[2 * index + 1]!];
    for (const parser of ['compat32', 'default'] as const) {
      faults.compare(mail, `Python, ${parser}`, withoutNames(asArrived[parser]), withoutNames(asWritten[parser]));
    }
  }
  return false;
}

function withoutNames({ fields, ...rest }: PythonMail): unknown {
  return { ...rest, fields: { ...fields, names: [] } };
}
