// Mail to a real Exim, and the faults that it can show by its configuration. Where each fault of
// receiving servers is shown, here or elsewhere, stands in test/thorough/peers/README.md.
import t, { type Test } from 'tap';
import type { MessageDetail } from '../../../src/store/queue.ts';
import { setMx, setUpFor } from '../../delivery/set-up.ts';
import type { DeliveryHarness, DeliveryHarnessOptions } from '../../support/delivery-harness.ts';
import { type Exim, type EximOptions, noExim, startExim } from '../../support/exim-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { pace } from '../../support/patience.ts';
import { createTestAuthority } from '../../support/test-authority.ts';

const isTried = (message: MessageDetail) => message.attemptList.length > 0 && message.state !== 'sending';
const isFinished = ({ state }: MessageDetail) => ['delivered', 'bounced', 'failed'].includes(state);

interface Stage {
  exim: Exim;
  harness: DeliveryHarness;
}

async function setStage(
  t: Test,
  options: Partial<EximOptions>,
  change: Partial<DeliveryHarnessOptions> = {},
): Promise<Stage> {
  const address = '127.0.0.8';
  const port = await findFreePort([address]);
  const exim = await startExim({ address, port, ...options });
  t.teardown(() => exim.close());
  const limits = { sessionsPerGroup: 1 };
  const harness = await setUpFor(t, port, { retryStepsMs: [200], limits, timeoutFactor: 1, ...change });
  setMx(harness, 'rcpt.test', { 'mx.exim.test': { ip: address } });
  return { exim, harness };
}

t.test('a real Exim', { skip: noExim }, async (t) => {
  await t.test('STARTTLS (GnuTLS): a verified certificate, and many messages over one connection', async (t) => {
    const authority = createTestAuthority();
    t.teardown(() => authority.close());
    const { keyFile, certFile } = authority.issue('mx.exim.test');
    const settings = [`tls_certificate = ${certFile}`, `tls_privatekey = ${keyFile}`];
    const { exim, harness } = await setStage(t, { settings }, { trustedRoots: authority.ca });
    const to = Array.from({ length: 20 }, (_, n) => `user${n}@rcpt.test`);
    const messages = await harness.untilAll(await harness.send(to, { text: 'one\n.\n..two\n' }), isFinished);
    t.ok(messages.every(({ state, attempts }) => state === 'delivered' && attempts === 1));
    t.match(messages[0]!.attemptList[0]!.peer, {
      smtpCode: 250,
      response: /^OK id=/,
      tls: { version: 'TLSv1.3', cipher: String, verified: true },
    });
    const bodies = await exim.bodies();
    t.equal(bodies.length, 20);
    t.ok(
      bodies.every((body) => /^one\n\.\n\.\.two$/m.test(body)),
      'dots are what they were',
    );
  });

  await t.test('greylisting by 451: not now, then yes', async (t) => {
    // `seen` is Exim's own means for it; true when the key was first met that long ago.
    const acl = ['check_rcpt:', '  defer message = Greylisted', '        !seen = 1s / key=$local_part', '  accept'];
    const { exim, harness } = await setStage(t, { acl });
    const [id] = await harness.send(['ann@rcpt.test']);
    const message = await harness.until(id!, isFinished);
    t.match(message, { state: 'delivered' });
    t.match(message.attemptList[0], { outcome: 'temporary', peer: { stage: 'rcpt', smtpCode: 451 } });
    t.match(await exim.log(), /temporarily rejected RCPT <ann@rcpt\.test>: Greylisted/);
  });

  await t.test('421 in the middle of a session: the rest goes over new connections', async (t) => {
    const { exim, harness } = await setStage(t, { settings: ['smtp_accept_max_per_connection = 2'] });
    const to = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@rcpt.test`);
    const messages = await harness.untilAll(await harness.send(to), isFinished);
    t.ok(messages.every(({ state }) => state === 'delivered'));
    t.equal((await exim.bodies()).length, 5, 'nothing twice');
    t.match(await exim.log(), /too many messages in one connection/);
  });

  await t.test('a small SIZE, announced', async (t) => {
    const { harness } = await setStage(t, { settings: ['message_size_limit = 5K'] });
    const [large] = await harness.send(['ann@rcpt.test'], { text: 'A line of text.\n'.repeat(1000) });
    const [little] = await harness.send(['ann@rcpt.test']);
    t.match(await harness.until(large!, isTried), {
      state: 'bounced',
      attemptList: [{ peer: { stage: 'mail', enhancedCode: '5.3.4' } }],
    });
    t.equal((await harness.until(little!, isTried)).state, 'delivered');
  });

  await t.test('neither 8BITMIME nor SMTPUTF8: umlauts as ASCII, and no way to jürgen', async (t) => {
    const settings = ['accept_8bitmime = false', 'smtputf8_advertise_hosts ='];
    const { exim, harness } = await setStage(t, { settings });
    const [ann, juergen] = await harness.send(['ann@rcpt.test', 'jürgen@rcpt.test'], { text: 'Größe, 日本語\n' });
    t.equal((await harness.until(ann!, isTried)).state, 'delivered');
    t.match(await exim.bodies(), [/^[\x00-\x7f]*$/]);
    t.match(await harness.until(juergen!, isTried), {
      state: 'bounced',
      attemptList: [{ outcome: 'permanent', peer: { smtpCode: null, enhancedCode: '5.6.7' } }],
    });
  });

  await t.test('SMTPUTF8, where it is offered', async (t) => {
    const { harness } = await setStage(t, { settings: ['smtputf8_advertise_hosts = *'] });
    const [id] = await harness.send(['jürgen@rcpt.test']);
    t.equal((await harness.until(id!, isTried)).state, 'delivered');
  });

  await t.test('a refusal that ends the connection (drop): a bounce, and the next message goes', async (t) => {
    const acl = ['check_rcpt:', '  drop message = go away', '       local_parts = unwanted', '  accept'];
    const { harness } = await setStage(t, { acl });
    const ids = await harness.send(['unwanted@rcpt.test', 'ann@rcpt.test']);
    const [unwanted, ann] = await harness.untilAll(ids, isTried);
    t.match(unwanted, { state: 'bounced', attemptList: [{ peer: { stage: 'rcpt', smtpCode: 550 } }] });
    t.match(ann, { state: 'delivered', attempts: 1 });
  });

  await t.test('a server that takes a second for every answer is waited for', async (t) => {
    const acl = ['check_mail:', '  accept delay = 1s', 'check_rcpt:', '  accept delay = 1s'];
    const { harness } = await setStage(t, { acl, settings: ['acl_smtp_mail = check_mail'] });
    const [id] = await harness.send(['ann@rcpt.test']);
    const { state, attemptList } = await harness.until(id!, isTried);
    t.equal(state, 'delivered');
    t.ok(attemptList[0]!.peer.elapsedMs >= 2000);
  });

  await t.test('a stall in STARTTLS: clear text in the same attempt, and at once in the next', async (t) => {
    const acl = ['check_starttls:', '  accept delay = 20s'];
    const settings = ['acl_smtp_starttls = check_starttls'];
    // A minute shrunk to 0.6 s.
    const change = { timeoutFactor: 0.01 * pace(), limits: { messagesPerSession: 1 } };
    const { harness } = await setStage(t, { acl, settings }, change);
    for (const failure of [/^no reply within [\d.]+ s$/, /^clear text until .* the TLS of mx\.exim\.test broke/]) {
      const [id] = await harness.send(['ann@rcpt.test']);
      const message = await harness.until(id!, isTried);
      t.match(message, { state: 'delivered', attempts: 1 });
      t.match(message.attemptList[0]!.peer, { tls: null, tlsPolicy: { mode: 'none', failure } });
    }
  });

  await t.test('an Exim that dies behind the final dot: ambiguous, waits, and is not sent elsewhere', async (t) => {
    const acl = ['check_data:', '  accept delay = 20s'];
    const options = { acl, settings: ['acl_smtp_data = check_data'] };
    const { exim, harness } = await setStage(t, options, { retryStepsMs: [60_000] });
    const [id] = await harness.send(['ann@rcpt.test']);
    // The child that has the connection writes its spool file when the dot has come.
    let spooled = 0;
    while (spooled === 0) {
      spooled = (await exim.bodies()).length;
      await new Promise(setImmediate);
    }
    exim.killConnections();
    const message = await harness.until(id!, isTried);
    t.match(message, {
      state: 'deferred',
      ambiguous: true,
      attempts: 1,
      lastReason: /lost after the message was sent, so it may have arrived/,
      attemptList: [{ outcome: 'temporary', peer: { stage: 'dot', smtpCode: null } }],
    });
    t.ok(message.dueAt! - Date.now() > 80_000, 'twice the usual pause, less its jitter');
  });
});
