// Sending from addresses of our own, over loopback: real connections, whose other end tells from
// where they came and what they were called.
import t, { type Test } from 'tap';
import type { PoolAddress } from '../../src/delivery/route/source-addresses.ts';
import type { Logger } from '../../src/observe/log.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { chooseSource } from '../../src/store/source-addresses.ts';
import type { DeliveryHarness } from '../support/delivery-harness.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { eventTypes, isDeferred, isDelivered, type SetUpOptions, setMx, setOneMx, setUpFor } from './set-up.ts';

const DAY_MS = 86_400_000;
const address = (ip: string, change: Partial<PoolAddress> = {}): PoolAddress => {
  const name = ip.replaceAll(/[.:]+/g, '-').replace(/^-/, 'v6-');
  return {
    ip,
    family: ip.includes(':') ? 6 : 4,
    ehloName: `out${name}.postrider.test`,
    weight: 1,
    warm: true,
    ...change,
  };
};
const TWO = address('127.0.0.2', { weight: 3 });
const THREE = address('127.0.0.3');
const SIX = address('::1');
/** By lot all of some two dozen messages go to one of them once in eight million runs. */
const EQUALS = [address('127.0.0.2'), THREE];

interface Visit {
  from: string;
  ehlo: string;
  to: string;
}

/** A sink at 127.0.0.1 and ::1 that notes who came with each recipient, and the engine. */
async function visited(t: Test, pool: PoolAddress[], options: SetUpOptions & { ramp?: number[] } = {}) {
  const visits: Visit[] = [];
  const { sink: behaviour, ramp = [], ...rest } = options;
  let port = 0;
  for (const host of ['127.0.0.1', '::1']) {
    const sink = await startMailSink({
      ...behaviour,
      ...{ host, port },
      server: {
        onRcptTo(to, session, done) {
          const { remoteAddress, hostNameAppearsAs } = session;
          visits.push({ from: remoteAddress, ehlo: hostNameAppearsAs, to: to.address });
          void Promise.resolve(behaviour?.onRcpt?.(to.address)).then((answer) => {
            const refusal = answer && typeof answer === 'object' ? answer : null;
            done(refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
          });
        },
      },
    });
    t.teardown(() => sink.close());
    port = sink.port;
  }
  const harness = await setUpFor(t, port, { ...rest, sources: { pool, ramp } });
  return { harness, visits, of: (to: string) => visits.filter((visit) => visit.to === to) };
}

const users = (count: number, domain = 'rcpt.test') => Array.from({ length: count }, (_, at) => `user${at}@${domain}`);

function addIpv6(harness: DeliveryHarness, host: string): void {
  harness.dns.set(host, 'AAAA', ['::1']);
}

function reverseOf6(): string {
  return `1${'.0'.repeat(31)}.ip6.arpa`;
}

t.test('each message comes from the address that its id and the weights say, under its name', async (t) => {
  const { harness, visits, of } = await visited(t, [TWO, THREE]);
  setOneMx(harness);
  const to = users(60);
  const ids = await harness.send(to);
  const messages = await harness.untilAll(ids, isDelivered);
  const candidates = [TWO, THREE].map(({ ip, weight, warm }) => ({ ip, weight, warm, pause: null }));
  const facts = { mxGroup: 'mx.rcpt.test', candidates, none: '', ramp: [] };
  for (const [index, id] of ids.entries()) {
    const choice = chooseSource({ id, sourceAddress: null }, new Map(), facts, Date.now());
    const expected = choice.decision === 'use' ? choice.address : null;
    t.match(of(to[index]!), [{ from: expected, ehlo: expected === TWO.ip ? TWO.ehloName : THREE.ehloName }]);
    t.equal(messages[index]!.sourceAddress, expected);
  }
  const heavy = visits.filter(({ from }) => from === TWO.ip).length;
  t.ok(heavy > 25 && heavy < 60, `${heavy} of 60 by a weight of 3 to 1`);
});

t.test('all tries of a message come from one address, also after a restart', async (t) => {
  const tries = new Map<string, number>();
  const onRcpt = (to: string) => {
    tries.set(to, (tries.get(to) ?? 0) + 1);
    return tries.get(to)! < 3 ? { code: 451, text: '4.7.1 Greylisted, come again' } : null;
  };
  const { harness, of } = await visited(t, EQUALS, { retryStepsMs: [100], sink: { onRcpt } });
  setOneMx(harness);
  const to = users(24);
  const ids = await harness.send(to);
  await harness.until(ids[0]!, ({ attempts }) => attempts > 0);
  await harness.restartDelivery();
  await harness.untilAll(ids, isDelivered);
  for (const recipient of to) {
    t.equal(of(recipient).length, 3);
    t.equal(new Set(of(recipient).map(({ from }) => from)).size, 1, recipient);
  }
  t.equal(new Set(to.map((recipient) => of(recipient)[0]!.from)).size, 2, 'both are used');
});

t.test('a new address sends a provider no more than its day allows, the rest waits for the next', async (t) => {
  // Noon: the day does not end while the test runs.
  const clock = { offset: DAY_MS / 2 - (Date.now() % DAY_MS), now: () => Date.now() + clock.offset };
  const cold = [address('127.0.0.2', { warm: false }), address('127.0.0.3', { warm: false })];
  const { harness, visits } = await visited(t, cold, { clock, ramp: [2, 3] });
  setOneMx(harness);
  setMx(harness, 'other.test', { 'mx.other.test': { ip: '127.0.0.1' } });
  const ids = await harness.send(users(9));
  const midnight = Math.ceil(clock.now() / DAY_MS) * DAY_MS;
  const isSettled = ({ state, dueAt }: { state: string; dueAt: number | null }) =>
    state === 'delivered' || dueAt === midnight;
  const first = await harness.untilAll(ids, isSettled);
  const waiting = first.filter(({ state }) => state !== 'delivered');
  t.equal(visits.length, 4, 'two from each');
  for (const { from } of visits) t.equal(visits.filter((visit) => visit.from === from).length, 2);
  for (const message of waiting) {
    t.match(message, { attempts: 0, lastReason: /our addresses are new to mx\.rcpt\.test .*127\.0\.0\.2 2/ });
  }
  await harness.untilAll(await harness.send(users(4, 'other.test')), isDelivered);
  t.equal(visits.length, 8, 'another provider counts for itself');

  await harness.restartDelivery();
  const [late] = await harness.send(['late@rcpt.test']);
  t.match(await harness.until(late!, ({ lastReason }) => lastReason !== null), { dueAt: midnight, attempts: 0 });

  await harness.stopDelivery();
  clock.offset += DAY_MS;
  await harness.restartDelivery();
  await harness.untilAll([...ids, late!], isDelivered);
  t.equal(visits.length, 14, 'three from each on the second day');
});

t.test('an IPv6 address without a name that leads back to it is not used', async (t) => {
  const warnings: string[] = [];
  const log: Logger = { ...silentLogger, warn: (_facts, message) => void warnings.push(message) };
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness, visits } = await visited(t, [address('127.0.0.2'), SIX], { log, clock });
  const lookAgain = async () => {
    clock.offset += DAY_MS; // nothing that DNS said is remembered for longer
    await harness.restartDelivery();
  };
  setOneMx(harness);
  addIpv6(harness, 'mx.rcpt.test');
  t.match(harness.delivery.sourceAddresses(), [
    { ip: '127.0.0.2', usable: true, reason: 'it has no reverse name (PTR record)' },
    { ip: '::1', usable: false, reason: 'it has no reverse name (PTR record)' },
  ]);
  t.match(
    warnings.filter((line) => line.includes('::1')),
    ['no mail is sent from ::1: it has no reverse name (PTR record)'],
  );
  await harness.untilAll(await harness.send(users(12)), isDelivered);
  t.same([...new Set(visits.map(({ from }) => from))], ['127.0.0.2']);

  harness.dns.set(reverseOf6(), 'PTR', ['strange.test']);
  await lookAgain();
  const misled = 'its reverse name strange.test does not resolve back to it';
  t.match(harness.delivery.sourceAddresses(), [{}, { usable: false, reason: misled }]);

  harness.dns.set('strange.test', 'AAAA', ['0:0:0:0:0:0:0:1']);
  await lookAgain();
  t.match(harness.delivery.sourceAddresses(), [{}, { usable: true, reason: null }]);
  await harness.untilAll(await harness.send(users(24)), isDelivered);
  t.same([...new Set(visits.map(({ from }) => from))].sort(), ['127.0.0.2', '::1']);
  t.match(
    visits.find(({ from }) => from === '::1'),
    { ehlo: SIX.ehloName },
  );
});

t.test('each kind of address calls hosts of its kind, others are passed over', async (t) => {
  const { harness, visits } = await visited(t, [TWO]);
  setMx(harness, 'both.test', {
    'six.both.test': { ip: [], preference: 10 },
    'four.both.test': { ip: '127.0.0.1', preference: 20 },
  });
  addIpv6(harness, 'six.both.test');
  const [id] = await harness.send(['ann@both.test']);
  const { attemptList } = await harness.until(id!, isDelivered);
  t.match(attemptList, [{ peer: { mx: 'four.both.test' } }]);
  t.match(visits, [{ from: '127.0.0.2' }]);

  setMx(harness, 'six.test', { 'mx.six.test': { ip: [] } });
  addIpv6(harness, 'mx.six.test');
  const [waiting] = await harness.send(['ann@six.test']);
  const reason = /^no mail server of mx\.six\.test has an IPv4 address, and ours are IPv4; checked again until/;
  t.match(await harness.until(waiting!, isDeferred), { attempts: 1, lastReason: reason });
  t.same(await eventTypes(harness, waiting!), ['email.deferred'], 'its tenant hears of it at once');
});

t.test('an address that the machine does not have is not used, and mail waits when there is no other', async (t) => {
  const { harness } = await visited(t, [address('203.0.113.9')]);
  setOneMx(harness);
  t.match(harness.delivery.sourceAddresses(), [
    { usable: false, reason: /this machine does not have the address \(EADDR/ },
  ]);
  const [id] = await harness.send(['ann@rcpt.test']);
  t.match(await harness.until(id!, ({ lastReason }) => lastReason !== null), {
    state: 'deferred',
    attempts: 1,
    lastReason: /none of our own addresses can be used; not used: 203\.0\.113\.9: this machine/,
  });
});

t.test('a reply about our address pauses that address alone', async (t) => {
  const onRcpt = (to: string) =>
    to.startsWith('angry')
      ? {
          code: 421,
          text: '4.7.0 Our system has detected an unusual rate of unsolicited mail originating from your IP address. https://support.google.com/mail/?p=UnsolicitedRateLimitError',
        }
      : null;
  const { harness, of, visits } = await visited(t, [TWO, THREE], { retryStepsMs: [50], sink: { onRcpt } });
  setOneMx(harness);
  const [angry] = await harness.send(['angry@rcpt.test']);
  await harness.until(
    angry!,
    ({ state, lastReason }) => isDeferred({ state }) && /is paused until/.test(lastReason ?? ''),
  );
  const [{ from: blamed }] = of('angry@rcpt.test') as [Visit];
  visits.length = 0;
  await harness.untilAll(await harness.send(users(12)), isDelivered);
  t.same([...new Set(visits.map(({ from }) => from))], [blamed === TWO.ip ? THREE.ip : TWO.ip]);
  t.match(await harness.store.queue.getMessage(angry!), { attempts: 1, sourceAddress: blamed, lastReason: blamed });
});
