// Hosts that take no mail at all (521 or 5.3.2 as greeting) are passed over; when all of them say so the
// message fails and nobody is suppressed. Where all hosts fail, each is named with address, port and words.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { noPeer, type TriedHost } from '../../src/base/outcome.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { connectToAny } from '../../src/delivery/courier/connect.ts';
import { judge } from '../../src/delivery/outcome/judge.ts';
import type { OpenResult } from '../../src/protocol/smtp/session.ts';
import { allTakeNoMail, takesNoMail, whatWasTried } from '../../src/protocol/smtp/tried-hosts.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { eventTypes, isDeferred, isFinished, setMx, setUpFor } from './set-up.ts';

const NO_MAIL = '521 mx.rcpt.test does not accept mail';
const TWO_HOSTS = {
  'mx1.rcpt.test': { ip: '127.0.0.2', preference: 10 },
  'mx2.rcpt.test': { ip: '127.0.0.3', preference: 20 },
};

/** Greets with these words at that address and closes; counts who came. */
async function greeter(t: Test, host: string, port: number, greeting: string): Promise<{ port: number; came: number }> {
  const state = { port, came: 0 };
  const server = createServer((socket) => {
    state.came++;
    socket.on('error', () => {});
    socket.end(`${greeting}\r\n`);
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.teardown(() => server.close());
  state.port = (server.address() as AddressInfo).port;
  return state;
}

for (const greeting of [NO_MAIL, '554 5.3.2 system not accepting network messages', '521 5.3.2 No mail here']) {
  t.test(`"${greeting}": the next MX gets the mail, over one connection each`, async (t) => {
    const first = await greeter(t, '127.0.0.2', 0, greeting);
    const sink = await startMailSink({ host: '127.0.0.3', port: first.port });
    t.teardown(() => sink.close());
    const harness = await setUpFor(t, first.port, { limits: { sessionsPerGroup: 1 } });
    setMx(harness, 'rcpt.test', TWO_HOSTS);
    const [id] = await harness.send(['ann@rcpt.test']);
    t.match(await harness.until(id!, isFinished), { state: 'delivered', attempts: 1 });
    t.equal(first.came, 1);
  });

  t.test(`"${greeting}" of all: the message fails at once, and nobody is suppressed`, async (t) => {
    const first = await greeter(t, '127.0.0.2', 0, greeting);
    const second = await greeter(t, '127.0.0.3', first.port, greeting);
    const harness = await setUpFor(t, first.port, { retryStepsMs: [50] });
    setMx(harness, 'rcpt.test', { ...TWO_HOSTS, 'mx1.rcpt.test': { ip: ['127.0.0.2', '127.0.0.4'], preference: 10 } });
    const [id] = await harness.send(['ann@rcpt.test']);
    const message = await harness.until(id!, isFinished);
    t.match(message, { state: 'failed', attempts: 1, attemptList: [{ outcome: 'permanent' }] });
    t.match(
      message.lastReason,
      /accepts mail \(RFC 7504\): mx1\.rcpt\.test \(127\.0\.0\.2:\d+\) said .*; mx2\.rcpt\.test \(127\.0\.0\.3:/,
    );
    t.same(await eventTypes(harness, id!), ['email.failed']);
    const [event] = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
    t.match(event!.data.bounce, { type: 'soft', suppressed: false, smtp_code: Number(greeting.slice(0, 3)) });
    t.equal(second.came, 1, 'the other address of the first host was passed over');
    const [again] = await harness.send(['ann@rcpt.test']);
    t.match(await harness.until(again!, isFinished), { state: 'failed' }, 'accepted again, and asked again');
    t.same(harness.delivery.shaping.memory.suspensionsNow(Date.now()), []);
  });
}

t.test('one that may take mail some day is enough to try again', async (t) => {
  const first = await greeter(t, '127.0.0.2', 0, NO_MAIL);
  await greeter(t, '127.0.0.3', first.port, '421 4.3.2 Going down');
  const harness = await setUpFor(t, first.port);
  setMx(harness, 'rcpt.test', TWO_HOSTS);
  const [id] = await harness.send(['ann@rcpt.test']);
  const { attemptList, lastReason } = await harness.until(id!, isDeferred);
  const { port } = first;
  t.match(attemptList[0]!.peer.tried, [
    { mx: 'mx1.rcpt.test', ip: '127.0.0.2', port, stage: 'greeting', smtpCode: 521, response: /does not accept mail/ },
    {
      mx: 'mx2.rcpt.test',
      ip: '127.0.0.3',
      port,
      stage: 'greeting',
      smtpCode: 421,
      enhancedCode: '4.3.2',
      response: 'Going down',
    },
  ]);
  t.match(
    lastReason,
    `mx1.rcpt.test (127.0.0.2:${port}) said at greeting: ${NO_MAIL}; mx2.rcpt.test (127.0.0.3:${port}) said at greeting: 421 4.3.2 Going down`,
  );
});

t.test('one whose address DNS does not tell at the moment has said nothing: it is tried again', async (t) => {
  const first = await greeter(t, '127.0.0.2', 0, NO_MAIL);
  const harness = await setUpFor(t, first.port);
  setMx(harness, 'rcpt.test', TWO_HOSTS);
  harness.dns.behave('mx2.rcpt.test', 'servfail');
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, (now) => isDeferred(now) || isFinished(now));
  t.match(message, { state: 'deferred', attempts: 1, lastReason: /mx1\.rcpt\.test .* said at greeting: 521/ });
});

t.test('nobody there: each address, with what the system said', async (t) => {
  const first = await greeter(t, '127.0.0.2', 0, '421 Busy');
  const harness = await setUpFor(t, first.port);
  setMx(harness, 'rcpt.test', TWO_HOSTS);
  const [id] = await harness.send(['ann@rcpt.test']);
  const { lastReason } = await harness.until(id!, isDeferred);
  t.match(
    lastReason,
    /mx1\.rcpt\.test \(127\.0\.0\.2:\d+\) said at greeting: 421 Busy; mx2\.rcpt\.test \(127\.0\.0\.3:\d+\): connect: .*ECONNREFUSED/,
  );
});

const host = (change: Partial<TriedHost> = {}): TriedHost => ({
  ...{
    mx: 'mx1.test',
    ip: '192.0.2.1',
    port: 25,
    stage: 'greeting',
    smtpCode: 521,
    enhancedCode: null,
    response: 'No mail',
  },
  ...change,
});

t.test('what says that a host takes no mail', async (t) => {
  t.ok(takesNoMail(host()));
  t.ok(takesNoMail(host({ smtpCode: 554, enhancedCode: '5.3.2' })));
  t.notOk(takesNoMail(host({ enhancedCode: '5.7.1' })), 'a block list speaks of the sender');
  t.notOk(takesNoMail(host({ smtpCode: 421, enhancedCode: '4.3.2' })));
  t.notOk(takesNoMail(host({ stage: 'rcpt' })));
  t.notOk(takesNoMail(host({ smtpCode: null })));
  t.ok(
    allTakeNoMail([host({ stage: 'connect', smtpCode: null }), host(), host({ mx: 'mx2.test' })]),
    'each by one of its addresses',
  );
  t.notOk(allTakeNoMail([host(), host({ mx: 'mx2.test', smtpCode: 554 })]));
  t.notOk(allTakeNoMail([]));
});

t.test('a 521 that blames the sender, or hosts that were not asked: it is tried again', async (t) => {
  const rules = loadBounceRules(SHIPPED_RULES);
  const peer = (tried: TriedHost[]) => ({
    ...noPeer('greeting', tried.at(-1)!.response),
    ...tried.at(-1)!,
    remoteIp: '192.0.2.1',
    tried,
  });
  const judged = (tried: TriedHost[], asked: 'all' | 'some') =>
    judge({ kind: 'no_connection', peer: peer(tried), asked }, rules, { senders: [], recipients: [] });
  t.match(judged([host()], 'all'), { kind: 'permanent', end: 'failed', bounce: 'soft' });
  t.match(judged([host()], 'some'), { kind: 'temporary' });
  const blocked = host({ response: 'Service unavailable; client [192.0.2.1] blocked using bl.test.org' });
  t.match(judged([blocked], 'all'), { kind: 'temporary' });
  const postfix = host({ enhancedCode: '5.3.2', response: '<m[192.0.2.1]>: Client host rejected: No mail here' });
  t.match(judged([postfix], 'all'), { kind: 'permanent', end: 'failed' }, 'the words are only its form');
});

t.test('hosts that take no mail do not use up what is tried of the others, and have an end', async (t) => {
  const says = (smtpCode: number | null, response: string): OpenResult => {
    const peer = { ...noPeer(smtpCode === null ? 'connect' : 'greeting', response), smtpCode };
    return { kind: 'failed', peer, tlsFailure: null, tlsTrouble: null };
  };
  const called: string[] = [];
  const knocker = (answer: (mx: string) => OpenResult) => ({
    port: 25,
    async open({ mx }: { mx: string }) {
      called.push(mx);
      return answer(mx);
    },
  });
  const hosts = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      name: `mx${at}.test`,
      preference: at,
      addresses: [{ ip: '192.0.2.1', family: 4 as const }],
    }));
  const choose = () => ({ decision: 'none' as const, reason: '' }) as never;
  const mixed = await connectToAny(
    hosts(12),
    knocker((mx) => (/[0-5]\.test/.test(mx) && !mx.includes('1') ? says(521, 'no') : says(null, 'x'))),
    choose,
  );
  t.match(mixed, { kind: 'none', asked: 'some' });
  t.equal(called.length, 10, 'five that take none, five others');
  called.length = 0;
  t.match(
    await connectToAny(
      hosts(40),
      knocker(() => says(521, 'no')),
      choose,
    ),
    { kind: 'none', asked: 'some' },
  );
  t.equal(called.length, 20);
  called.length = 0;
  t.match(
    await connectToAny(
      hosts(6),
      knocker(() => says(521, 'no')),
      choose,
    ),
    { kind: 'none', asked: 'all', peer: { tried: { length: 6 } } },
  );
});

t.test('many addresses, long words: a sentence of a length that can be read', async (t) => {
  const many = Array.from({ length: 20 }, () => host({ ip: '2001:db8::1', response: 'x'.repeat(900) }));
  const text = whatWasTried(many);
  t.match(text, /^mx1\.test \(\[2001:db8::1\]:25\) said at greeting: 521 x+…; .*; and 12 more$/);
  t.ok(text.length < 2500, `${text.length} characters`);
});
