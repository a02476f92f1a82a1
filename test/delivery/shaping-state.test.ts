// What shaping makes of outcomes over time, with a real store, and a clock that the test moves.
import path from 'node:path';
import t, { type Test } from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { noPeer } from '../../src/base/outcome.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import type { CourierResult } from '../../src/delivery/courier/messages.ts';
import { judge } from '../../src/delivery/outcome/judge.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { Shaping } from '../../src/delivery/shaping/shaping-state.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';

const START = Date.UTC(2026, 0, 1);
const rules = loadBounceRules(SHIPPED_RULES);
const limits = {
  ...{ sessions: 10, sessionsPerGroup: 5, messagesPerSession: 10, messagesPerMinute: null },
  messagesPerHour: () => null,
};

async function setUp(t: Test) {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const clock = { at: START, now: () => clock.at };
  const kit = { store, clock, random: () => 0, log: silentLogger, providers: new Providers([]), limits };
  const open = (node: string | null = null) => Shaping.open({ ...kit, node, retryStepsMs: [MINUTE_MS] });
  return { store, clock, open };
}

/** One attempt over the only connection to the group. */
function said(shaping: Shaping, code: number | null, text: string, group = 'mx.test'): void {
  const enhancedCode = /^[245]\.\d+\.\d+/.exec(text)?.[0] ?? null;
  const stage = code === null ? ('connect' as const) : ('rcpt' as const);
  const peer = { ...noPeer(stage, text), mx: group, remoteIp: '192.0.2.1', smtpCode: code, enhancedCode };
  const kind = code === null ? 'no_connection' : code < 400 ? 'accepted' : 'refused';
  const message = { id: 'id', tenantId: 'acme', fromDomain: 'acme.test', sourceAddress: null };
  const judgement = judge({ kind, peer } as CourierResult, rules, { senders: [], recipients: [] });
  const others = { working: 0, sameHosts: 0 };
  shaping.learn({ group, message, recipientDomain: 'rcpt.test', judgement, open: 1, others });
}

t.test(
  'a verdict right behind a temporary refusal holds for its own time, another such refusal does not',
  async (t) => {
    const { clock, open } = await setUp(t);
    const shaping = await open();
    const until = () => shaping.sourceSuspension('mx.test', null)?.until ?? null;
    const busy = '4.7.500 Server busy. Please try again later from [192.0.2.1]. (AS77714)';
    said(shaping, 451, busy);
    const paused = until()!;
    t.ok(paused - START >= MINUTE_MS && paused - START < HOUR_MS, `${paused - START} ms`);
    clock.at += 5 * SECOND_MS;
    said(shaping, 451, busy);
    t.equal(until(), paused, 'it was on the wire already');
    const banned =
      '5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/';
    said(shaping, 550, banned);
    t.equal(until(), clock.at + 4 * HOUR_MS);
    await shaping.stop();
  },
);

t.test("a block of one daemon's address is no other's, and whoever is asked to ends it", async (t) => {
  const { store, clock, open } = await setUp(t);
  const blocked = (shaping: Shaping) => shaping.sourceSuspension('mx.test', null) !== null;
  const one = await open('mail-1');
  said(one, 554, '5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org');
  await one.stop();
  const [again, two] = [await open('mail-1'), await open('mail-2')];
  t.strictSame([blocked(again), blocked(two)], [true, false], 'after a restart');
  await again.readOthers();
  await two.readOthers();
  t.strictSame([blocked(again), blocked(two)], [true, false], 'when what others have changed is read');

  said(two, 554, '5.7.1 Client host [192.0.2.2] blocked using zen.spamhaus.org');
  await two.stop();
  await two.readOthers();
  two.released(await store.shaping.liftSuspensions({ mxGroup: 'mx.test' }), 'mx.test');
  t.strictSame([blocked(again), blocked(two)], [true, false]);
  await again.readOthers();
  t.strictSame([blocked(again), blocked(two)], [false, false]);
  clock.at += SECOND_MS;
  await again.stop();
  t.strictSame((await store.shaping.loadShaping(START, 'mail-1')).suspensions, []);
});

t.test('a limited group to which nobody writes any more is forgotten after a day, and its row with it', async (t) => {
  const { store, clock, open } = await setUp(t);
  const shaping = await open();
  const known = () => shaping.memory.groupNames().sort();
  const stored = async () => (await store.shaping.loadShaping(START)).groups.map(({ mxGroup }) => mxGroup).sort();
  for (const group of ['dead.test', 'busy.test', 'back.test']) said(shaping, null, 'connect ETIMEDOUT', group);
  said(shaping, 250, '2.0.0 ok', 'healthy.test');
  clock.at += 23 * HOUR_MS;
  said(shaping, null, 'connect ETIMEDOUT', 'busy.test');
  await shaping.tidy();
  t.strictSame(known(), ['back.test', 'busy.test', 'dead.test'], 'one that is well, after an hour');
  clock.at += 2 * HOUR_MS;
  // Another daemon has written there, and this one has not heard of it.
  const { concurrency } = (await store.shaping.loadShaping(START)).groups[0]!;
  await store.shaping.saveShaping({ groups: [{ mxGroup: 'back.test', concurrency, at: clock.at }] });
  await shaping.tidy();
  await shaping.stop();
  t.strictSame(known(), ['busy.test']);
  t.strictSame(await stored(), ['back.test', 'busy.test']);
  clock.at += 21 * HOUR_MS;
  const again = await open();
  t.strictSame(again.memory.groupNames().sort(), ['back.test', 'busy.test']);
  clock.at += 2.5 * HOUR_MS;
  await again.tidy();
  await again.stop();
  t.strictSame([again.memory.groupNames(), await stored()], [['back.test'], ['back.test']], 'by the time of its row');
});
