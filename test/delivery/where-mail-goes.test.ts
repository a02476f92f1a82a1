// Which server is called, and what becomes of mail that no server is named for:
// RFC 5321 section 5.1, RFC 7505, and what DNS outages may not do.
import t from 'tap';
import {
  eventTypes,
  isDeferred,
  isDelivered,
  isFinished,
  setMx,
  setOneMx,
  setUp,
  setUpFor,
  startSink,
} from './set-up.ts';

t.test('the MX with the lowest preference gets the mail', async (t) => {
  const { sink, harness } = await setUp(t);
  const other = await startSink(t, { host: '127.0.0.2', port: sink.port });
  setMx(harness, 'rcpt.test', {
    'backup.rcpt.test': { ip: '127.0.0.2', preference: 20 },
    'mx.rcpt.test': { ip: '127.0.0.1', preference: 10 },
  });
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test']);
  await harness.untilAll(ids, isDelivered);
  t.equal(sink.mails.length, 3);
  t.equal(other.connections.total, 0);
});

t.test('MX hosts of equal preference share the sessions by chance', async (t) => {
  const { sink, harness } = await setUp(t, { limits: { messagesPerSession: 1 } });
  const other = await startSink(t, { host: '127.0.0.2', port: sink.port });
  setMx(harness, 'rcpt.test', { 'mx1.rcpt.test': { ip: '127.0.0.1' }, 'mx2.rcpt.test': { ip: '127.0.0.2' } });
  const ids = await harness.send(Array.from({ length: 25 }, (_, index) => `user${index}@rcpt.test`));
  await harness.untilAll(ids, isDelivered);
  // All on one side once in 2^24 runs.
  t.ok(sink.mails.length > 0 && other.mails.length > 0, `${sink.mails.length} and ${other.mails.length}`);
  t.equal(sink.mails.length + other.mails.length, 25);
});

t.test('the next MX is tried in the same attempt', async (t) => {
  const greeting = (code: number) => ({
    server: {
      onConnect: (_session: unknown, done: (error?: Error) => void) =>
        done(Object.assign(new Error('not today'), { responseCode: code })),
    },
  });
  const { sink, harness } = await setUp(t);
  const at = (host: string) => ({ host, port: sink.port });
  await startSink(t, { ...at('127.0.0.4'), ...greeting(421) });
  await startSink(t, { ...at('127.0.0.5'), ...greeting(554) });

  const second = { 'mx2.test': { ip: '127.0.0.1', preference: 20 } };
  setMx(harness, 'refusing.test', { 'refusing.mx.test': { ip: '127.0.0.3' }, ...second });
  setMx(harness, 'greets4xx.test', { 'greets4xx.mx.test': { ip: '127.0.0.4' }, ...second });
  setMx(harness, 'greets5xx.test', { 'greets5xx.mx.test': { ip: '127.0.0.5' }, ...second });
  setMx(harness, 'nameless.test', { 'gone.mx.test': { ip: [] }, ...second });
  setMx(harness, 'two-addresses.test', { 'two.mx.test': { ip: ['127.0.0.3', '127.0.0.1'] } });
  const domains = ['refusing.test', 'greets4xx.test', 'greets5xx.test', 'nameless.test', 'two-addresses.test'];
  const ids = await harness.send(domains.map((domain) => `ann@${domain}`));
  for (const message of await harness.untilAll(ids, isFinished)) {
    t.match(message, { state: 'delivered', attempts: 1 }, message.recipient);
    t.equal(message.attemptList[0]!.peer.remoteIp, '127.0.0.1');
  }
});

t.test('when no MX opens, the message waits with the last answer', async (t) => {
  const { sink, harness } = await setUp(t);
  const busy = {
    onConnect: (_: unknown, done: (error?: Error) => void) =>
      done(Object.assign(new Error('too busy'), { responseCode: 554 })),
  };
  await startSink(t, { host: '127.0.0.5', port: sink.port, server: busy });
  setMx(harness, 'rcpt.test', {
    'refusing.test': { ip: '127.0.0.3', preference: 1 },
    'busy.test': { ip: '127.0.0.5', preference: 2 },
  });
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message.attemptList, [{ outcome: 'temporary', peer: { mx: 'busy.test', stage: 'greeting', smtpCode: 554 } }]);
  t.match(message.lastReason, /no mail server .* accepted a connection.*too busy/);
  t.notOk(message.ambiguous);
});

t.test('a domain without MX is its own mail host', async (t) => {
  const { sink, harness } = await setUp(t);
  harness.dns.set('rcpt.test', 'A', ['127.0.0.1']);
  harness.dns.set('six.test', 'AAAA', ['::1']);
  const six = await startSink(t, { host: '::1', port: sink.port }).catch(() => null);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isFinished);
  t.match(message.attemptList, [{ outcome: 'delivered', peer: { mx: 'rcpt.test' } }]);
  if (!six) return;
  const [viaSix] = await harness.send(['ann@six.test']);
  t.match((await harness.until(viaSix!, isFinished)).attemptList, [{ peer: { mx: 'six.test', remoteIp: '::1' } }]);
});

t.test('aliases are followed, of the domain and of the MX host', async (t) => {
  const { sink, harness } = await setUp(t);
  harness.dns.set('alias.test', 'CNAME', ['rcpt.test']);
  harness.dns.set('rcpt.test', 'MX', [{ exchange: 'mx-alias.test', preference: 10 }]);
  harness.dns.set('mx-alias.test', 'CNAME', ['host.test']);
  harness.dns.set('host.test', 'A', ['127.0.0.1']);
  const [id] = await harness.send(['ann@alias.test']);
  t.equal((await harness.until(id!, isFinished)).state, 'delivered');
  t.equal(sink.mails[0]!.to, 'ann@alias.test');
});

t.test('a null MX bounces at once, for the tenant’s list alone', async (t) => {
  const { harness } = await setUp(t);
  harness.dns.set('null.test', 'MX', [{ exchange: '', preference: 0 }]);
  const [id] = await harness.send(['Ann@null.test']);
  const message = await harness.until(id!, isFinished);
  t.match(message, { state: 'bounced', attempts: 1, lastReason: /null MX/ });
  const peer = { mx: null, remoteIp: null, stage: 'resolve', smtpCode: null, enhancedCode: '5.1.10' };
  t.match(message.attemptList, [{ outcome: 'permanent', peer }]);
  const bounce = { type: 'hard', source: 'smtp', enhanced_code: '5.1.10', attempt: 1, suppressed: true };
  t.match(await harness.store.events.eventsOfMessage(harness.tenantId, id!), [
    { type: 'email.bounced', data: { to: 'Ann@null.test', bounce } },
  ]);
  const page = { after: null, limit: 10 };
  t.match(await harness.store.suppressions.listSuppressions(harness.tenantId, page), [
    { address: 'ann@null.test', reason: 'hard_bounce', messageId: id, rule: 'route-5.1.10' },
  ]);
  t.same(await harness.store.suppressions.listPlatformSuppressions(page), []);
});

t.test('a DNS outage is never a bounce', async (t) => {
  const { harness } = await setUp(t);
  harness.dns.behave('broken.test', 'servfail');
  harness.dns.behave('silent.test', 'silent');
  harness.dns.set('half.test', 'MX', [{ exchange: 'mx.half.test', preference: 10 }]);
  harness.dns.behave('mx.half.test', 'servfail');
  const ids = await harness.send(['ann@broken.test', 'ann@silent.test', 'ann@half.test']);
  for (const message of await harness.untilAll(ids, ({ state }) => isFinished({ state }) || isDeferred({ state }))) {
    t.match(message, { state: 'deferred', attempts: 1, ambiguous: false }, message.recipient);
    t.match(message.lastReason, /DNS did not answer/);
    t.same(await eventTypes(harness, message.id), ['email.deferred']);
  }
});

t.test('mail waits out a DNS outage', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { harness } = await setUp(t, { clock, retryStepsMs: [300] });
  harness.dns.behave('rcpt.test', 'servfail');
  const [id] = await harness.send(['ann@rcpt.test']);
  await harness.until(id!, isDeferred);
  harness.dns.behave('rcpt.test', null);
  setOneMx(harness);
  // The resolver remembers failures for a moment.
  clock.offset = 6_000;
  const message = await harness.until(id!, isFinished);
  t.equal(message.state, 'delivered');
  t.ok(message.attempts >= 2);
});

t.test('private addresses are not called unless allowed', async (t) => {
  const sink = await startSink(t);
  const harness = await setUpFor(t, sink.port, { allowPrivate: false });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message, { attemptList: [{ peer: { enhancedCode: '5.4.4', stage: 'resolve' } }] });
  t.match(message.lastReason, /private or loopback.*delivery\.allow_private.*checked again until/);
  t.equal(sink.connections.total, 0);
  t.same(await harness.store.suppressions.listSuppressions(harness.tenantId, { after: null, limit: 10 }), []);
});
