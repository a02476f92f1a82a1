// Ids: UUIDv7 in lower case that never repeat and never go backwards.
import t from 'tap';
import { bytesToUuid, IdSource, isUuid, uuidToBytes } from '../../src/base/ids.ts';

const NOW = Date.UTC(2026, 0, 1);
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The milliseconds since 1970 that stand in the first 48 bits (RFC 9562 section 5.7). */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

function take(ids: IdSource, count: number): string[] {
  return Array.from({ length: count }, () => ids.next());
}

function isAscending(ids: string[]): boolean {
  return ids.every((id, n) => n === 0 || ids[n - 1]! < id);
}

t.test('an id is a version 7 UUID of its time', async (t) => {
  const before = Date.now();
  const id = new IdSource().next();
  t.match(id, V7);
  t.ok(timeOf(id) >= before && timeOf(id) <= Date.now());
  t.equal(timeOf(new IdSource(() => NOW).next()), NOW);
});

t.test('ids of one source never repeat and sort as they were made', async (t) => {
  const ids = take(new IdSource(), 50_000);
  t.equal(new Set(ids).size, ids.length);
  t.ok(isAscending(ids));
  t.ok(ids.every((id) => V7.test(id)));
});

t.test('a clock that stands still runs ahead a little', async (t) => {
  const ids = take(new IdSource(() => NOW), 10_000);
  t.ok(isAscending(ids));
  t.equal(timeOf(ids.at(-1)!), NOW + 2, '4,096 ids for each millisecond');
});

t.test('a clock that goes back does not take ids with it', async (t) => {
  let now = NOW;
  const source = new IdSource(() => now);
  const ids: string[] = [];
  for (const step of [0, -3_600_000, -1, 5000, -86_400_000, 10]) {
    now += step;
    ids.push(...take(source, 5));
  }
  t.ok(isAscending(ids));
  now = NOW + 60_000;
  t.equal(timeOf(source.next()), now, 'and it is followed again when it has caught up');
});

t.test('two sources in one millisecond do not meet', async (t) => {
  const one = take(new IdSource(() => NOW), 4000);
  const two = take(new IdSource(() => NOW), 4000);
  t.equal(new Set([...one, ...two]).size, 8000);
});

t.test('bytes and text are the same id', async (t) => {
  const id = new IdSource().next();
  t.equal(uuidToBytes(id).length, 16);
  t.equal(bytesToUuid(uuidToBytes(id)), id);
  t.equal(bytesToUuid(uuidToBytes(id.toUpperCase())), id, 'in lower case');
  const padded = Buffer.concat([Buffer.alloc(3), uuidToBytes(id), Buffer.alloc(5)]);
  t.equal(bytesToUuid(new Uint8Array(padded.buffer, padded.byteOffset + 3, 16)), id, 'a view into something larger');
  const [older, younger] = take(new IdSource(), 2) as [string, string];
  t.equal(Buffer.compare(uuidToBytes(older), uuidToBytes(younger)), -1, 'bytes sort as the text does');
});

t.test('any hyphenated UUID is one', async (t) => {
  for (const text of [
    '00000000-0000-0000-0000-000000000000',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'F47AC10B-58CC-1372-F567-0E02B2C3D479',
  ]) {
    t.ok(isUuid(text), text);
  }
  for (const text of [
    '',
    'f47ac10b58cc4372a5670e02b2c3d479',
    '{f47ac10b-58cc-4372-a567-0e02b2c3d479}',
    'f47ac10b-58cc-4372-a567-0e02b2c3d47',
    'f47ac10b-58cc-4372-a567-0e02b2c3d4790',
    'g47ac10b-58cc-4372-a567-0e02b2c3d479',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479\n',
  ]) {
    t.notOk(isUuid(text), JSON.stringify(text));
  }
});
