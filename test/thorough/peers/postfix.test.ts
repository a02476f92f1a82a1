// Mail to a real Postfix, and the faults that it can show by its configuration. Where each fault of
// receiving servers is shown, here or elsewhere, stands in test/thorough/peers/README.md.
import { createServer, type Socket } from 'node:net';
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import type { MessageDetail } from '../../../src/store/queue.ts';
import { setMx, setUpFor } from '../../delivery/set-up.ts';
import type { DeliveryHarness } from '../../support/delivery-harness.ts';
import { findFreePort } from '../../support/free-port.ts';
import { noPostfix, type Postfix, startPostfix } from '../../support/postfix-server.ts';
import { createTestAuthority } from '../../support/test-authority.ts';

/** One address per kind of server; the domain that leads there has its name. */
const SERVERS = {
  'tls.test': '127.0.0.2',
  'ascii.test': '127.0.0.3',
  'small.test': '127.0.0.4',
  'silent-small.test': '127.0.0.5',
  'grey.test': '127.0.0.6',
  'busy.test': '127.0.0.7',
};
const SMALL_OCTETS = 5000;

const isTried = (message: MessageDetail) => message.attemptList.length > 0 && message.state !== 'sending';
const isFinished = ({ state }: MessageDetail) => ['delivered', 'bounced', 'failed'].includes(state);

interface Stage {
  postfix: Postfix;
  harness: DeliveryHarness;
}

async function setStage(t: Test): Promise<Stage> {
  const authority = createTestAuthority();
  t.teardown(() => authority.close());
  const { keyFile, certFile } = authority.issue('mx.tls.test');
  const port = await findFreePort(Object.values(SERVERS));
  const tls = { smtpd_tls_cert_file: certFile, smtpd_tls_key_file: keyFile, smtpd_tls_security_level: 'may' };
  const postfix = await startPostfix({
    port,
    settings: { busy_recipients: 'inline:{ { busy@busy.test = 421 4.7.0 Too much mail, come back later } }' },
    listeners: {
      [SERVERS['tls.test']]: tls,
      [SERVERS['ascii.test']]: { smtpd_discard_ehlo_keywords: '8bitmime, smtputf8' },
      [SERVERS['small.test']]: { message_size_limit: `${SMALL_OCTETS}` },
      [SERVERS['silent-small.test']]: { message_size_limit: `${SMALL_OCTETS}`, smtpd_discard_ehlo_keywords: 'size' },
      [SERVERS['grey.test']]: {
        smtpd_recipient_restrictions: `check_policy_service inet:127.0.0.1:${await startGreylist(t)}`,
      },
      [SERVERS['busy.test']]: { smtpd_recipient_restrictions: 'check_recipient_access $busy_recipients' },
    },
  });
  t.teardown(() => postfix.close());
  const limits = { sessionsPerGroup: 1 };
  const harness = await setUpFor(t, port, {
    trustedRoots: authority.ca,
    retryStepsMs: [100],
    limits,
    timeoutFactor: 1,
  });
  for (const [domain, ip] of Object.entries(SERVERS)) setMx(harness, domain, { [`mx.${domain}`]: { ip } });
  return { postfix, harness };
}

/** Refuses every sender's first call about a recipient, over Postfix' policy protocol. */
async function startGreylist(t: Test): Promise<number> {
  const seen = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let heard = '';
    socket.on('data', (chunk) => {
      heard += chunk;
      if (!heard.endsWith('\n\n')) return;
      const triple = heard.split('\n').filter((line) => /^(client_address|sender|recipient)=/.test(line));
      heard = '';
      const known = seen.has(triple.join());
      seen.add(triple.join());
      socket.write(`action=${known ? 'DUNNO' : '451 4.7.1 Greylisted'}\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

t.test('a real Postfix', { skip: noPostfix }, async (t) => {
  const { postfix, harness } = await setStage(t);

  await t.test('STARTTLS: version, cipher and a verified certificate', async (t) => {
    const [id] = await harness.send(['ann@tls.test'], { subject: 'over TLS' });
    const message = await harness.until(id!, isTried);
    t.match(message, { state: 'delivered', attempts: 1 });
    t.match(message.attemptList[0]!.peer, {
      smtpCode: 250,
      response: /queued as/,
      tls: { version: 'TLSv1.3', cipher: /^TLS_/, verified: true },
    });
    t.match(await postfix.mailWith('To: ann@tls.test'), /^Subject: over TLS$/m);
  });

  await t.test('100 messages over one connection arrive whole', async (t) => {
    const to = Array.from({ length: 50 }, (_, n) => `user${n}@tls.test`);
    const ids = [...(await harness.send(to, { text: 'one\n.\n..two\n' })), ...(await harness.send(to))];
    const messages = await harness.untilAll(ids, isFinished);
    t.ok(messages.every(({ state, attempts }) => state === 'delivered' && attempts === 1));
  });

  await t.test('a small SIZE that it announces: refused before it is sent', async (t) => {
    const text = 'A line of text.\n'.repeat(SMALL_OCTETS / 10);
    const [large] = await harness.send(['ann@small.test'], { text });
    t.match(await harness.until(large!, isTried), {
      state: 'bounced',
      attemptList: [{ peer: { stage: 'mail', smtpCode: null, enhancedCode: '5.3.4' } }],
    });
    const [little] = await harness.send(['ann@small.test']);
    t.equal((await harness.until(little!, isTried)).state, 'delivered');
  });

  await t.test('a small SIZE that it keeps to itself: 552 at the final dot', async (t) => {
    const text = 'A line of text.\n'.repeat(SMALL_OCTETS / 10);
    const [large] = await harness.send(['ann@silent-small.test'], { text });
    t.match(await harness.until(large!, isTried), {
      state: 'bounced',
      attemptList: [{ peer: { stage: 'dot', smtpCode: 552, enhancedCode: '5.3.4' } }],
    });
    const page = { after: null, limit: 10 };
    t.same(await harness.store.suppressions.listSuppressions(harness.tenantId, page), [], 'a size suppresses nobody');
  });

  await t.test('greylisting by 451: not now, then yes', async (t) => {
    const [id] = await harness.send(['ann@grey.test']);
    const message = await harness.until(id!, isFinished);
    t.match(message, {
      state: 'delivered',
      attempts: 2,
      attemptList: [
        { outcome: 'temporary', peer: { stage: 'rcpt', smtpCode: 451, enhancedCode: '4.7.1' } },
        { outcome: 'delivered' },
      ],
    });
  });

  await t.test('421 in the middle of a session: one message waits, the others go on', async (t) => {
    const ids = await harness.send(['ann@busy.test', 'busy@busy.test', 'cat@busy.test'], { lifetimeMs: 60_000 });
    const [ann, busy, cat] = await harness.untilAll(ids, isTried);
    t.match([ann, cat], [{ state: 'delivered' }, { state: 'delivered' }]);
    t.match(busy!.attemptList[0], { outcome: 'temporary', peer: { stage: 'rcpt', smtpCode: 421 } });
    await harness.store.queue.endWaiting({
      messageId: busy!.id,
      tenantId: harness.tenantId,
      at: Date.now(),
      attempt: null,
      transition: { to: 'failed', reason: 'the end of the test' },
      event: null,
    });
  });

  await t.test('without 8BITMIME: umlauts arrive, and nothing but ASCII was on the wire', async (t) => {
    const text = 'Größe und Übermut, 日本語\n';
    const [id] = await harness.send(['ann@ascii.test'], { subject: 'ascii-wire Grüße', text, fromName: 'Jörg' });
    t.equal((await harness.until(id!, isTried)).state, 'delivered');
    const raw = await postfix.mailWith('To: ann@ascii.test');
    t.match(raw, /^[\x00-\x7f]*$/);
    const mail = await simpleParser(raw);
    t.match(mail, { subject: 'ascii-wire Grüße', from: { value: [{ name: 'Jörg' }] } });
    t.equal(mail.text, text);
  });

  await t.test('SMTPUTF8: used where it is offered, refused with 5.6.7 where it is not', async (t) => {
    const [yes, no] = await harness.send(['jürgen@tls.test', 'jürgen@ascii.test'], { subject: 'over UTF-8' });
    t.match(await harness.until(yes!, isTried), { state: 'delivered' });
    t.match(await harness.until(no!, isTried), {
      state: 'bounced',
      attemptList: [{ outcome: 'permanent', peer: { stage: 'mail', smtpCode: null, enhancedCode: '5.6.7' } }],
    });
    t.match(await postfix.mailWith('X-Original-To: jürgen@tls.test'), /^Subject: over UTF-8$/m);
  });
});
