// Mail that no server can be called for, in the running engine: a second look before anything final, and what
// lies about a domain for an hour costs nobody a bounce.
import t, { type Test } from 'tap';
import type { MessageDetail } from '../../src/store/queue.ts';
import type { DeliveryHarness } from '../support/delivery-harness.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { eventTypes, isDeferred, isFinished, type SetUpOptions, setOneMx, setUp } from './set-up.ts';

const HOUR = 3_600_000;
const SOON = { secondLookAfterMs: 150, lifetimeMs: 4 * HOUR };
const PAGE = { after: null, limit: 10 };
const attempted = (times: number) => (message: MessageDetail) =>
  message.attempts >= times && message.state !== 'sending';

/** Its parent zone's name servers can be asked: the test's one DNS server. */
async function withParent(t: Test, options: SetUpOptions = {}) {
  const { harness, sink } = await setUp(t, { noRoute: SOON, retryStepsMs: [100], ...options });
  harness.dns.addZone('test');
  return { harness, sink };
}

async function listsOf({ store, tenantId }: DeliveryHarness) {
  const [own, platform] = [
    await store.suppressions.listSuppressions(tenantId, PAGE),
    await store.suppressions.listPlatformSuppressions(PAGE),
  ];
  return { own: own.map(({ address }) => address), platform: platform.map(({ address }) => address) };
}

t.test('a domain that does not exist bounces when the second look says the same', async (t) => {
  const { harness } = await withParent(t);
  const [id] = await harness.send(['ann@gone.test']);
  const message = await harness.until(id!, isFinished);
  t.match(message, {
    state: 'bounced',
    attempts: 2,
    lastReason: /gone\.test does not exist, according to the DNS servers at/,
  });
  const [first, second] = message.attemptList;
  t.match(
    [first, second],
    [
      { outcome: 'temporary', peer: { stage: 'resolve', enhancedCode: '5.1.2' } },
      { outcome: 'permanent', peer: { stage: 'resolve', enhancedCode: '5.1.2' } },
    ],
  );
  t.ok(second!.startedAt - first!.startedAt >= SOON.secondLookAfterMs, 'not before the time');
  const events = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.match(events, [
    {
      type: 'email.deferred',
      data: { delivery: { response: /^the domain does not seem to exist; checked again at 20/ } },
    },
    { type: 'email.bounced', data: { bounce: { type: 'hard', enhanced_code: '5.1.2', suppressed: true } } },
  ]);
  const deferred = events[0]!.data as { delivery: { response: string; next_attempt_at: string } };
  t.match(deferred.delivery.response, deferred.delivery.next_attempt_at, 'the text and the field name one time');
  t.same(await listsOf(harness), { own: ['ann@gone.test'], platform: [] });
});

t.test('the parent zone knows the domain that the resolver denies: it waits, and goes when that is over', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness, sink } = await withParent(t, { clock });
  // The resolver's word is about the domain itself: its parent refers to a server that knows better.
  const owner = await startDnsServer({ address: '127.0.0.12', port: harness.dns.port });
  t.teardown(() => owner.close());
  owner.set('lied.test', 'MX', [{ exchange: 'mx.lied.test', preference: 10 }]);
  harness.dns.delegate('lied.test', { 'ns1.lied.test': [owner.address] });
  const [id] = await harness.send(['ann@lied.test']);
  const waiting = await harness.until(id!, attempted(3));
  t.match(waiting, {
    state: 'deferred',
    lastReason: /but does according to its own and its parent zone’s name servers/,
  });
  t.same(await eventTypes(harness, id!), ['email.deferred'], 'its tenant is told once');
  t.same(await listsOf(harness), { own: [], platform: [] });
  setOneMx(harness, 'lied.test');
  clock.offset = 61_000; // what the resolver has said is remembered for a minute
  t.match(await harness.until(id!, isFinished), { state: 'delivered' });
  t.equal(sink.mails.length, 1);
});

t.test('no second opinion: deferred for hours, then failed, and nobody is suppressed', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness } = await setUp(t, { noRoute: SOON, retryStepsMs: [100], clock });
  const [id] = await harness.send(['ann@gone.test']);
  const waiting = await harness.until(id!, attempted(3));
  t.match(waiting, { state: 'deferred', lastReason: /no other server confirmed it: .*; checked again until/ });
  clock.offset = 4 * HOUR;
  t.match(await harness.until(id!, isFinished), { state: 'failed', lastReason: /given up after 4 h/ });
  t.same(await eventTypes(harness, id!), ['email.deferred', 'email.failed']);
  t.same(await listsOf(harness), { own: [], platform: [] });
});

t.test('two resolvers say the same, and no name server can be asked', async (t) => {
  const other = await startDnsServer({ address: '127.0.0.8' });
  t.teardown(() => other.close());
  const third = await startDnsServer({ address: '127.0.0.7' });
  t.teardown(() => third.close());
  third.set('known.test', 'TXT', ['it exists']);
  const dnsServers = [other.endpoint, third.endpoint];
  const { harness } = await setUp(t, { noRoute: SOON, retryStepsMs: [100], dnsServers });
  const [gone, known] = await harness.send(['ann@gone.test', 'ann@known.test']);
  t.match(await harness.until(gone!, isFinished), {
    state: 'bounced',
    lastReason: /127\.0\.0\.8:.* and .*127\.0\.0\.7:/,
  });
  t.match(await harness.until(known!, attempted(2)), {
    state: 'deferred',
    lastReason: /but does according to .*127\.0\.0\.7:\d+/,
  });
});

t.test('what was seen first survives a restart, and a restart is no second look', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness } = await withParent(t, { clock, noRoute: { secondLookAfterMs: HOUR, lifetimeMs: 4 * HOUR } });
  const [id] = await harness.send(['ann@gone.test']);
  const { dueAt } = await harness.until(id!, isDeferred);
  await harness.restartDelivery();
  t.match(await harness.store.queue.getMessage(id!), { state: 'deferred', attempts: 1, dueAt });
  // An operator's retry is none either.
  harness.delivery.notice([(await harness.store.queue.retryNow(id!, clock.now()))!]);
  t.match(await harness.until(id!, attempted(2)), { state: 'deferred', dueAt });
  await harness.stopDelivery();
  clock.offset = HOUR;
  await harness.restartDelivery();
  t.match(await harness.until(id!, isFinished), { state: 'bounced', attempts: 3 });
  t.same(await eventTypes(harness, id!), ['email.deferred', 'email.bounced']);
});

t.test('a second look that the end of the engine cuts off leaves the message as it was', async (t) => {
  const { harness } = await withParent(t);
  const silent = await startDnsServer({ address: '127.0.0.12', port: harness.dns.port });
  t.teardown(() => silent.close());
  silent.behave('*', 'silent');
  harness.dns.delegate('gone.test', { 'ns1.gone.test': [silent.address] });
  const [id] = await harness.send(['ann@gone.test']);
  await harness.until(id!, ({ state, attempts }) => state === 'sending' && attempts === 2);
  await harness.stopDelivery();
  t.match(await harness.store.queue.getMessage(id!), { state: 'deferred', attempts: 1 });
});

t.test('no MX and no address: deferred at once, failed after hours, suppressed nowhere', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness } = await withParent(t, { clock });
  harness.dns.set('bare.test', 'TXT', ['no mail, no address']);
  harness.dns.set('nameless.test', 'MX', [{ exchange: 'mx.gone.test', preference: 10 }]);
  const ids = await harness.send(['ann@bare.test', 'ann@nameless.test']);
  const reasons = [
    /neither an MX record nor an address; checked again until/,
    /None of the mail servers that nameless/,
  ];
  for (const [index, id] of ids.entries()) {
    t.match(await harness.until(id, isDeferred), { attempts: 1, lastReason: reasons[index] });
    t.same(await eventTypes(harness, id), ['email.deferred']);
  }
  clock.offset = 4 * HOUR;
  for (const id of ids) {
    t.match(await harness.until(id, isFinished), { state: 'failed', lastReason: /given up after 4 h$/ });
    t.match(await harness.store.events.eventsOfMessage(harness.tenantId, id), [
      { type: 'email.deferred' },
      { type: 'email.failed', data: { bounce: { type: 'soft', enhanced_code: '5.4.4', suppressed: false } } },
    ]);
  }
  t.same(await listsOf(harness), { own: [], platform: [] });
});

t.test('a route that other servers show is waited for, however long', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness } = await withParent(t, { clock });
  const owner = await startDnsServer({ address: '127.0.0.12', port: harness.dns.port });
  t.teardown(() => owner.close());
  owner.set('hidden.test', 'A', ['127.0.0.1']);
  harness.dns.set('hidden.test', 'TXT', ['nothing else']);
  harness.dns.delegate('hidden.test', { 'ns1.hidden.test': [owner.address] });
  const [id] = await harness.send(['ann@hidden.test']);
  await harness.until(id!, isDeferred);
  clock.offset = 5 * HOUR;
  const message = await harness.until(id!, ({ lastReason }) => /until they agree/.test(lastReason ?? ''));
  t.match(message, {
    state: 'deferred',
    lastReason: /hidden\.test has no mail server .*, but has one according to its own and its parent/,
  });
  t.same(await eventTypes(harness, id!), ['email.deferred', 'email.deferred'], 'the second one after four hours');
});

t.test('only IPv6 there, and none here', async (t) => {
  const lo = { address: '::1', family: 'IPv6', internal: true, netmask: '', mac: '', cidr: null, scopeid: 0 } as const;
  const here = { lo: [lo], eth0: [{ ...lo, address: 'fe80::1', internal: false, scopeid: 2 }] };
  const { harness } = await withParent(t, { readInterfaces: () => here });
  harness.dns.set('six.test', 'MX', [{ exchange: 'mx.six.test', preference: 10 }]);
  harness.dns.set('mx.six.test', 'AAAA', ['2001:db8::25']);
  const [id] = await harness.send(['ann@six.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message, {
    lastReason: /no mail server of mx\.six\.test has an IPv4 address, and this machine has no public IPv6/,
  });
  t.match(message.attemptList, [{ peer: { stage: 'resolve', enhancedCode: '5.4.4' } }]);
  t.same(await eventTypes(harness, id!), ['email.deferred']);
});
