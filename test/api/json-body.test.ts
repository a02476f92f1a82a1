// Bodies as bytes: what is JSON and what is not, with JSON.parse as the judge, and large bodies,
// whose `data` must not be built on the thread that serves everybody.
import t from 'tap';
import { pathInWords } from '../../src/api/field-of-any-size.ts';
import { type BodyForm, type JsonObject, parseJsonObject } from '../../src/api/json-body.ts';
import { type MemberPath, scanJson } from '../../src/base/text/json-scan.ts';
import { JsonText } from '../../src/base/text/json-text.ts';
import { type JsonTree, nodesOf, treeOf, writeTree } from '../fuzz/json-tree.ts';
import { SeededRandom } from '../fuzz/seeded-random.ts';
import { ProcessorTime } from '../support/patience.ts';

const LARGE_CHARS = 64 * 1024;
const padding = ' '.repeat(LARGE_CHARS);

function read(text: string): JsonObject | string {
  const result = parseJsonObject(Buffer.from(text));
  return 'object' in result ? result.object : `${result.refusal.refused}: ${result.refusal.message}`;
}

/** What the body says, however it is held. */
function built(given: JsonObject | string): unknown {
  if (typeof given === 'string') return given.replace(/:.*/s, '');
  const data = given.data instanceof JsonText ? JSON.parse(given.data.text) : given.data;
  return 'data' in given ? { ...given, data } : given;
}

function judged(text: string): unknown {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : 'validation_failed';
  } catch {
    return 'invalid_json';
  }
}

const DOCUMENTS = [
  ...['{}', '[]', '""', '0', 'null', '{"data":1}', '{"data":{}}', '{"data":[1,{"data":2}],"a":"b"}'],
  ...['{"data":1,"data":{"x":[]}}', '{"d\\u0061ta":{"a":1}}', '{"data" : null , "x":{"data":1}}', '{"datas":1}'],
  ...['{"x":[{"data":[]}],"data":"\\"}"}', '{"data":{"a":[1,2,{"b":null}]},"to":["a"]}', '{"data":-0.5e+10}'],
  ...['{"a":1,}', '{"a" 1}', '{,}', '[1,]', '[1 2]', '{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '-'],
  ...['{"a":"\\x"}', '{"a":"\\u00g0"}', '{"a":"\n"}', '{"a":"', '{"a":"\\', '{"a', '{"a"', '{"a":', '{"a":1', '{', ''],
  ...['[', ']', '{]', '[}', '{"a":1]', '{}{}', '{} x', '\ufeff{}', '\u00a0{}', '\f{}', '\v{}', '{a:1}', "{'a':1}"],
  ...['tru', 'truex', 'nul', 'NaN', 'Infinity', '{"a":undefined}', '{"a":\u2028"b"}', '{"a":"\u2028"}', '{"":0}'],
  ...['{"__proto__":{"data":1},"data":{"__proto__":2}}', `${'['.repeat(5000)}${']'.repeat(5000)}`, '{"data":[}'],
];

t.test('a large body says what a small one says', async (t) => {
  for (const text of DOCUMENTS) {
    const shown = JSON.stringify(text)
      .slice(0, 40)
      .replace(/[^ -~]/g, '?');
    t.same(built(read(text)), judged(text), `small: ${shown}`);
    for (const large of [`${text}${padding}`, `${padding}${text}`]) {
      t.same(built(read(large)), judged(large), `large: ${shown}`);
    }
  }
});

/** Replaces a few characters by others that mean something in JSON, or leaves a tree as it is. */
function damaged(text: string, random: SeededRandom): string {
  let result = text;
  for (let count = random.below(3); count > 0; count--) {
    const at = random.below(result.length + 1);
    const put = random.pick(['', '"', ',', ':', '[', ']', '{', '}', '\\', '0', '-', '.', 'e', ' ', 'null', '\n', '\0']);
    result = result.slice(0, at) + put + result.slice(at + random.below(2));
  }
  return result;
}

function randomTree(random: SeededRandom, depth = 0): JsonTree {
  if (depth > 4 || random.chance(0.5)) {
    return treeOf(random.pick<unknown>([0, -1.5e-7, true, null, '', 'data', 'a"\\\n\u00fc😀', [], {}]));
  }
  const several = random.times(random.below(5), () => randomTree(random, depth + 1));
  if (random.chance(0.4)) return { kind: 'array', items: several };
  return {
    kind: 'object',
    members: several.map((member) => [random.pick(['data', 'a', 'b', '', '__proto__']), member]),
  };
}

t.test('random documents, whole and damaged, are read as JSON.parse reads them', async (t) => {
  const seed = Date.now() % 1_000_000;
  let valid = 0;
  for (let number = 0; number < 20_000; number++) {
    const random = new SeededRandom(seed * 1000 + number);
    const tree = randomTree(random);
    const text = damaged(writeTree(tree, random), random);
    const wanted = judged(text);
    const scan = scanJson(text, ['data']);
    const again = `seed ${seed}, number ${number}: ${text}`;
    if ((scan.kind === 'valid') !== (wanted !== 'invalid_json')) return t.fail(again);
    if (scan.kind === 'invalid') continue;
    valid++;
    if (number % 8 > 0) continue; // a large body takes its time
    const [large, small] = [built(read(text + padding)), built(read(text))];
    if (JSON.stringify(large) !== JSON.stringify(small)) return t.fail(`${again}: ${JSON.stringify([large, small])}`);
    if (text === writeTree(tree, random) && nodesOf(tree).length < scan.values) return t.fail(`too many: ${again}`);
  }
  t.ok(valid > 2000 && valid < 18_000, `${valid} of 20,000 were valid, seed ${seed}`);
});

/** As the scanner has to count them: a value on the path is one, whatever is in it. */
function valuesOutside(tree: JsonTree, path: MemberPath): number {
  if (path.length === 0) return 1;
  const [step, ...further] = path;
  const inside = (child: JsonTree, isOnPath: boolean) =>
    isOnPath ? valuesOutside(child, further) : nodesOf(child).length;
  const counts =
    tree.kind === 'object'
      ? tree.members.map(([name, child]) => inside(child, name === step))
      : tree.kind === 'array'
        ? tree.items.map((child) => inside(child, step === null))
        : [];
  return counts.reduce((sum, count) => sum + count, 1);
}

/** Every JsonText parsed. */
function revived(value: unknown): unknown {
  if (value instanceof JsonText) return JSON.parse(value.text);
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revived(member)]));
}

function treeOnPath(random: SeededRandom, path: MemberPath): JsonTree {
  const [step, ...further] = path;
  if (step === undefined || random.chance(0.1)) return randomTree(random, random.below(5));
  if (step === null) {
    return { kind: 'array', items: random.times(random.below(4), () => treeOnPath(random, further)) };
  }
  const name = () => random.pick([step, step, 'data', 'emails', 'template', 'variables', 'a']);
  const members = random.times(1 + random.below(3), (): [string, JsonTree] => [name(), treeOnPath(random, further)]);
  return { kind: 'object', members };
}

const PATHS: MemberPath[] = [
  ['data'],
  ['emails', null, 'data'],
  ['template', 'variables'],
  [null, 'template', 'variables'],
];

for (const path of PATHS) {
  t.test(`fields at ${pathInWords(path)} stay text and count as one value each`, async (t) => {
    const seed = Date.now() % 1_000_000;
    const form: BodyForm = { ofAnySize: path, ...(path[0] === null && { listAs: 'list' }) };
    let lifted = 0;
    for (let number = 0; number < 400; number++) {
      const random = new SeededRandom(seed * 1000 + number);
      const tree = treeOnPath(random, path);
      const text = writeTree(tree, random);
      const again = `seed ${seed}, number ${number}: ${text}`;
      const scan = scanJson(text, path);
      if (scan.kind === 'invalid') return t.fail(again);
      lifted += scan.spans.length;
      if (scan.values !== valuesOutside(tree, path)) return t.fail(`${scan.values} values; ${again}`);
      const [large, small] = [text + padding, text].map((one) => parseJsonObject(Buffer.from(one), form));
      if (JSON.stringify(revived(large)) !== JSON.stringify(small)) return t.fail(again);
    }
    t.ok(lifted > 100, `${lifted} fields, seed ${seed}`);
  });
}

t.test('a place is named, in large bodies too', async (t) => {
  t.equal(read(`{"a":1,}${padding}`), 'invalid_json: The request body is not valid JSON, at position 7.');
  t.equal(
    read(`{"a":"${'x'.repeat(LARGE_CHARS)}`),
    'invalid_json: The request body is not valid JSON, at position 65542.',
  );
});

t.test('besides data there is no room for very many values', async (t) => {
  const values = (count: number) => `[${Array(count - 1).fill('""')}]`;
  t.match(read(`{"x":${values(9_998)}${padding}}`), { x: { length: 9_997 } });
  t.match(read(`{"x":${values(20_000)}${padding}}`), /^validation_failed: .* 20001 values outside data; .* 10000\./);
  t.match(read(`{${Array(10_001).fill('"data":0')}${padding}}`), /^validation_failed: .* 10002 values outside data/);
  t.match(read(`{"data":${values(20_000)}${padding}}`), { data: JsonText });
});

t.test('where lists of bytes are allowed, they are no values', async (t) => {
  const large = (text: string) => parseJsonObject(Buffer.from(text + padding), { listsOfBytes: true });
  const numbers = (count: number, number = '7') => `[${Array(count).fill(number)}]`;
  t.match(large(`{"x":[{"y":${numbers(20_000)}},${numbers(20_000, '-1.5')}]}`), {
    object: { x: [{ y: { length: 20_000 } }] },
  });
  const refusal = { message: /20002 values/ };
  t.match(large(`{"x":${numbers(20_000, '[7]')}}`), { refusal }, 'the lists themselves are');
  t.match(large(`{"x":${numbers(20_000, '"7"')}}`), { refusal }, 'other values in lists are');
  t.match(large(`{${Array.from({ length: 20_001 }, (_, n) => `"${n}":7`)}}`), { refusal }, 'numbers in objects are');
  t.match(large(`{"x":[7,]}`), { refusal: { refused: 'invalid_json' } });
});

t.test('a body that is a list', async (t) => {
  const read = (text: string) => parseJsonObject(Buffer.from(text), { listAs: 'emails' });
  const refusal = { refused: 'validation_failed', message: 'The request body must be a JSON array.' };
  for (const space of ['', padding]) {
    t.same(read(`[1,{"a":2}]${space}`), { object: { emails: [1, { a: 2 }] } });
    for (const other of ['{"emails":[1]}', 'null', '"x"', '7']) t.match(read(other + space), { refusal }, other);
    for (const broken of ['[1],"x":[2]', '[1]]', '[1']) {
      t.match(read(broken + space), { refusal: { refused: 'invalid_json' } }, broken);
    }
  }
});

t.test('a body full of names holds nobody up', async (t) => {
  const names = Array.from({ length: 550_000 }, (_, n) => `"${n.toString(36)}":0`);
  const objects: Record<string, string> = {
    data: `{"data":{${names}}}`,
    'unknown names': `{${names}}`,
    headers: `{"headers":{${names}}}`,
    'broken at its end': `{"data":{${names}}`,
  };
  for (const [about, text] of Object.entries(objects)) {
    const bytes = Buffer.from(text);
    // Both in turn, in processor time, and the best of three: machines are busy.
    const times = { built: Number.POSITIVE_INFINITY, walked: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 3; round++) {
      times.built = Math.min(
        times.built,
        timeMs(() => judged(text)),
      );
      times.walked = Math.min(
        times.walked,
        timeMs(() => parseJsonObject(bytes)),
      );
    }
    const [walked, built] = [times.walked.toFixed(0), times.built.toFixed(0)];
    t.ok(times.walked * 2 < times.built, `${about}: ${walked} ms; building it takes ${built} ms`);
    t.comment(`${about}: ${walked} ms; building it takes ${built} ms`);
  }
});

function timeMs(work: () => void): number {
  const time = new ProcessorTime();
  work();
  return time.usedMs;
}
