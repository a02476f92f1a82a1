// Rendering in real threads: what Liquid may do here, what it may not, and that whoever goes
// too far takes nobody along.
import t, { type Test } from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import type { Logger } from '../../src/observe/log.ts';
import type { Flaw } from '../../src/templates/render-job.ts';
import { RENDER_LIMITS, WAITING_LIMITS } from '../../src/templates/render-limits.ts';
import { type RenderOutcome, RenderPool, type RenderPoolOptions } from '../../src/templates/render-pool.ts';
import { mainThreadMs, ProcessorTime, patience } from '../support/patience.ts';

const nothing = () => {};
const QUIET: Logger = {
  ...{ trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing },
  with: () => QUIET,
};

function openPool(t: Test, options: Partial<RenderPoolOptions> = {}): RenderPool {
  const pool = new RenderPool({
    clock: { now: () => Date.now() },
    log: QUIET,
    threads: 2,
    waiting: PATIENT_LINE,
    ...options,
  });
  t.teardown(() => pool.close());
  return pool;
}

/** Where time is not the question, a busy machine must not make it one. */
const PATIENT = { ...RENDER_LIMITS, workMs: patience(20_000), jobMs: patience(25_000) };
const PATIENT_LINE = { ...WAITING_LIMITS, waitMs: patience(60_000) };
const shared = openPool(t, { limits: PATIENT });

function render(html: string, data: unknown = {}, { pool = shared, tenant = 'a' } = {}): Promise<RenderOutcome> {
  return pool.run(tenant, { source: { html, text: null }, data: JSON.stringify(data) });
}

async function htmlOf(html: string, data?: unknown): Promise<string | null> {
  const outcome = await render(html, data);
  if (outcome.kind !== 'rendered') throw new Error(JSON.stringify(outcome));
  return outcome.html;
}

async function flawOf(outcome: Promise<RenderOutcome>): Promise<Flaw> {
  const result = await outcome;
  if (result.kind !== 'flawed') throw new Error(`not flawed: ${JSON.stringify(result).slice(0, 200)}`);
  return result.flaw;
}

t.test('dates are in UTC and English, wherever the server is', async (t) => {
  const before = process.env.TZ;
  process.env.TZ = 'Asia/Tokyo';
  t.teardown(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
  const outcome = await render(
    '{{ at | date: "%A %d %b %H:%M %z" }}',
    { at: '2026-01-02T23:30:00Z' },
    { pool: openPool(t) },
  );
  t.match(outcome, { kind: 'rendered', html: 'Friday 02 Jan 23:30 +0000' });
});

t.test('html is escaped once unless raw stands last, text never', async (t) => {
  const cases: [source: string, html: string, text: string][] = [
    ['{{ a }}', '&lt;b&gt;&amp;&#34;&#39;', '<b>&"\''],
    ['{{ a | raw }}', '<b>&"\'', '<b>&"\''],
    ['{{ a | raw | upcase }}', '&lt;B&gt;&amp;&#34;&#39;', '<B>&"\''],
    ['{{ a | escape }}', '&lt;b&gt;&amp;&#34;&#39;', '&lt;b&gt;&amp;&#34;&#39;'],
    ['{% capture x %}{{ a }}{% endcapture %}{{ x | raw }}', '&lt;b&gt;&amp;&#34;&#39;', '<b>&"\''],
    [
      '{% capture x %}<i>{{ a }}{% endcapture %}{{ x }}',
      '&lt;i&gt;&amp;lt;b&amp;gt;&amp;amp;&amp;#34;&amp;#39;',
      '<i><b>&"\'',
    ],
    ['{% echo a %}{% cycle a %}', '&lt;b&gt;&amp;&#34;&#39;'.repeat(2), '<b>&"\''.repeat(2)],
    ['{{ list }}{{ nil }}{{ n }}', '1&lt;2', '1<2'],
    ['<i>{% if a %}&{% endif %}</i>', '<i>&</i>', '<i>&</i>'],
  ];
  const data = JSON.stringify({ a: '<b>&"\'', list: [1, ['<', null], 2] });
  for (const [source, html, text] of cases) {
    const outcome = await shared.run('a', { source: { html: source, text: source }, data });
    t.same(outcome, { kind: 'rendered', html, text }, source);
  }
});

t.test('the parts do not see each other', async (t) => {
  const source = { html: '{% increment n %}{% assign x = 1 %}', text: '{{ n }}{{ x }}' };
  t.match(await shared.run('a', { source, data: '{"n": 5}' }), { html: '5', text: '5' });
});

t.test('files, expressions in texts and prototypes are out of reach', async (t) => {
  for (const tag of ['include "package.json"', 'render "package.json"', 'layout "package.json"', 'block x']) {
    const flaw = await flawOf(render(`a\n {% ${tag} %}`));
    t.match(flaw, { part: 'html', problem: /^tag "\w+" not found$/, position: { line: 2, column: 2 } }, tag);
  }
  for (const name of ['where', 'reject', 'group_by', 'has', 'find', 'find_index']) {
    const flaw = await flawOf(render(`{{ a | ${name}_exp: "i", "i" }}`));
    t.equal(flaw.problem, `undefined filter: ${name}_exp`);
  }
  const reached = [
    '{{ constructor }}{{ a.constructor.name }}{{ __proto__ }}{{ a["__proto__"] }}{{ s.constructor }}{{ l.map }}',
    '{{ a | map: "constructor" }}{{ l | map: "__proto__" }}{{ toString }}{{ hasOwnProperty }}{{ this }}{{ process }}',
  ];
  t.equal(await htmlOf(reached.join(''), { a: {}, s: 'x', l: [[]] }), '');
  t.equal(await htmlOf('{{ constructor }}{{ a.toLiquid }}', { constructor: 1, a: { toLiquid: 2 } }), '12', 'own names');
});

t.test('nothing that one template writes is seen by another', async (t) => {
  const hostile = '{% assign __proto__ = a %}{% capture constructor %}x{% endcapture %}{% increment __proto__ %}';
  const data = '{"__proto__": {"polluted": "yes"}, "a": {"__proto__": {"polluted": "yes"}}}';
  for (const tenant of ['b', 'c']) await shared.run(tenant, { source: { html: hostile, text: null }, data });
  for (let round = 0; round < 4; round++) t.equal(await htmlOf('{{ polluted }}{{ b.polluted }}', { b: {} }), '');
});

t.test('syntax is checked without data, with part, line and column', async (t) => {
  const check = (source: { html: string | null; text: string | null }) => shared.run('a', { source, data: null });
  t.same(await check({ html: '{{ a.b.c | upcase }}', text: null }), { kind: 'rendered', html: null, text: null });
  const flaw = await flawOf(check({ html: 'fine', text: 'one\ntwo {% if %}' }));
  t.match(flaw, { part: 'text', position: { line: 2, column: 10 } });
  t.match(await flawOf(check({ html: '{% if a %}', text: null })), {
    problem: /not closed/,
    position: { line: 1, column: 1 },
  });
  t.match(await flawOf(check({ html: '{{ a | nosuch }}', text: null })), { problem: 'undefined filter: nosuch' });
});

t.test('limits end a template where it went too far', async (t) => {
  const doubled = (step: string) => `{% assign a = "x,y" | split: "," %}\n{% for i in (1..60) %}${step}{% endfor %}`;
  const cases: [template: string, problem: RegExp, line: number][] = [
    ['\n{% for i in (1..900000000) %}{% endfor %}', /needs more memory/, 2],
    ['{% for i in (1..200000) %}\n0123456789{% endfor %}', /more than 1048576 bytes of output/, 1],
    [doubled('{% capture b %}{{ b }}{{ b }}xxxxx{% endcapture %}'), /more than 1048576 bytes of output/, 2],
    [doubled('{% assign a = a | push: a %}'), /more than 4194304 characters/, 2],
    [doubled('{% assign a = a | concat: a %}'), /more than 4194304 characters|more memory/, 2],
    [doubled('{% assign b = b | append: b | append: "x" %}'), /more than 4194304 characters|more memory/, 2],
    ['{{ "now" | date: "%99999999d" }}', /needs more memory/, 1],
    [`\n${'{% if true %}'.repeat(12_000)}`, /is nested too deeply/, 2],
    [`\n${'{{ a }}'.repeat(149_000)}`, /more than 262144 characters of Liquid/, 2],
  ];
  for (const [template, problem, line] of cases) {
    const flaw = await flawOf(render(template, {}, { tenant: 'hostile' }));
    t.match(flaw, { part: 'html', problem, position: { line } }, template.slice(0, 60));
  }
  t.equal(await htmlOf('{{ a }}', { a: 1 }), '1', 'and the threads live');
});

t.test('output is measured in bytes, and must be Unicode', async (t) => {
  t.equal((await htmlOf('{{ a }}', { a: 'x'.repeat(1024 * 1024) }))?.length, 1024 * 1024);
  const inBytes = await flawOf(render('{{ a }}', { a: 'ü'.repeat(1024 * 512 + 1) }));
  t.match(inBytes, { problem: /1048576 bytes/, position: null });
  t.match(await flawOf(render('{{ "😀" | split: "" | first }}')), { problem: /a lone surrogate/ });
});

t.test('a job that cannot be asked to stop is killed, with its place, and the thread replaced', async (t) => {
  const pool = openPool(t, { limits: { ...PATIENT, jobMs: patience(400) } });
  // Sorting asks no limit of Liquid's.
  const sort = `fine\n {% for i in (1..100) %}{{ a | sample: 2 }}{% endfor %}`;
  const flaw = await flawOf(render(sort, { a: 'ü'.repeat(1_000_000) }, { pool }));
  t.match(flaw, { part: 'html', problem: /^takes longer than \d+ ms$/, position: { line: 2, column: 25 } });
  for (const tenant of ['a', 'b', 'c']) {
    t.match(await render('{{ a }}', { a: 1 }, { pool, tenant }), { html: '1' }, tenant);
  }
});

t.test('work that takes too long is ended where it is', async (t) => {
  const workMs = patience(100);
  const pool = openPool(t, { limits: { ...PATIENT, workMs, outputBytes: 1e9, allocations: 1e9 } });
  for (const body of ['{% for j in (1..1000) %}{% endfor %}', '{{ i }}', '']) {
    // Half a minute for the emptiest, and no large list.
    const loops = `\n{% for h in (1..1000) %}{% for i in (1..100000) %}${body}{% endfor %}{% endfor %}`;
    const flaw = await flawOf(render(loops, {}, { pool }));
    t.match(flaw, { part: 'html', problem: `takes longer than ${workMs} ms`, position: { line: 2 } }, body);
  }
});

t.test('a job that fills the memory ends its thread and nothing else', async (t) => {
  // Without the other limits, which would stop it first; large enough for a thread to start in.
  const limits = { ...PATIENT, memoryMb: 64, valueChars: 1e9, allocations: 1e9 };
  const pool = openPool(t, { limits });
  const bomb =
    '\n{% for i in (1..5000) %}{% assign s = a | append: i | upcase %}{% assign b = b | push: s %}{% endfor %}';
  const flaw = await flawOf(render(bomb, { a: 'x'.repeat(100_000) }, { pool, tenant: 'hostile' }));
  t.match(flaw, { part: 'html', problem: 'needs more than 64 MB of memory', position: { line: 2 } });
  t.match(await render('{{ a }}', { a: 1 }, { pool }), { html: '1' });
});

/** How long the event loop's thread worked without a turn at most while `work` was done; the best of three. */
async function standstillMs(work: () => Promise<unknown>): Promise<number> {
  const standstills: number[] = [];
  for (let round = 0; round < 3; round++) {
    let [longestMs, last] = [0, mainThreadMs()];
    const look = () => {
      const now = mainThreadMs();
      longestMs = Math.max(longestMs, now - last);
      last = now;
    };
    const ticking = setInterval(look, 1);
    await work();
    look();
    clearInterval(ticking);
    standstills.push(longestMs);
  }
  return Math.min(...standstills);
}

t.test('data with a million keys does not hold up the main thread', async (t) => {
  const keys = Array.from({ length: 1_000_000 }, (_, n) => `"${n.toString(36)}":0`);
  const data = `{${keys.join()},"last":"here"}`;
  const ms = await standstillMs(async () => {
    const outcome = await shared.run('a', { source: { html: '{{ last }}', text: '{{ zz }}' }, data });
    t.same(outcome, { kind: 'rendered', html: 'here', text: '0' });
  });
  t.ok(ms < 100, `the event loop stood still for ${ms.toFixed(0)} ms`);
});

t.test('a large template takes long in its thread only, and in proportion', async (t) => {
  const elapsedMs = async (size: number) => {
    const time = new ProcessorTime();
    // Sources of their own, so that none is known already.
    const source = `${Math.random()}${'{{a}}x'.repeat(size)}`;
    t.equal((await shared.run('a', { source: { html: source, text: null }, data: null })).kind, 'rendered');
    return time.usedMs;
  };
  const small = Math.min(await elapsedMs(6500), await elapsedMs(6500), await elapsedMs(6500));
  let large = Number.POSITIVE_INFINITY;
  const ms = await standstillMs(async () => {
    large = Math.min(large, await elapsedMs(52_000));
  });
  t.ok(ms < 100, `the event loop stood still for ${ms.toFixed(0)} ms`);
  t.ok(large < 25 * small, `eight times the size, ${(large / small).toFixed(1)} times the work`);
});

const SLOW = '{% for i in (1..3000000) %}{% for j in (1..1000) %}{% endfor %}{% endfor %}';

t.test('slow templates of many tenants hold up each other, and not the quick', async (t) => {
  // None of the slow ones ends before the pool does: their order is judged, not how long twenty mails take.
  const limits = { ...RENDER_LIMITS, workMs: 10 * MINUTE_MS, jobMs: 10 * MINUTE_MS, allocations: 1e12 };
  const pool = openPool(t, { limits });
  t.equal((await render('x', {}, { pool, tenant: 'quick' })).kind, 'rendered');
  let running = 3;
  const slow = ['h1', 'h2', 'h3'].map((tenant) => render(SLOW, {}, { pool, tenant }).finally(() => running--));
  const ends = Promise.allSettled(slow);
  for (let round = 0; round < 20; round++) {
    const { kind } = await render('x', {}, { pool, tenant: 'quick' });
    if (kind !== 'rendered') return t.fail(`mail ${round} had to wait for the slow ones: ${kind}`);
  }
  t.equal(running, 3, 'the slow ones ran or waited all the time');
  await pool.close();
  t.same(
    (await ends).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});

t.test('who was quick and is slow now shares the thread of the slow', async (t) => {
  const now = Date.now(); // the clock stands still: trust that is lost does not come back
  const limits = { ...PATIENT, workMs: 700, allocations: 1e12 };
  const pool = openPool(t, { limits, clock: { now: () => now } });
  t.equal((await render('x', {}, { pool, tenant: 'fallen' })).kind, 'rendered');
  t.match(await flawOf(render(SLOW, {}, { pool, tenant: 'fallen' })), { problem: 'takes longer than 700 ms' });
  const ended: string[] = [];
  const slow = render(SLOW, {}, { pool, tenant: 'slow' }).then(() => ended.push('slow'));
  const fallen = render('x', {}, { pool, tenant: 'fallen' }).then(() => ended.push('fallen'));
  await Promise.all([slow, fallen]);
  t.same(ended, ['slow', 'fallen']);
});

t.test('slow templates that had to wait for each other have their whole time', async (t) => {
  const pool = openPool(t, { limits: { ...RENDER_LIMITS, allocations: 1e12 } });
  const slow = ['h1', 'h2', 'h3'].map((tenant) => render(SLOW, {}, { pool, tenant }));
  for (const one of slow) t.match(await flawOf(one), { problem: /takes longer/ });
});

t.test('one job per tenant at a time; a short wait is bounded, and so is what waits', async (t) => {
  const waiting = { ...WAITING_LIMITS, waitMs: 200, charsPerTenant: 1000 };
  const pool = openPool(t, { waiting });
  // Until the threads have started, which may take longer than anybody waits here.
  while ((await render('x', {}, { pool })).kind !== 'rendered');
  const first = render(SLOW, {}, { pool });
  const second = render('second', {}, { pool });
  const tooMuch = render('x'.repeat(1000), {}, { pool });
  t.same(await tooMuch, { kind: 'overloaded' }, 'at once');
  t.same(await second, { kind: 'overloaded' }, 'although a thread was idle');
  t.equal((await first).kind, 'flawed');
  // Until its thread is replaced.
  while ((await render('x', {}, { pool })).kind !== 'rendered');
  t.equal((await render('x'.repeat(2000), {}, { pool })).kind, 'rendered', 'a single one may be large');
});

t.test('closing ends what runs and what waits', async (t) => {
  const pool = openPool(t);
  await render('x', {}, { pool });
  const jobs = [SLOW, SLOW, 'x'].map((template) => render(template, {}, { pool }));
  const ends = Promise.allSettled(jobs);
  await pool.close();
  t.same(
    (await ends).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  await t.rejects(render('x', {}, { pool }), { message: 'the daemon is stopping' });
});
