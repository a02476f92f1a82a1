// The folder of captured mail: what survives a restart, what goes when there is too much, and
// what a crash may leave behind.
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import type { CapturedMail } from '../../src/portal/captured-mails.ts';
import { type CapturedFolder, openCapturedFolder } from '../../src/sandbox/captured.ts';
import { testFolder } from '../support/test-folder.ts';

const ids = new IdSource();

function mailOf(raw: Buffer, changes: Partial<CapturedMail> = {}): CapturedMail {
  return {
    id: ids.next(),
    receivedAt: Date.parse('2026-11-20T10:00:00.123Z'),
    mailFrom: 'b1@bounces.postrider.test',
    rcptTo: ['jo@example.com'],
    sizeBytes: raw.length,
    remoteIp: '127.0.0.1',
    ehloName: 'postrider.test',
    tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    ...changes,
  };
}

async function add(folder: CapturedFolder, text: string): Promise<CapturedMail> {
  const raw = Buffer.from(text);
  const mail = mailOf(raw);
  await folder.add(mail, raw);
  return mail;
}

const emlFiles = async (dir: string) => (await readdir(dir)).filter((name) => name.endsWith('.eml')).sort();

t.test('a mail is there when all of it is', async (t) => {
  const dir = testFolder(t);
  const folder = await openCapturedFolder(dir);
  const raw = Buffer.alloc(32 * 1024 * 1024, 'a large mail\r\n');
  let isAdded = false;
  const adding = folder.add(mailOf(raw), raw).then(() => (isAdded = true));
  const seen = new Set<number>();
  while (!isAdded) {
    for (const name of await emlFiles(dir)) seen.add((await stat(path.join(dir, name))).size);
    await new Promise(setImmediate);
  }
  await adding;
  for (const size of seen) t.equal(size, raw.length, 'no program sees a part of it');
  t.same(await emlFiles(dir), [`${folder.list(null, 1)[0]!.id}.eml`]);
  await folder.close();
});

t.test('a restart finds everything again', async (t) => {
  const dir = testFolder(t);
  const before = await openCapturedFolder(dir);
  const first = await add(before, 'one');
  const second = await add(before, 'two');
  await before.close();
  const folder = await openCapturedFolder(dir);
  t.same(folder.list(null, 10), [first, second]);
  t.equal((await folder.get(second.id))?.raw.toString(), 'two');
  const third = await add(folder, 'three');
  t.same(folder.list(first.id, 10), [second, third]);
  t.same(folder.list(first.id, 1), [second]);
  t.same(folder.list(third.id, 10), []);
  t.equal(await folder.get(ids.next()), null);
  await folder.close();
});

t.test('the oldest go when there are too many, or too much of it', async (t) => {
  const dir = testFolder(t);
  const folder = await openCapturedFolder(dir, { messages: 3, octets: 1000 });
  const mails: CapturedMail[] = [];
  for (const text of ['1', '2', '3', '4', '5']) mails.push(await add(folder, text));
  t.same(folder.list(null, 10), mails.slice(2));
  t.same(
    await emlFiles(dir),
    mails.slice(2).map(({ id }) => `${id}.eml`),
  );
  t.equal(await folder.get(mails[0]!.id), null);
  t.same(folder.list(mails[0]!.id, 1), [mails[2]], 'a reader that stood at one of them goes on with what there is');
  const large = await add(folder, 'x'.repeat(999));
  t.same(folder.list(null, 10), [mails[4], large]);
  await folder.close();
  const smaller = await openCapturedFolder(dir, { messages: 1, octets: 1000 });
  t.same(smaller.list(null, 10), [large], 'after a restart with other limits too');
  await smaller.close();
});

t.test('the index does not grow without end', async (t) => {
  const dir = testFolder(t);
  const folder = await openCapturedFolder(dir, { messages: 2, octets: 1000 });
  await Promise.all(Array.from({ length: 1100 }, (_, index) => add(folder, String(index % 10))));
  const lines = (await readFile(path.join(dir, 'index.jsonl'), 'utf8')).trim().split('\n');
  t.ok(lines.length < 1010, `${lines.length} lines`);
  t.equal((await emlFiles(dir)).length, 2);
  await folder.close();
});

t.test('what a crash leaves behind', async (t) => {
  const dir = testFolder(t);
  const before = await openCapturedFolder(dir);
  const [kept, gone] = [await add(before, 'kept'), await add(before, 'gone')];
  await before.close();
  await rm(path.join(dir, `${gone.id}.eml`));
  await writeFile(path.join(dir, `${ids.next()}.eml`), 'a mail without a line');
  await writeFile(path.join(dir, 'notes.eml'), 'somebody else put this here');
  await appendFile(path.join(dir, 'index.jsonl'), '{"id":"01a1fa87-a92e-7000');
  const folder = await openCapturedFolder(dir);
  t.same(folder.list(null, 10), [kept]);
  t.same(await emlFiles(dir), [`${kept.id}.eml`, 'notes.eml'].sort());
  const added = await add(folder, 'new');
  await folder.close();
  const again = await openCapturedFolder(dir);
  t.same(again.list(null, 10), [kept, added], 'the torn line has spoilt nothing that came after it');
  await again.close();
});

t.test('a file that was deleted by hand', async (t) => {
  const dir = testFolder(t);
  const folder = await openCapturedFolder(dir);
  const mail = await add(folder, 'one');
  await rm(path.join(dir, `${mail.id}.eml`));
  t.equal(await folder.get(mail.id), null);
  await folder.close();
});
