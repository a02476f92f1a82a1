// What the receiving server says, and what follows for the message: RFC 5321 section 4.2.1, at every stage.
import t from 'tap';
import type { MessageDetail } from '../../src/store/queue.ts';
import { patience } from '../support/patience.ts';
import { type PeerScript, startPeer } from '../support/smtp-peer.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } from '../support/smtp-peer-tls.ts';
import { eventTypes, isDeferred, setOneMx, setUp, setUpFor, startSink } from './set-up.ts';

const isTried = (message: MessageDetail) => message.attemptList.length > 0 && message.state !== 'sending';

interface StageCase {
  name: string;
  script: PeerScript;
  state: 'deferred' | 'bounced';
  peer: Record<string, unknown>;
}

async function until(stage: 'mail' | 'rcpt' | 'data', c: Parameters<PeerScript>[0]): Promise<void> {
  await c.welcome();
  if (stage === 'mail') return;
  await c.answer('MAIL FROM:', '250 ok');
  if (stage === 'data') await c.answer('RCPT TO:', '250 ok');
}

function stageCases(code: 4 | 5, enhanced: string): StageCase[] {
  const state = code === 4 ? 'deferred' : 'bounced';
  const reply = (tens: number) => `${code}${tens} ${enhanced} no`;
  const peer = (stage: string, tens: number) => ({ stage, smtpCode: code * 100 + tens, enhancedCode: enhanced });
  return [
    {
      name: `${code}xx to MAIL`,
      script: async (c) => {
        await until('mail', c);
        await c.answer('MAIL FROM:', reply(50));
        c.hangUp();
      },
      state,
      peer: peer('mail', 50),
    },
    {
      name: `${code}xx to RCPT`,
      script: async (c) => {
        await until('rcpt', c);
        await c.answer('RCPT TO:', reply(51));
        c.hangUp();
      },
      state,
      peer: peer('rcpt', 51),
    },
    {
      name: `${code}xx to DATA`,
      script: async (c) => {
        await until('data', c);
        await c.answer('DATA', reply(52));
        c.hangUp();
      },
      state,
      peer: peer('data', 52),
    },
    {
      name: `${code}xx to the final dot`,
      script: async (c) => {
        await c.welcome();
        await c.takeMessage();
        c.say(reply(54));
        c.hangUp();
      },
      state,
      peer: peer('dot', 54),
    },
  ];
}

const STAGES: StageCase[] = [
  {
    name: '4xx as greeting',
    script: (c) => {
      c.say('421 4.3.2 busy');
      c.hangUp();
    },
    state: 'deferred',
    peer: { stage: 'greeting', smtpCode: 421 },
  },
  {
    name: '5xx as greeting',
    script: (c) => {
      c.say('554 5.7.1 no service for you');
      c.hangUp();
    },
    state: 'deferred',
    peer: { stage: 'greeting', smtpCode: 554 },
  },
  {
    name: '4xx to EHLO',
    script: async (c) => {
      c.say('220 hello');
      await c.answer('EHLO', '451 4.7.1 not now');
      c.hangUp();
    },
    state: 'deferred',
    peer: { stage: 'ehlo', smtpCode: 451 },
  },
  {
    name: '5xx to EHLO and HELO',
    script: async (c) => {
      c.say('220 hello');
      await c.answer('EHLO', '550 5.7.1 who are you');
      await c.answer('HELO', '550 5.7.1 who are you');
      c.hangUp();
    },
    state: 'deferred',
    peer: { stage: 'ehlo', smtpCode: 550 },
  },
  ...stageCases(4, '4.7.0'),
  ...stageCases(5, '5.7.1'),
];

t.test('a refusal at each stage', async (t) => {
  const peer = await startPeer(STAGES.map(({ script }) => script));
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port, { limits: { messagesPerSession: 1 } });
  setOneMx(harness);
  for (const { name, state, peer: expected } of STAGES) {
    const [id] = await harness.send(['ann@rcpt.test']);
    const message = await harness.until(id!, isTried);
    t.match(message, { state, attempts: 1, ambiguous: false, attemptList: [{ peer: expected }] }, name);
    t.same(await eventTypes(harness, id!), [state === 'deferred' ? 'email.deferred' : 'email.bounced'], name);
  }
  t.equal(peer.connections, STAGES.length, 'nobody was called twice');
  t.same(
    await harness.store.suppressions.listSuppressions(harness.tenantId, { after: null, limit: 10 }),
    [],
    'policy never suppresses',
  );
});

t.test('each recipient of a submission has a fate of its own', async (t) => {
  const { sink, harness } = await setUp(t, {
    sink: {
      onRcpt(address) {
        if (address.startsWith('gone')) return { code: 550, text: '5.1.1 no such user' };
        return address.startsWith('full') ? { code: 452, text: '4.2.2 mailbox full' } : null;
      },
    },
  });
  setOneMx(harness);
  const ids = await harness.send(['gone@rcpt.test', 'full@rcpt.test', 'ann@rcpt.test']);
  const [gone, full, ann] = await harness.untilAll(ids, isTried);
  t.match(gone, { state: 'bounced', lastReason: /mx\.rcpt\.test said: .*no such user/ });
  t.match(full, { state: 'deferred', lastReason: /mailbox full/ });
  t.match(ann, { state: 'delivered', lastReason: null });
  t.same(
    sink.mails.map(({ to }) => to),
    ['ann@rcpt.test'],
  );
  const page = { after: null, limit: 10 };
  t.match(await harness.store.suppressions.listSuppressions(harness.tenantId, page), [
    { address: 'gone@rcpt.test', messageId: ids[0] },
  ]);
  t.match(await harness.store.suppressions.listPlatformSuppressions(page), [
    { address: 'gone@rcpt.test', mxGroup: 'mx.rcpt.test', rule: 'no-such-mailbox' },
  ]);
});

t.test('421 in the middle of a session: the rest goes over a new connection', async (t) => {
  const peer = await startPeer([
    async (c) => {
      await c.welcome();
      await c.takeMessage();
      c.say('250 ok');
      await c.answer('MAIL FROM:', '250 ok');
      await c.answer('RCPT TO:', '421 4.7.0 enough for now');
      c.hangUp();
    },
    async (c) => {
      await c.welcome();
      for (;;) {
        await c.takeMessage();
        c.say('250 ok');
      }
    },
  ]);
  t.teardown(() => peer.close().catch(() => {}));
  const harness = await setUpFor(t, peer.port, { limits: { sessionsPerGroup: 1 } });
  setOneMx(harness);
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test', 'd@rcpt.test']);
  const messages = await harness.untilAll(ids, isTried);
  t.same(
    messages.map(({ state }) => state),
    ['delivered', 'deferred', 'delivered', 'delivered'],
  );
  t.equal(peer.connections, 2);
});

const leavings: Record<string, PeerScript> = {
  'with 421 while it lingered': (c) => {
    c.say('421 4.4.2 idle for too long');
    c.hangUp();
  },
  'in the moment of the next message': async (c) => {
    await c.expect('MAIL FROM:');
    c.reset();
  },
};
for (const [when, leave] of Object.entries(leavings)) {
  t.test(`a server that leaves ${when} costs nobody an attempt`, async (t) => {
    const peer = await startPeer([
      async (c) => {
        await c.welcome();
        await c.takeMessage();
        c.say('250 ok');
        await leave(c);
      },
      async (c) => {
        await c.welcome();
        await c.takeMessage();
        c.say('250 ok');
      },
    ]);
    t.teardown(() => peer.close());
    const harness = await setUpFor(t, peer.port, { limits: { lingerMs: patience(10_000), sessionsPerGroup: 1 } });
    setOneMx(harness);
    for (const to of ['a@rcpt.test', 'b@rcpt.test']) {
      const [id] = await harness.send([to]);
      t.match(await harness.until(id!, isTried), { state: 'delivered', attempts: 1 });
    }
    t.equal(peer.connections, 2);
  });
}

t.test(
  'lost before the final dot: waits; lost after it: waits twice as long, and never goes to the next MX at once',
  async (t) => {
    const lossy = (reply: 'drop' | 'keep and drop') => (address: { to: string }) =>
      address.to.startsWith('lost') ? reply : null;
    const options = {
      sink: {
        onMail: lossy('keep and drop'),
        onRcpt: (to: string) => (to.startsWith('cut') ? ('drop' as const) : null),
      },
    };
    const { sink, harness } = await setUp(t, { ...options, retryStepsMs: [100_000] });
    harness.dns.set('rcpt.test', 'MX', [
      { exchange: 'mx.rcpt.test', preference: 1 },
      { exchange: 'mx2.rcpt.test', preference: 2 },
    ]);
    harness.dns.set('mx.rcpt.test', 'A', ['127.0.0.1']);
    harness.dns.set('mx2.rcpt.test', 'A', ['127.0.0.2']);
    const other = await startSink(t, { host: '127.0.0.2', port: sink.port });

    const [cut, lost] = await harness.untilAll(await harness.send(['cut@rcpt.test', 'lost@rcpt.test']), isTried);
    t.match(cut, {
      state: 'deferred',
      ambiguous: false,
      attemptList: [{ outcome: 'temporary', peer: { stage: 'rcpt' } }],
    });
    t.match(lost, {
      state: 'deferred',
      ambiguous: true,
      attemptList: [{ outcome: 'temporary', peer: { stage: 'dot' } }],
    });
    t.match(lost!.lastReason, /lost after the message was sent, so it may have arrived/);
    const pause = (message: MessageDetail) =>
      message.dueAt! - (message.attemptList[0]!.startedAt + message.attemptList[0]!.peer.elapsedMs);
    t.ok(pause(cut!) >= 79_000 && pause(cut!) <= 140_000, `${pause(cut!)} ms`);
    t.ok(pause(lost!) >= 159_000 && pause(lost!) <= 280_000, `${pause(lost!)} ms`);
    t.equal(other.connections.total, 0);
    t.same(
      sink.mails.map(({ to }) => to),
      ['lost@rcpt.test'],
      'it had arrived',
    );
  },
);

t.test('a delay that the server names is kept', async (t) => {
  const { harness } = await setUp(t, {
    sink: { onRcpt: () => ({ code: 450, text: '4.2.0 Greylisted, please try again in 300 seconds' }) },
    retryStepsMs: [60_000],
  });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  const { dueAt, attemptList } = await harness.until(id!, isDeferred);
  const pause = dueAt! - attemptList[0]!.startedAt;
  t.ok(pause >= 300_000 && pause <= 400_000, `${pause} ms`);
});

t.test('STARTTLS with any certificate, and the facts about it', async (t) => {
  const { sink, harness } = await setUp(t, {
    sink: { server: { hideSTARTTLS: false, key: TEST_ONLY_KEY, cert: TEST_ONLY_CERTIFICATE } },
  });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isTried);
  t.equal(message.state, 'delivered');
  t.equal(sink.mails[0]!.secure, true);
  t.match(message.attemptList[0]!.peer.tls, { version: 'TLSv1.3', cipher: String, verified: false });
  const [event] = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.match(event!.data, { delivery: { tls: { version: 'TLSv1.3', verified: false } } });
});

t.test('a failed handshake: clear text in the same attempt', async (t) => {
  const peer = await startPeer([
    async (c) => {
      await c.welcome('STARTTLS');
      await c.answer('STARTTLS', '220 go ahead');
      c.sayRaw('this is no handshake\r\n');
      c.hangUp();
    },
    async (c) => {
      await c.welcome('STARTTLS');
      await c.takeMessage();
      c.say('250 ok');
    },
  ]);
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port);
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isTried);
  t.match(message, { state: 'delivered', attempts: 1, attemptList: [{ peer: { tls: null } }] });
});

t.test('required TLS refuses clear text and bad certificates', async (t) => {
  const { sink, harness } = await setUp(t, { tls: 'required' });
  const secured = { hideSTARTTLS: false, key: TEST_ONLY_KEY, cert: TEST_ONLY_CERTIFICATE };
  const selfSigned = await startSink(t, { host: '127.0.0.2', port: sink.port, server: secured });
  setOneMx(harness, 'clear.test');
  harness.dns.set('self-signed.test', 'A', ['127.0.0.2']);
  const ids = await harness.send(['ann@clear.test', 'ann@self-signed.test']);
  const [clear, secure] = await harness.untilAll(ids, isTried);
  t.match(clear, { state: 'deferred', lastReason: /TLS is required/, attemptList: [{ peer: { stage: 'starttls' } }] });
  t.match(secure, {
    state: 'deferred',
    lastReason: /certificate not valid/,
    attemptList: [{ peer: { stage: 'starttls' } }],
  });
  t.equal(sink.mails.length + selfSigned.mails.length, 0);
});

t.test('what the server cannot take is refused before it is sent', async (t) => {
  const peer = await startPeer([
    async (c) => {
      await c.welcome('SIZE 2000', '8BITMIME');
      await c.closed();
    },
  ]);
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port, { limits: { sessionsPerGroup: 1 } });
  setOneMx(harness);
  const [unicode] = await harness.send(['jürgen@rcpt.test']);
  const [large] = await harness.send(['ann@rcpt.test'], { text: 'A line of text.\n'.repeat(200) });
  const [first, second] = await harness.untilAll([unicode!, large!], isTried);
  t.match(first, { state: 'bounced', attemptList: [{ outcome: 'permanent', peer: { enhancedCode: '5.6.7' } }] });
  t.match(second, { state: 'bounced', attemptList: [{ outcome: 'permanent', peer: { enhancedCode: '5.3.4' } }] });
  for (const id of [unicode!, large!]) {
    t.match(await harness.store.events.eventsOfMessage(harness.tenantId, id), [
      { data: { bounce: { type: 'soft', suppressed: false } } },
    ]);
  }
});

t.test('SMTPUTF8 and SIZE are used where they are offered', async (t) => {
  const peer = await startPeer([
    async (c) => {
      await c.welcome('SIZE 100000', '8BITMIME', 'SMTPUTF8');
      await c.takeMessage();
      c.say('250 ok');
      await c.closed();
    },
  ]);
  t.teardown(() => peer.close().catch(() => {}));
  const harness = await setUpFor(t, peer.port);
  setOneMx(harness);
  const [id] = await harness.send(['jürgen@rcpt.test']);
  t.equal((await harness.until(id!, isTried)).state, 'delivered');
  t.match(
    peer.heard.find((line) => line.startsWith('MAIL')),
    / SIZE=\d+ .*SMTPUTF8$/,
  );
  t.ok(peer.heard.includes('RCPT TO:<jürgen@rcpt.test>'));
});
