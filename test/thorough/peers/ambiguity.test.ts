// A connection that is lost behind the final dot: the message may have arrived. It is marked so,
// shown so, survives a crash so, waits longer than others, and never jumps to another MX at once.
import t from 'tap';
import type { MessageDetail } from '../../../src/store/queue.ts';
import { setMx, setUpFor } from '../../delivery/set-up.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startMailSink } from '../../support/mail-sink.ts';
import { noSmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { messageIdOf, RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

const HOUR_MS = 3_600_000;

t.test('what the operator sees, before and after a crash', async (t) => {
  const mood = { loses: true };
  const world = await startWorld(t, {
    sink: { onMail: () => (mood.loses ? 'keep and drop' : null) },
    settings: { delivery: { retry_steps: ['1h'], retry_jitter: 0 } },
  });
  const { dns, postrider, sink } = world;
  const other = await startMailSink({ host: '127.0.0.2', port: sink.port });
  t.teardown(() => other.close());
  dns.set(RECEIVER, 'MX', [
    { exchange: `mx.${RECEIVER}`, preference: 10 },
    { exchange: `mx2.${RECEIVER}`, preference: 20 },
  ]);
  dns.set(`mx2.${RECEIVER}`, 'A', ['127.0.0.2']);
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const [id] = await send(daemon, sender, `joe@${RECEIVER}`);
  const line = await daemon.logged({ fact: 'deferred', message_id: id! });
  t.match(line, { ambiguous: true, stage: 'dot', smtp_code: null });

  const shown = await postrider.json('queue', 'show', id!);
  t.match(shown, {
    state: 'deferred',
    ambiguous: true,
    last_reason: /lost after the message was sent, so it may have arrived/,
    attempt_list: [{ attempt: 1, outcome: 'temporary', stage: 'dot', smtp_code: null, tls: null }],
  });
  const [attempt] = shown.attempt_list as { tls_policy: unknown }[];
  t.strictSame(attempt!.tls_policy, { mode: 'none', failure: null });
  const nextAttempt = Date.parse(String(shown.next_attempt_at));
  t.ok(nextAttempt - Date.now() > 1.9 * HOUR_MS, 'twice the first step of the ladder');
  t.match(await postrider.runHere('queue', 'show', id!), { code: 0, stdout: /^ambiguous: +yes$/m });

  await daemon.kill();
  const next = await postrider.serve();
  t.match(await postrider.json('queue', 'show', id!), { ambiguous: true, next_attempt_at: shown.next_attempt_at });
  t.equal(sink.mails.length, 1, 'not sent again at the start');
  t.equal(other.connections.total, 0, 'the other MX was not called');

  mood.loses = false;
  await postrider.runHere('queue', 'retry', id!);
  await next.logged({ fact: 'delivered', message_id: id! });
  t.match(await postrider.json('queue', 'show', id!), { state: 'delivered', ambiguous: false, attempts: 2 });
  const copies = sink.mails.map(({ raw }) => messageIdOf(raw));
  t.same(copies, [id, id], 'whoever gets it twice can tell by the Message-ID');
});

t.test('smtp-sink that hangs up behind the dot', { skip: noSmtpSink }, async (t) => {
  const [first, second] = ['127.0.0.2', '127.0.0.3'];
  const port = await findFreePort([first, second]);
  const lossy = await startSmtpSink(first, port, '-q', '.');
  t.teardown(() => lossy.stop());
  const backup = await startMailSink({ host: second, port });
  t.teardown(() => backup.close());
  const harness = await setUpFor(t, port, { retryStepsMs: [150] });
  setMx(harness, 'rcpt.test', {
    'mx.rcpt.test': { ip: first, preference: 10 },
    'mx2.rcpt.test': { ip: second, preference: 20 },
  });
  const [id] = await harness.send(['ann@rcpt.test']);
  const wasLost = ({ attemptList }: MessageDetail) => attemptList.length > 0;
  t.match(await harness.until(id!, wasLost), { attemptList: [{ peer: { mx: 'mx.rcpt.test', stage: 'dot' } }] });
  t.equal(backup.connections.total, 0, 'not at once');
  await lossy.stop();
  const delivered = await harness.until(id!, ({ state }) => state === 'delivered');
  t.match(delivered.attemptList.at(-1), { outcome: 'delivered', peer: { mx: 'mx2.rcpt.test' } });
  const [lost, after] = delivered.attemptList;
  const pauseMs = after!.startedAt - lost!.startedAt - lost!.peer.elapsedMs;
  // Twice the first step of 150 ms, less its jitter of a fifth.
  t.ok(pauseMs >= 235, `later: ${pauseMs} ms`);
});
