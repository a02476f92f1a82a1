// Hosts whose TLS is broken: clear text in the same attempt, remembered for three days by all
// courier threads and over a restart, and of no account where a policy enforces TLS.
import t, { type Test } from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import type { MessageDetail } from '../../src/store/queue.ts';
import type { DeliveryHarness, DeliveryHarnessOptions } from '../support/delivery-harness.ts';
import { pace } from '../support/patience.ts';
import { type Peer, type PeerConnection, type PeerScript, startPeer } from '../support/smtp-peer.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_HOST } from '../support/smtp-peer-tls.ts';
import { setMx, setUpFor } from './set-up.ts';

const isTried = (message: MessageDetail) => message.attemptList.length > 0 && message.state !== 'sending';

const garbage: PeerScript = async (c) => {
  await c.welcome('STARTTLS');
  await c.answer('STARTTLS', '220 go ahead');
  // Behind the client's first word: what comes earlier is taken for an injected reply.
  c.socket.once('data', () => {
    c.sayRaw('this is no handshake\r\n'.repeat(3));
    c.hangUp();
  });
  await c.closed();
};

const stall: PeerScript = async (c) => {
  await c.welcome('STARTTLS');
  await c.answer('STARTTLS', '220 go ahead');
  await c.closed();
};

const refusal: PeerScript = async (c) => {
  await c.welcome('STARTTLS');
  await c.answer('STARTTLS', '454 4.7.0 TLS not available due to a temporary reason');
};

/** Offers STARTTLS, and takes one message from a client that does not want it. */
const clearText: PeerScript = async (c) => {
  await c.welcome('STARTTLS');
  await takeOne(c);
};

const secured: PeerScript = async (c) => {
  await c.welcome('STARTTLS');
  await c.startTls();
  await c.hello();
  await takeOne(c);
};

async function takeOne(c: PeerConnection): Promise<void> {
  await c.takeMessage();
  c.say('250 ok');
  await c.answer('QUIT', '221 bye');
}

async function stageWith(t: Test, scripts: PeerScript[], change: Partial<DeliveryHarnessOptions> = {}) {
  const peer = await startPeer(scripts);
  t.teardown(() => peer.close());
  const limits = { messagesPerSession: 1 };
  const harness = await setUpFor(t, peer.port, { limits, trustedRoots: TEST_ONLY_CERTIFICATE, ...change });
  setMx(harness, 'rcpt.test', { [TEST_ONLY_HOST]: { ip: '127.0.0.1' } });
  return { peer, harness };
}

async function sendOne(harness: DeliveryHarness): Promise<MessageDetail> {
  const [id] = await harness.send(['ann@rcpt.test']);
  return await harness.until(id!, isTried);
}

const remembered = (harness: DeliveryHarness) =>
  harness.store.transportSecurity.findBrokenTls(TEST_ONLY_HOST, Date.now());

const kinds: Record<string, [script: PeerScript, failure: RegExp]> = {
  fails: [garbage, /^TLS handshake: /],
  stalls: [stall, /^no TLS handshake within [\d.]+ s$/],
};
for (const [what, [script, failure]] of Object.entries(kinds)) {
  t.test(`a handshake that ${what}: clear text at once, and at first for three days`, async (t) => {
    // 60 s shrunk to 0.3: the greeting and the others stay far above what loopback takes.
    const change = { timeoutFactor: 0.005 * pace(), threads: 2 };
    const { peer, harness } = await stageWith(t, [script, clearText, clearText, clearText], change);
    const first = await sendOne(harness);
    t.match(first, { state: 'delivered', attempts: 1, attemptList: [{ peer: { tls: null } }] });
    t.match(first.attemptList[0]!.peer.tlsPolicy, { mode: 'none', failure });
    const note = await remembered(harness);
    t.match(note, { host: TEST_ONLY_HOST, reason: failure });
    t.equal(note!.expiresAt - note!.since, 3 * DAY_MS);

    const second = await sendOne(harness);
    t.match(
      second.attemptList[0]!.peer.tlsPolicy.failure,
      /^clear text until .* because the TLS of mx\.peer\.test broke/,
    );
    await harness.restartDelivery();
    t.match(await sendOne(harness), { state: 'delivered', attemptList: [{ peer: { tls: null } }] });
    t.equal(starttlsCount(peer), 1, 'it was tried once');
    t.equal(peer.connections, 4);
  });
}

function starttlsCount(peer: Peer): number {
  return peer.heard.filter((line) => line === 'STARTTLS').length;
}

t.test('after three days TLS gets another chance', async (t) => {
  const { harness } = await stageWith(t, [secured]);
  const since = Date.now() - 3 * DAY_MS;
  await harness.store.transportSecurity.putBrokenTls(
    { host: TEST_ONLY_HOST, reason: 'x', since, expiresAt: since + 3 * DAY_MS },
    10,
  );
  t.match(await sendOne(harness), {
    attemptList: [{ peer: { tls: { verified: true }, tlsPolicy: { failure: null } } }],
  });
});

t.test('a refusal of STARTTLS costs little, may be over soon, and is not remembered', async (t) => {
  const { harness } = await stageWith(t, [refusal, clearText, secured]);
  const first = await sendOne(harness);
  t.match(first, { state: 'delivered', attemptList: [{ peer: { tlsPolicy: { failure: /TLS not available/ } } }] });
  t.equal(await remembered(harness), null);
  t.match(await sendOne(harness), { attemptList: [{ peer: { tls: { verified: true } } }] });
});

t.test('a host that fails in clear text too is not remembered: it was not TLS', async (t) => {
  const { harness } = await stageWith(t, [garbage, (c) => c.reset()]);
  const message = await sendOne(harness);
  t.match(message, { state: 'deferred', attemptList: [{ peer: { tlsPolicy: { failure: /TLS handshake/ } } }] });
  t.equal(await remembered(harness), null);
});

t.test('under a policy that enforces TLS', async (t) => {
  const mtaSts = { port: 9 };
  const put = (harness: DeliveryHarness) => {
    const now = Date.now();
    const policy = { domain: 'rcpt.test', policyId: '1', mode: 'enforce', mx: [TEST_ONLY_HOST] } as const;
    return harness.store.transportSecurity.putTlsPolicy(
      { ...policy, mx: [...policy.mx], fetchedAt: now, expiresAt: now + DAY_MS },
      10,
    );
  };

  await t.test('what is remembered is of no account', async (t) => {
    const { harness } = await stageWith(t, [secured], { mtaSts });
    await put(harness);
    const since = Date.now();
    await harness.store.transportSecurity.putBrokenTls(
      { host: TEST_ONLY_HOST, reason: 'x', since, expiresAt: since + DAY_MS },
      10,
    );
    t.match(await sendOne(harness), { state: 'delivered', attemptList: [{ peer: { tls: { verified: true } } }] });
  });

  await t.test('a handshake that fails is the end of the attempt, and not remembered', async (t) => {
    const { peer, harness } = await stageWith(t, [garbage, clearText], { mtaSts });
    await put(harness);
    t.match(await sendOne(harness), {
      state: 'deferred',
      lastReason: /\(enforce\) cannot be satisfied: .*TLS handshake/,
    });
    t.equal(peer.connections, 1);
    t.equal(await remembered(harness), null);
  });
});
