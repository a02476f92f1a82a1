// MTA-STS from outside (RFC 8461): real DNS, a real HTTPS policy host, real SMTP servers with
// certificates of a test authority; what is delivered, what waits, and what is said about it.
import t, { type Test } from 'tap';
import { HOUR_MS } from '../../../src/base/clock.ts';
import type { MessageDetail } from '../../../src/store/queue.ts';
import { eventTypes, type MxList, setMx, setUpFor, startSink } from '../../delivery/set-up.ts';
import type { DeliveryHarness, DeliveryHarnessOptions } from '../../support/delivery-harness.ts';
import type { MailSink } from '../../support/mail-sink.ts';
import { patience, within } from '../../support/patience.ts';
import { type PolicyHost, policyText, startPolicyHost } from '../../support/policy-host.ts';
import { startPeer } from '../../support/smtp-peer.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_HOST } from '../../support/smtp-peer-tls.ts';
import { createTestAuthority, type TestCertificate } from '../../support/test-authority.ts';

const authority = createTestAuthority();
t.teardown(() => authority.close());
const policyCertificate = authority.issue('mta-sts.rcpt.test', 'mta-sts.other.test');
const mxCertificate = authority.issue('mx.rcpt.test');

const isTried = (message: MessageDetail) => message.attemptList.length > 0 && message.state !== 'sending';

interface Stage {
  harness: DeliveryHarness;
  host: PolicyHost;
}

/** An engine that obeys policies, and the host that serves one. */
async function setStage(t: Test, port: number, change: Partial<DeliveryHarnessOptions> = {}): Promise<Stage> {
  const host = await startPolicyHost(policyCertificate);
  t.teardown(() => host.close());
  const mtaSts = { port: host.port, ca: authority.ca };
  const harness = await setUpFor(t, port, { mtaSts, trustedRoots: authority.ca, ...change });
  return { harness, host };
}

function announce({ harness, host }: Stage, text: string, id = '1', domain = 'rcpt.test'): void {
  harness.dns.set(`_mta-sts.${domain}`, 'TXT', [`v=STSv1; id=${id};`]);
  harness.dns.set(`mta-sts.${domain}`, 'A', ['127.0.0.1']);
  host.serve(text);
}

async function sendOne(harness: DeliveryHarness, to = 'ann@rcpt.test'): Promise<MessageDetail> {
  const [id] = await harness.send([to]);
  return await harness.until(id!, isTried);
}

function secured(certificate: TestCertificate) {
  return { hideSTARTTLS: false, key: certificate.key, cert: certificate.cert };
}

const ONE_MX: MxList = { 'mx.rcpt.test': { ip: '127.0.0.1' } };

t.test('enforce: delivered over TLS with a certificate that is valid for the MX name', async (t) => {
  const sink = await startSink(t, { server: secured(mxCertificate) });
  const stage = await setStage(t, sink.port);
  setMx(stage.harness, 'rcpt.test', ONE_MX);
  announce(stage, policyText('enforce', ['mx.rcpt.test']));
  const message = await sendOne(stage.harness);
  t.match(message, { state: 'delivered', attempts: 1 });
  t.match(message.attemptList[0]!.peer, {
    tls: { version: 'TLSv1.3', cipher: /^TLS_/, verified: true },
    tlsPolicy: { mode: 'enforce', failure: null },
  });
  const [event] = await stage.harness.store.events.eventsOfMessage(stage.harness.tenantId, message.id);
  t.match(event!.data, { delivery: { tls: { version: 'TLSv1.3', verified: true, policy: 'enforce' } } });
  t.equal(sink.mails[0]!.secure, true);
});

const shortcomings: { name: string; server?: () => TestCertificate; mx?: string; reason: RegExp }[] = [
  { name: 'no STARTTLS', reason: /mx\.rcpt\.test \(starttls\): TLS is required here, but the server does not offer/ },
  {
    name: 'a certificate for another name',
    server: () => authority.issue('mx.elsewhere.test'),
    reason: /mx\.rcpt\.test \(starttls\): certificate not valid for mx\.rcpt\.test/,
  },
  { name: 'an MX that the policy does not name', mx: 'mx2.rcpt.test', reason: /it names none of mx\.rcpt\.test/ },
];
for (const { name, server, mx, reason } of shortcomings) {
  t.test(`${name}: enforce waits, testing delivers and says it`, async (t) => {
    const sink = await startSink(t, server && { server: secured(server()) });
    const stage = await setStage(t, sink.port);
    setMx(stage.harness, 'rcpt.test', ONE_MX);
    announce(stage, policyText('enforce', [mx ?? 'mx.rcpt.test']));
    const waiting = await sendOne(stage.harness);
    t.match(waiting, { state: 'deferred', ambiguous: false, attemptList: [{ outcome: 'temporary' }] });
    t.match(waiting.lastReason, /^the MTA-STS policy of rcpt\.test \(enforce\) cannot be satisfied: /);
    t.match(waiting.lastReason, reason);
    t.match(waiting.attemptList[0]!.peer, { smtpCode: null, tlsPolicy: { mode: 'enforce' } });
    t.equal(sink.mails.length, 0);
    t.same(await eventTypes(stage.harness, waiting.id), ['email.deferred']);

    const fresh = await setStage(t, sink.port);
    setMx(fresh.harness, 'rcpt.test', ONE_MX);
    announce(fresh, policyText('testing', [mx ?? 'mx.rcpt.test']));
    const delivered = await sendOne(fresh.harness);
    t.equal(delivered.state, 'delivered');
    t.match(delivered.attemptList[0]!.peer.tlsPolicy, {
      mode: 'testing',
      failure: /^the MTA-STS policy of rcpt\.test/,
    });
  });
}

t.test('enforce: only the MX that the policy names is called, whatever its preference', async (t) => {
  const clear = await startSink(t);
  const named = await startSink(t, {
    host: '127.0.0.2',
    port: clear.port,
    server: secured(authority.issue('backup.rcpt.test')),
  });
  const stage = await setStage(t, clear.port);
  setMx(stage.harness, 'rcpt.test', {
    'mx.rcpt.test': { ip: '127.0.0.1', preference: 10 },
    'backup.rcpt.test': { ip: '127.0.0.2', preference: 20 },
  });
  announce(stage, policyText('enforce', ['backup.rcpt.test']));
  t.match(await sendOne(stage.harness), { state: 'delivered', attemptList: [{ peer: { mx: 'backup.rcpt.test' } }] });
  t.equal(clear.connections.total, 0);
  t.equal(named.mails.length, 1);
});

t.test('enforce: a host that is not there is no failure of the policy', async (t) => {
  const sink = await startSink(t, { server: secured(mxCertificate) });
  const stage = await setStage(t, sink.port);
  setMx(stage.harness, 'rcpt.test', { 'mx.rcpt.test': { ip: '127.0.0.9' } });
  announce(stage, policyText('enforce', ['mx.rcpt.test']));
  const message = await sendOne(stage.harness);
  t.match(message, {
    state: 'deferred',
    lastReason: /^no mail server of the recipient accepted a connection: \S+ \(\S+\): connect/,
  });
  t.match(message.attemptList[0]!.peer, { stage: 'connect', tlsPolicy: { mode: 'enforce', failure: null } });
});

t.test('a policy outlives a restart, its TXT record and its host', async (t) => {
  const sink = await startSink(t);
  const stage = await setStage(t, sink.port);
  const { harness, host } = stage;
  setMx(harness, 'rcpt.test', ONE_MX);
  announce(stage, policyText('enforce', ['mx.rcpt.test']));
  t.equal((await sendOne(harness)).state, 'deferred');
  t.equal(host.asked.length, 1);
  harness.dns.remove('_mta-sts.rcpt.test');
  await host.close();
  await harness.restartDelivery();
  t.match(await sendOne(harness, 'bob@rcpt.test'), {
    state: 'deferred',
    lastReason: /\(enforce\) cannot be satisfied/,
  });
  t.equal(sink.mails.length, 0);
});

t.test('another id: the new policy holds; when it cannot be fetched, the old one does', async (t) => {
  const sink = await startSink(t);
  const stage = await setStage(t, sink.port);
  const { harness, host } = stage;
  setMx(harness, 'rcpt.test', ONE_MX);
  const now = Date.now();
  const known = { domain: 'rcpt.test', mode: 'enforce', mx: ['mx.rcpt.test'], fetchedAt: now } as const;
  const put = (policyId: string, expiresAt: number) =>
    harness.store.transportSecurity.putTlsPolicy({ ...known, mx: [...known.mx], policyId, expiresAt }, 10);

  await put('old', now + HOUR_MS);
  announce(stage, 'no policy at all', 'new');
  t.equal((await sendOne(harness)).state, 'deferred', 'a failing fetch takes nothing away');
  t.match(await harness.store.transportSecurity.findTlsPolicy('rcpt.test', now), { policyId: 'old', mode: 'enforce' });
  t.equal(host.asked.length, 1);

  await put('old', now - 1);
  const after = await sendOne(harness, 'bob@rcpt.test');
  t.match(after, { state: 'delivered', attemptList: [{ peer: { tlsPolicy: { mode: 'none' } } }] }, 'it has run out');
  t.equal(host.asked.length, 1, 'and the host is left in peace for a while');

  await put('old', now + HOUR_MS);
  await harness.restartDelivery(); // which forgets the failure
  host.serve(policyText('none', []));
  t.equal((await sendOne(harness, 'cat@rcpt.test')).state, 'delivered');
  t.match(await harness.store.transportSecurity.findTlsPolicy('rcpt.test', now), { policyId: 'new', mode: 'none' });
});

t.test('the end of the engine does not wait for a policy host that hangs', async (t) => {
  const sink = await startSink(t);
  const stage = await setStage(t, sink.port);
  setMx(stage.harness, 'rcpt.test', ONE_MX);
  announce(stage, '');
  const asked = Promise.withResolvers<void>();
  stage.host.serve(() => asked.resolve());
  await stage.harness.send(['ann@rcpt.test']);
  await asked.promise;
  const stopped = stage.harness.stopDelivery();
  await t.resolves(within(4000, 'the engine stops: the host would have had ten seconds', stopped));
});

t.test('without a policy nothing is asked over HTTPS', async (t) => {
  const sink = await startSink(t);
  const { harness, host } = await setStage(t, sink.port);
  setMx(harness, 'rcpt.test', ONE_MX);
  harness.dns.set('mta-sts.rcpt.test', 'A', ['127.0.0.1']);
  const message = await sendOne(harness);
  t.match(message.attemptList, [
    { outcome: 'delivered', peer: { tls: null, tlsPolicy: { mode: 'none', failure: null } } },
  ]);
  t.same(host.asked, []);
});

t.test('domains with different policies on one MX', async (t) => {
  const limits = { sessionsPerGroup: 1, lingerMs: patience(5000) };
  const stageFor = async (t: Test, port: number) => {
    const stage = await setStage(t, port, { limits, trustedRoots: TEST_ONLY_CERTIFICATE });
    for (const domain of ['rcpt.test', 'other.test']) {
      setMx(stage.harness, domain, { [TEST_ONLY_HOST]: { ip: '127.0.0.1' } });
    }
    announce(stage, policyText('enforce', [TEST_ONLY_HOST]));
    return stage;
  };

  await t.test('an open connection in clear text is not good enough for the stricter one', async (t) => {
    const peer = await startPeer([
      async (c) => {
        await c.welcome();
        for (;;) {
          await c.takeMessage();
          c.say('250 ok');
        }
      },
      async (c) => {
        await c.welcome('STARTTLS');
        await c.startTls();
        await c.hello();
        for (;;) {
          await c.takeMessage();
          c.say('250 ok');
        }
      },
    ]);
    t.teardown(() => peer.close().catch(() => {}));
    const { harness } = await stageFor(t, peer.port);
    t.match(await sendOne(harness, 'ann@other.test'), { state: 'delivered', attemptList: [{ peer: { tls: null } }] });
    t.match(await sendOne(harness), { state: 'delivered', attemptList: [{ peer: { tls: { verified: true } } }] });
    t.match(await sendOne(harness, 'bob@other.test'), { attemptList: [{ peer: { tls: { verified: true } } }] });
    t.equal(peer.connections, 2, 'what satisfies the stricter one is shared');
  });

  await t.test('mail without a policy goes on when the stricter one has to wait', async (t) => {
    const sink: MailSink = await startSink(t);
    const { harness } = await stageFor(t, sink.port);
    const ids = await harness.send(['ann@rcpt.test', 'ann@other.test', 'bob@rcpt.test', 'bob@other.test']);
    const messages = await harness.untilAll(ids, isTried);
    t.same(
      messages.map(({ state }) => state),
      ['deferred', 'delivered', 'deferred', 'delivered'],
    );
    t.same(sink.mails.map(({ to }) => to).sort(), ['ann@other.test', 'bob@other.test']);
    t.equal(sink.connections.total, 2, 'one that did not satisfy the policy, and one for the others');
  });
});
