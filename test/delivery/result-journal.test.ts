// The journal of results by itself: what is read from it after which end of a process.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { noPeer } from '../../src/base/outcome.ts';
import { type JournalResult, ResultJournal } from '../../src/delivery/outcome/result-journal.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { testFolder } from '../support/test-folder.ts';

const RESERVED_BYTES = 4 * 1024 * 1024;

function resultOf(messageId: string, response = 'ok'): JournalResult {
  const of = { messageId, tenantId: 'tenant' };
  const attempt = { ...of, attempt: 1, startedAt: 1, outcome: 'delivered' as const, peer: noPeer('dot', response) };
  return { ...of, at: 2, attempt, transition: { to: 'delivered' }, event: null };
}

function fileOf(t: Test): string {
  return path.join(testFolder(t), 'results.journal');
}

/** As the next process finds it: the one before has closed nothing. */
function reopened(t: Test, file: string): ResultJournal {
  const journal = new ResultJournal(file, silentLogger);
  t.teardown(() => journal.close());
  return journal;
}

t.test('what was added and not settled is there after the process ended in any way', async (t) => {
  const file = fileOf(t);
  const journal = reopened(t, file);
  const [one, two] = [resultOf('one'), resultOf('two')];
  t.equal(journal.add(one), true);
  t.equal(journal.add(two), true);
  t.strictSame(reopened(t, file).earlier, [one, two]);
  journal.settle(one);
  t.strictSame(reopened(t, file).earlier, [one, two], 'settled one by one: the store knows which it has');
  journal.settle(two);
  t.strictSame(reopened(t, file).earlier, []);
  journal.add(one);
  t.strictSame(reopened(t, file).earlier, [one], 'and it can be used again');
});

t.test('its room on the disk is there before it is needed, and stays', async (t) => {
  const file = fileOf(t);
  const journal = reopened(t, file);
  const { size, blocks, mode } = fs.statSync(file);
  t.equal(size, RESERVED_BYTES);
  t.ok(blocks * 512 >= RESERVED_BYTES, 'blocks are taken: no hole');
  t.equal(mode & 0o777, 0o600);
  const large = resultOf('large', 'x'.repeat(RESERVED_BYTES));
  journal.add(large);
  t.strictSame(reopened(t, file).earlier, [large], 'more than that is kept as well');
  journal.settle(large);
  t.equal(fs.statSync(file).size, RESERVED_BYTES);
});

t.test('a line that was cut off, or is damaged, does not keep back the others', async (t) => {
  const file = fileOf(t);
  const journal = reopened(t, file);
  const [one, two, three] = [resultOf('one'), resultOf('two'), resultOf('three')];
  for (const result of [one, two, three]) journal.add(result);
  const bytes = fs.readFileSync(file);
  const end = bytes.indexOf(0);
  fs.writeFileSync(file, bytes.subarray(0, end - 3));
  t.strictSame(reopened(t, file).earlier, [one, two], 'cut off');
  const second = bytes.indexOf('two');
  bytes[second - 20] = 0x22;
  bytes[second - 19] = 0x22;
  fs.writeFileSync(file, bytes);
  t.strictSame(reopened(t, file).earlier, [one, three], 'damaged');
});

t.test('what needs no journal is not kept, and a journal that cannot be written says no', async (t) => {
  const journal = reopened(t, fileOf(t));
  t.equal(
    journal.add({ ...resultOf('parked'), attempt: null, transition: { to: 'parked', reason: 'unreadable' } }),
    false,
  );
  t.equal(journal.size, 0);
  if (!fs.existsSync('/dev/full')) return;
  const full = new ResultJournal('/dev/full', silentLogger);
  t.equal(full.add(resultOf('one')), false);
  full.close();
});

t.test('what comes after its end touches no file: the next start finds out', async (t) => {
  const file = fileOf(t);
  const journal = new ResultJournal(file, silentLogger);
  const result = resultOf('one');
  journal.add(result);
  journal.close();
  // It gets the number that the journal's descriptor had.
  const other = path.join(path.dirname(file), 'other');
  const fd = fs.openSync(other, 'w');
  t.teardown(() => fs.closeSync(fd));
  journal.settle(result);
  t.equal(journal.add(resultOf('two')), false);
  journal.sync();
  t.equal(fs.statSync(other).size, 0);
  t.strictSame(reopened(t, file).earlier, [result]);
});

/** The disk denies the next call of this, and all is well again. */
function failOnce(t: Test, name: 'fdatasync' | 'fdatasyncSync' | 'writeSync'): { calls: number } {
  const works = fs[name] as (...args: unknown[]) => unknown;
  const seen = { calls: 0 };
  const fails = (...args: unknown[]) => {
    if (++seen.calls > 1) return works(...args);
    const error = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    const answer = args.at(-1);
    if (typeof answer !== 'function') throw error;
    return setImmediate(() => answer(error));
  };
  t.intercept(fs, name, { value: fails });
  return seen;
}

t.test('what is added after the file could not be synced is found', async (t) => {
  const file = fileOf(t);
  const journal = reopened(t, file);
  const [one, two] = [resultOf('one'), resultOf('two')];
  journal.add(one);
  journal.sync();
  const synced = failOnce(t, 'fdatasync');
  const waited = failOnce(t, 'fdatasyncSync');
  journal.settle(one);
  t.equal(waited.calls, 0, 'a disk that hangs does not keep the thread waiting');
  journal.add(two);
  t.strictSame(reopened(t, file).earlier, [two]);
  while (synced.calls < 1) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(reopened(t, file).earlier, [two]);
});

t.test(
  'what is added after the file could not be emptied is found, and the old lines behind it are not read',
  async (t) => {
    const file = fileOf(t);
    const journal = reopened(t, file);
    const [one, two] = [resultOf('one', 'a long reply '.repeat(50)), resultOf('two', 'a long reply')];
    const next = resultOf('next');
    journal.add(one);
    journal.add(two);
    failOnce(t, 'writeSync');
    journal.settle(one);
    journal.settle(two);
    t.strictSame(reopened(t, file).earlier, [one, two], 'the store has them');
    journal.add(next);
    const complaints: string[] = [];
    const log = { ...silentLogger, error: (_: object, text: string) => void complaints.push(text) };
    const again = new ResultJournal(file, log);
    t.teardown(() => again.close());
    t.strictSame([again.earlier, complaints], [[next], []]);
  },
);
