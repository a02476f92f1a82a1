// The split of processor time by part (bench/profile/): which part a sample belongs to, that times add up, and that every
// source of the product has its part.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ownerOf, partOf, type Role } from '../../bench/profile/part-of.ts';
import { OWNERS, type Part } from '../../bench/profile/parts.ts';
import { type CpuProfile, type Frame, stacksWithin } from '../../bench/profile/samples.ts';
import { profileRow, showProfile } from '../../bench/profile/show.ts';
import { ENTRIES, type Split, splitByPart } from '../../bench/profile/split.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const WRITING = 'src/store/sqlite/engine/writing-connection.ts';
const VERBS = 'src/store/sql/verbs';

/** `file function`, from the function that ran to its callers. */
function stack(...calls: string[]): Frame[] {
  return calls.map((call) => {
    const blank = call.indexOf(' ');
    return { file: call.slice(0, blank), name: call.slice(blank + 1) };
  });
}

t.test('a sample belongs to the nearest caller that has a part', async (t) => {
  const belongs = (expected: Part, calls: string[], role: Role = 'other') =>
    t.equal(partOf(stack(...calls, 'native (root)'), role), expected, calls.join(' < '));

  belongs('read', ['native get', `${VERBS}/message/contents.ts read`, 'src/delivery/courier/prepare.ts read']);
  belongs('compose', ['src/base/bounded-map.ts get', 'src/delivery/courier/prepare.ts prepare']);
  belongs('sign', ['node:internal/crypto/sig signOneShot', 'src/protocol/mail/dkim/dkim.ts signatureField']);
  belongs('hash', [
    'native hash',
    'src/protocol/mail/dkim/dkim.ts hashBody',
    'src/delivery/courier/compose-message.ts make',
  ]);
  belongs('log', ['native writeString', 'node_modules/sonic-boom/index.js write', 'src/delivery/queue/group.ts note']);
  belongs('crossing threads', ['native postMessage', 'src/delivery/queue/group.ts open']);
  const local = ['src/store/sqlite/engine/local-connection.ts cached', 'src/store/sqlite/threaded-store.ts read'];
  belongs('check', [
    'native get',
    `${VERBS}/accounts/tenants.ts findApiKeyBySecret`,
    ...local,
    'src/tenants/api-keys.ts find',
  ]);
  belongs('HTTP', ['native end', 'node_modules/hyper-express/src/components/http/Response.js send']);
});

t.test('rows that many verbs write belong to the verb, and COMMIT to none of them', async (t) => {
  const insertEvent = ['native run', `${VERBS}/message/events.ts insertEvent`];
  const run = [`${WRITING} #work`, `${WRITING} #runBare`];
  t.equal(partOf(stack(...insertEvent, `${VERBS}/queue/queue.ts finish`, ...run), 'writer'), 'record');
  t.equal(partOf(stack(...insertEvent, `${VERBS}/message/tracking.ts open`, ...run), 'writer'), 'other work');
  t.equal(partOf(stack(...insertEvent, ...run), 'writer'), 'other work', 'of a verb without a part');
  t.equal(partOf(stack('native run', `${WRITING} #commit`, `${WRITING} #tryGroup`), 'writer'), 'commit');
});

t.test('what Node does without us has its parts, too', async (t) => {
  const read = stack('node:net get', 'node:internal/stream_base_commons onStreamRead', 'native (root)');
  t.equal(partOf(read, 'courier'), 'SMTP');
  t.equal(partOf(read, 'main'), 'HTTP');
  t.equal(partOf(stack('native (garbage collector)', 'native (root)'), 'main'), 'garbage');
  for (const name of ['(program)', '(idle)', 'runMicrotasks']) {
    t.equal(partOf(stack(`native ${name}`, 'native (root)'), 'main'), 'event loop', name);
  }
});

const repository = new URL('../../', import.meta.url).href;

/** One node per chain of calls, all below the root; 1 ms between samples. */
function profileOf(samples: number[]): CpuProfile {
  const node = (id: number, functionName: string, file: string, children: number[] = []) => ({
    ...{ id, children },
    callFrame: { functionName, url: file === '' ? '' : `${repository}${file}` },
  });
  return {
    nodes: [
      node(1, '(root)', '', [2, 4]),
      node(2, 'accept', 'src/submission/submit.ts', [3]),
      node(3, 'parse', 'node_modules/ajv/dist/ajv.js'),
      node(4, '', 'src/http/reply.ts'),
    ],
    startTime: 5000,
    samples,
    timeDeltas: samples.map(() => 1000),
  };
}

t.test('only samples of the measured time count', async (t) => {
  const stacks = stacksWithin(profileOf([4, 3, 3, 2, 4]), { fromUs: 7000, toUs: 10_000 });
  t.same(
    stacks.map(({ frames, count }) => [count, ...frames.map(({ file, name }) => `${file} ${name}`)]),
    [
      [2, 'node_modules/ajv/dist/ajv.js parse', 'src/submission/submit.ts accept', 'native (root)'],
      [1, 'src/submission/submit.ts accept', 'native (root)'],
    ],
  );
});

/** Main thread, two threads without JavaScript and one that was killed: 1,000 µs, of which 960 can be split. */
function exampleSplit(processUs: number): Split {
  const used = {
    ...{ fromUs: 5000, toUs: 20_000, processUs },
    threads: new Map([
      [10, { name: 'node', us: 800 }],
      [11, { name: 'node', us: 100 }],
      [12, { name: 'v8:ProfEvntProc', us: 60 }],
      [13, { name: 'node', us: 40 }],
    ]),
  };
  const killed = { systemId: 13, entry: '/app/src/delivery/courier/worker.ts', profile: null };
  const main = { systemId: 10, entry: '/app/src/main.ts', profile: profileOf([4, 3, 3, 2]) };
  return splitByPart(used, [main, killed]);
}

t.test("a thread's samples share its processor time, and all threads add up", async (t) => {
  const { parts, ...sums } = exampleSplit(1000);
  t.same(sums, { us: 960, measuredUs: 1000, samples: 4, sampledUs: 800, unsampledUs: 40 });
  const times = Object.fromEntries(parts.filter((part) => part.us > 0).map((part) => [part.part, part.byRole]));
  const none = { main: 0, writer: 0, courier: 0, other: 0 };
  t.same(times, {
    HTTP: { ...none, main: 200 },
    check: { ...none, main: 600 },
    'V8 helpers': { ...none, other: 100 },
    profiler: { ...none, other: 60 },
  });
  const check = parts.find(({ part }) => part === 'check')!;
  t.same(
    [...check.functions].sort(),
    [
      ['accept, src/submission/submit.ts', 200],
      ['parse (node_modules/ajv/dist/ajv.js), src/submission/submit.ts accept', 400],
    ],
    'named by what ran and who of ours called it',
  );
});

t.test('without a number of messages, times are those of the daemon', async (t) => {
  const split = exampleSplit(1000);
  const inMs = { ...split, us: 960_000, measuredUs: 1_000_000 };
  t.equal(profileRow({ section: 'webhooks', split: inMs, messages: null, plain: null }).measured, '960 ms');
});

t.test('the table is per message, and its row says when the sum is wrong', async (t) => {
  const profile = { section: 'end-to-end', split: exampleSplit(1000), messages: 2, plain: null };
  const text = showProfile(profile);
  t.match(text, '| check | 300 | 300 |  |  |  | 62.5 % | key, rate,');
  t.match(text, 'JavaScript threads without any: 20 µs per message');
  t.equal(profileRow(profile).measured, '480 µs');
  t.same(profileRow(profile).limit, { wanted: '≤ 10 % off', met: true });
  t.equal(profileRow({ ...profile, split: exampleSplit(1100) }).limit!.met, false);
});

const SOURCES = globSync('src/**/*.{ts,cts,mts,js}', { cwd: ROOT });

t.test('every source file has its part', async (t) => {
  t.ok(SOURCES.length > 500, `${SOURCES.length} sources`);
  t.same(
    SOURCES.filter((file) => ownerOf({ file, name: '(anonymous)' }) === undefined),
    [],
    'give their folder a part in bench/profile/parts.ts',
  );
  t.equal(ownerOf({ file: 'src/new-room/a.ts', name: '(anonymous)' }), undefined, 'a new folder would be noticed');
  t.equal(ownerOf({ file: 'src/delivery/new-room/a.ts', name: '(anonymous)' }), undefined, 'and a new room');
});

t.test('every entry of the table is about something that exists', async (t) => {
  const files = Object.keys(OWNERS).filter((entry) => /^(?:src|node_modules)\//.test(entry));
  const gone = files.filter((entry) => {
    const [file = '', name] = entry.split(' ');
    if (!existsSync(path.join(ROOT, file))) return true;
    return name !== undefined && !declares(readFileSync(path.join(ROOT, file), 'utf8'), name);
  });
  t.same(gone, []);
});

t.test('every thread with a column of its own runs a file that exists', async (t) => {
  t.same(
    Object.keys(ENTRIES).filter((file) => !existsSync(path.join(ROOT, file))),
    [],
  );
});

function declares(source: string, name: string): boolean {
  return new RegExp(`^(?:export )?(?:  |async |function )+${name}[(<]`, 'm').test(source);
}
