// Reading large bodies in threads: that what is read is the same as on the main thread, that the main
// thread does next to none of the work, and that tenants take turns.
import t, { type Test } from 'tap';
import { worstBodies } from '../../bench/worst-bodies.ts';
import { BODY_LIMITS, type BodyLimits } from '../../src/api/body/body-job.ts';
import { BodyPool, SMALL_BODY_BYTES } from '../../src/api/body/body-pool.ts';
import { readBody } from '../../src/api/body/read-body.ts';
import { loadBodyShape } from '../../src/api/body-shape.ts';
import { isRefusal, type Refusal } from '../../src/base/refusals.ts';
import type { SendBody } from '../../src/submission/send-request.ts';
import { listLogger } from '../support/api-harness.ts';
import { mainThreadMs, patience } from '../support/patience.ts';

const SHAPE = loadBodyShape<SendBody>('send-email');
const PATIENT: BodyLimits = { ...BODY_LIMITS, jobMs: patience(30_000), waitMs: patience(60_000) };
const MAIL = { from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };

function openPool(t: Test, limits: Partial<BodyLimits> = {}): BodyPool {
  const pool = new BodyPool({ log: listLogger([]), limits: { ...PATIENT, ...limits } });
  t.teardown(() => pool.close());
  return pool;
}

function bodyOf(mail: unknown, bytes = SMALL_BODY_BYTES + 1): Buffer {
  return Buffer.from(JSON.stringify(mail).padEnd(bytes, ' '));
}

type Outcome = SendBody | Refusal;

async function read(pool: BodyPool, bytes: Buffer, tenant = 'a'): Promise<Outcome> {
  return pool.read(tenant, Buffer.from(bytes), SHAPE);
}

t.test('only what is over 64 KiB goes to a thread', async (t) => {
  const pool = openPool(t);
  t.same(pool.read('a', bodyOf(MAIL, SMALL_BODY_BYTES), SHAPE), MAIL, 'at once');
  const answer = pool.read('a', bodyOf(MAIL), SHAPE);
  t.type(answer, Promise);
  t.same(await answer, MAIL);
});

t.test('what a thread reads is what the main thread would read', async (t) => {
  const pool = openPool(t);
  const mails = [
    ...[MAIL, { ...MAIL, data: { a: [1, { b: null }] } }, { ...MAIL, data: null, html: null }, { ...MAIL, data: 7 }],
    ...[{ ...MAIL, headers: { 'X-A': 'b', 'X-Null': null } }, { ...MAIL, refused: 'internal_error' }, [], 'text', null],
    ...[
      { ...MAIL, subject: 'x'.repeat(999) },
      { ...MAIL, to: [] },
      { ...MAIL, sbject: 1 },
      { ...MAIL, html: '€😀' },
    ],
  ];
  const samples = [...mails.map((mail) => bodyOf(mail)), Buffer.from(`{"a":"\xff${' '.repeat(70_000)}`, 'latin1')];
  for (const bytes of samples) {
    t.same(await read(pool, bytes), readBody(bytes, SHAPE), bytes.subarray(0, 60).toString('latin1'));
  }
});

t.test('the main thread does little of the work that the worst bodies make', async (t) => {
  const pool = openPool(t);
  await read(pool, bodyOf(MAIL));
  let [here, there] = [0, 0];
  for (const { about, bytes } of worstBodies('a@acme.test')) {
    const copy = Buffer.from(bytes);
    const startedAt = mainThreadMs();
    const result = await pool.read('a', copy, SHAPE);
    const reading = mainThreadMs() - startedAt;
    const own = mainThreadMs();
    const expected = readBody(bytes, SHAPE);
    const inline = mainThreadMs() - own;
    t.equal(isRefusal(result), isRefusal(expected), about);
    if (isRefusal(expected)) t.same(result, expected, `${about}: the same refusal`);
    [here, there] = [here + reading, there + inline];
  }
  t.comment(`main thread: ${here.toFixed(1)} ms, against ${there.toFixed(1)} ms without threads`);
  t.ok(here < there / 4, 'of the processor time');
});

t.test('one body per tenant at a time, and tenants take turns', async (t) => {
  const pool = openPool(t, { threads: 1 });
  const order: string[] = [];
  const queue = (tenant: string, name: string) => read(pool, bodyOf(MAIL), tenant).then(() => order.push(name));
  await Promise.all([queue('a', 'a1'), queue('a', 'a2'), queue('a', 'a3'), queue('b', 'b1'), queue('c', 'c1')]);
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'a3']);
});

t.test('with a thread to spare, a tenant still has only one', async (t) => {
  const pool = openPool(t, { threads: 2 });
  const order: string[] = [];
  const slow = worstBodies('a@acme.test').find(({ about }) => about === 'many values in data')!.bytes;
  const queue = (name: string, bytes: Buffer, tenant: string) => read(pool, bytes, tenant).then(() => order.push(name));
  await Promise.all([read(pool, bodyOf(MAIL), 'x'), read(pool, bodyOf(MAIL), 'y')]);
  const large = Array.from({ length: 5 }, (_, at) => queue(`a${at}`, slow, 'a'));
  await Promise.all([...large, queue('b', bodyOf(MAIL), 'b')]);
  // How many the other thread reads meanwhile is up to the machine.
  t.not(order.at(-1), 'b', `b does not wait for all of them: ${order}`);
});

t.test('a body that takes too long is given up, its thread replaced', async (t) => {
  const pool = openPool(t, { threads: 1, jobMs: 1 });
  const slow = worstBodies('a@acme.test').find(({ about }) => about === 'many values in data')!.bytes;
  for (let round = 0; round < 2; round++) {
    t.match(await read(pool, slow), { refused: 'internal_error', retryAfterSecs: 2, message: /took longer than 1 ms/ });
  }
});

t.test('a body that needs too much memory is refused, and the next is read', async (t) => {
  const pool = openPool(t, { threads: 1, memoryMb: 24 });
  const escapes = worstBodies('a@acme.test').find(({ about }) => about === 'many recipients')!.bytes;
  const outcome = await read(pool, escapes);
  t.ok(isRefusal(outcome));
  t.same(await read(pool, bodyOf(MAIL)), MAIL);
});

t.test('what waits of one tenant is bounded', async (t) => {
  const pool = openPool(t, { threads: 1, bytesPerTenant: 3 * SMALL_BODY_BYTES });
  const answers = await Promise.all(Array.from({ length: 6 }, () => read(pool, bodyOf(MAIL))));
  const overloaded = answers.filter((answer) => isRefusal(answer));
  t.ok(overloaded.length >= 2, `${overloaded.length} of 6`);
  t.match(overloaded[0], { refused: 'internal_error', retryAfterSecs: 2, message: /waiting to be parsed/ });
  t.same(await read(pool, bodyOf(MAIL)), MAIL);
});

t.test('closing ends what is under way', async (t) => {
  const pool = openPool(t, { threads: 1 });
  const answers = [read(pool, bodyOf(MAIL)), read(pool, bodyOf(MAIL))];
  const settled = Promise.allSettled(answers);
  await pool.close();
  for (const { status } of await settled) t.equal(status, 'rejected');
  await t.rejects(read(pool, bodyOf(MAIL)), { message: /stopping/ });
});
