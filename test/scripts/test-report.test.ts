// The counts that CI believes: made from events as the test runner writes them.
import t from 'tap';
import { TestReport } from '../../scripts/test-report.ts';
import { tellWhereabouts, type Whereabouts } from '../../scripts/test-whereabouts.ts';

function report(events: unknown[]): { lines: string[]; summary: string; report: TestReport } {
  const lines: string[] = [];
  const report = new TestReport((line) => lines.push(line));
  for (const event of events) report.read(typeof event === 'string' ? event : JSON.stringify(event));
  return { lines, summary: report.summary(), report };
}

const end = (name: string, more: Record<string, unknown> = {}) => [
  'end',
  { name, fullname: name, level: 1, ok: true, time: 1234, ...more },
];
const point = (type: string, name: string, more: Record<string, unknown> = {}) => [
  type,
  { name, fullname: `test/a.test.ts > ${name}`, ok: type !== 'fail', ...more },
];

t.test('a good file is one line, and what it notes', async (t) => {
  const { lines, summary } = report([
    ['start', { name: 'TAP Tests', level: 0 }],
    ['start', { name: 'test/a.test.ts', level: 1 }],
    ['pass', { ok: true }],
    ['end', { name: 'group', level: 2, ok: true }],
    point('pass', 'note: seed 7'),
    end('test/a.test.ts'),
    ['end', { name: 'TAP Tests', level: 0 }],
  ]);
  t.same(lines, ['ok    test/a.test.ts  2 passed  1.2 s', '  seed 7']);
  t.equal(summary, '2 passed, 0 failed');
});

t.test('a failure is told in full', async (t) => {
  const diag = {
    at: { fileName: 'test/a.test.ts', lineNumber: 7 },
    diff: '--- expected\n+++ actual\n-2\n+1\n',
    stack: 'Test.<anonymous> (test/a.test.ts:7:1)\n',
    cwd: '/somewhere',
    rule: 'no cycles',
  };
  const { lines, summary } = report([
    point('pass', 'one'),
    point('fail', 'two', { diag }),
    end('test/a.test.ts', { ok: false }),
    point('pass', 'three'),
    end('test/b.test.ts'),
  ]);
  t.same(lines, [
    'FAIL  test/a.test.ts  1 passed, 1 failed  1.2 s',
    '  not ok: test/a.test.ts > two',
    '    at test/a.test.ts:7',
    '    diff:',
    '      --- expected',
    '      +++ actual',
    '      -2',
    '      +1',
    '    stack: Test.<anonymous> (test/a.test.ts:7:1)',
    '    rule: no cycles',
    'ok    test/b.test.ts  1 passed  1.2 s',
  ]);
  t.equal(summary, '2 passed, 1 failed');
});

t.test('a long run ends with its failures, a line each', async (t) => {
  const bad = [
    point('fail', 'two', { diag: { at: { fileName: 'test/a.test.ts', lineNumber: 7 } } }),
    end('test/a.test.ts', { ok: false }),
  ];
  t.same(report(bad).report.failures(), [], 'a short run has them before your eyes');
  const good = Array.from({ length: 10 }, (_, index) => [point('pass', 'one'), end(`test/${index}.test.ts`)]);
  t.same(report(good.flat()).report.failures(), []);

  const long = report([...bad, ...good.flat()]).report;
  long.fail('test/z.test.ts did not come to its end');
  t.same(long.failures(), [
    'What failed:',
    '  test/a.test.ts > two (test/a.test.ts:7)',
    '  test/z.test.ts did not come to its end',
  ]);

  const died = point('fail', 'page.goto: Target page, context or browser has been closed');
  const onceMore = report([died, end('test/a.test.ts', { ok: false }), ...good.flat()]).report;
  t.same(onceMore.failures(), [], 'what is run once more has not failed');
});

t.test('skips and to-dos are shown with their reasons', async (t) => {
  const { lines, summary } = report([
    point('pass', 'one'),
    point('skip', 'two', { skip: 'no smtp-sink' }),
    point('skip', 'three', { skip: true }),
    point('todo', 'four', { todo: 'later' }),
    end('test/a.test.ts'),
    end('test/b.test.ts', { skip: 'needs root' }),
  ]);
  t.same(lines, [
    'ok    test/a.test.ts  1 passed, 3 skipped  1.2 s',
    '  skipped: test/a.test.ts > two: no smtp-sink',
    '  skipped: test/a.test.ts > three: no reason given',
    '  skipped: test/a.test.ts > four: later',
    'ok    test/b.test.ts  0 passed, 1 skipped  1.2 s',
    '  skipped: test/b.test.ts: needs root',
  ]);
  t.equal(summary, '1 passed, 0 failed, 4 skipped');
});

t.test('what fails without saying so is counted', async (t) => {
  const crash = report([point('pass', 'one'), end('test/a.test.ts', { ok: false, diag: { exitCode: 3 } })]);
  t.equal(crash.summary, '1 passed, 1 failed', 'a crash after a passed assertion');
  t.match(crash.lines, ['FAIL', 'not ok: test/a.test.ts', 'exitCode: 3']);

  t.equal(report([end('test/a.test.ts', { skip: 'no tests found' })]).summary, '0 passed, 1 failed', 'an empty file');
  t.equal(report([end('test/a.test.ts')]).summary, '0 passed, 1 failed', 'a file without an assertion');

  const dead = report([]).report;
  dead.fail('tap ended with SIGKILL');
  t.equal(dead.summary(), '0 passed, 1 failed', 'the death of the runner');
});

t.test('what is no event is shown, not counted', async (t) => {
  const { lines, summary } = report(['ok 1 - noise', '["pass', '', '["pass",3]']);
  t.same(lines, ['ok 1 - noise', '["pass']);
  t.equal(summary, '0 passed, 0 failed');
});

t.test('a file of which nothing was heard is a failure', async (t) => {
  const { lines, summary, report: told } = report([point('pass', 'one'), end('test/a.test.ts')]);
  t.equal(summary, '1 passed, 0 failed');
  told.failMissing(['test/a.test.ts', 'test/b.test.ts']);
  t.equal(lines.at(-1), 'FAIL  test/b.test.ts did not come to its end');
  t.equal(told.summary(), '1 passed, 1 failed');
});

t.test('a file that does not come to its end says where it was, and one that never ran says why', async (t) => {
  const where: Whereabouts = {
    ...{ pid: 7, startedAt: 10_000, running: ['outer > inner'], steppedAt: 12_500, assertions: 3 },
    ...{ lastAssertion: 'ok: still fine', stuck: null, exitCode: null },
  };
  const step = 'last step 2.5 s after its start, 60.0 s ago';
  const at = (change: Partial<Whereabouts>) => tellWhereabouts({ ...where, ...change }, 72_500);
  t.same(at({}), ['it was in: outer > inner', 'last assertion, number 3: ok: still fine', step]);
  const stuck = { sinceMs: 60_000, resources: ['Timeout', 'TCPSocketWrap'] };
  t.equal(at({ stuck }).at(-1), 'no step for 60.0 s, waiting for: Timeout, TCPSocketWrap');
  t.same(at({ running: [], assertions: 0, lastAssertion: null }), [
    'it had not begun its first test',
    'without an assertion',
    step,
  ]);
  t.match(at({ running: [] }), ['it was between two tests or behind the last one']);
  t.same(at({ exitCode: 0 }), ['its process ended with exit code 0, and the test runner lost what it said']);
  t.same(tellWhereabouts(null, 72_500), ['its process never started']);

  const lines: string[] = [];
  const told = new TestReport(
    (line) => lines.push(line),
    () => ['it was in: x'],
  );
  told.read(JSON.stringify(end('test/a.test.ts', { ok: false, diag: { signal: 'SIGKILL' } })));
  told.failMissing(['test/a.test.ts', 'test/b.test.ts']);
  t.match(lines, [/^FAIL {2}test\/a/, /not ok/, /SIGKILL/, '  it was in: x', /^FAIL {2}test\/b/, '  it was in: x']);
});

t.test('a browser that dies is no verdict yet: the file is run again, and that counts', async (t) => {
  const died = point('fail', 'locator.waitFor: Target page, context or browser has been closed\nBrowser logs: many');
  const failed = { ok: false };
  const once = report([
    point('pass', 'one'),
    died,
    end('test/a.test.ts', failed),
    point('pass', 'b'),
    end('test/b.test.ts'),
  ]);
  t.equal(once.summary, '1 passed, 0 failed');
  t.same([...once.report.again], ['test/a.test.ts']);
  t.match(once.lines[0], /^AGAIN test\/a\.test\.ts {2}1 passed, 1 failed/);
  t.equal(once.lines.at(-2), '  its browser has died: it is run once more, and that counts');

  for (const event of [died, end('test/a.test.ts', failed)]) once.report.read(JSON.stringify(event));
  t.equal(once.report.summary(), '1 passed, 1 failed', 'twice is a failure');

  const other = report([died, point('fail', 'wrong', {}), end('test/a.test.ts', failed)]);
  for (const event of [point('fail', 'wrong'), end('test/a.test.ts', failed)]) other.report.read(JSON.stringify(event));
  t.equal(other.report.summary(), '0 passed, 1 failed', 'what else was wrong shows the second time');
});

t.test('the ten slowest files are named at the end of a long run', async (t) => {
  const files = Array.from({ length: 12 }, (_, n) => `test/${n}.test.ts`);
  const events = files.flatMap((file, n) => [point('pass', 'one'), end(file, { time: 1000 * ((n * 5) % 12) + 100 })]);
  const { report: long } = report(events);
  const [title, ...slowest] = long.slowest();
  t.equal(title, 'The 10 slowest of 12 files, which took 67.2 s in all:');
  t.equal(slowest.length, 10);
  t.equal(slowest[0], '    11.1 s  test/7.test.ts');
  t.equal(slowest[9], '     2.1 s  test/10.test.ts');
  t.same(report(events.slice(0, 20)).report.slowest(), [], 'not after a run of ten files');
});
