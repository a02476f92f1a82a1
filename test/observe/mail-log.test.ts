// One message's life, followed by its id through the lines that the daemon would write.
import t from 'tap';
import { noPeer, type PeerFacts } from '../../src/base/outcome.ts';
import { createLogger } from '../../src/observe/log.ts';
import * as mailLog from '../../src/observe/mail-log.ts';

const MESSAGE = { id: 'm-1', tenantId: 't-1', submissionId: 's-1', recipient: 'jo@Example.com', subject: 'Top secret' };

const PEER: PeerFacts = {
  mx: 'mx.example.com',
  remoteIp: '192.0.2.25',
  stage: 'dot',
  smtpCode: 250,
  enhancedCode: '2.0.0',
  response: '2.0.0 OK',
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: false },
  tlsPolicy: { mode: 'testing', failure: 'the MX host is not named by the policy' },
  elapsedMs: 120,
};

const GREYLISTED: PeerFacts = {
  ...PEER,
  stage: 'rcpt',
  smtpCode: 451,
  enhancedCode: '4.7.1',
  response: 'greylisted',
  tls: null,
};

function write(facts: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  facts(createLogger({ level: 'info', to: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line));
}

t.test('a life with a detour', async (t) => {
  const lines = write((log) => {
    mailLog.accepted(log, MESSAGE, { fromDomain: 'shop.example', sendAt: null });
    mailLog.accepted(log, { ...MESSAGE, id: 'm-2' }, { fromDomain: 'shop.example', sendAt: null });
    mailLog.attemptStarted(log, MESSAGE, { attempt: 1 });
    mailLog.deferred(log, MESSAGE, {
      attempt: 1,
      peer: GREYLISTED,
      reason: '451 greylisted',
      nextAttemptAt: 60_000,
      ambiguous: false,
    });
    mailLog.requeued(log, MESSAGE, { reason: 'retried by an operator', dueAt: 1000 });
    mailLog.attemptStarted(log, MESSAGE, { attempt: 2 });
    mailLog.delivered(log, MESSAGE, { attempt: 2, peer: PEER });
    mailLog.complained(log, MESSAGE, { source: 'arf', suppressed: true });
  }).filter((line) => line.message_id === 'm-1');

  t.same(
    lines.map(({ fact }) => fact),
    ['accepted', 'attempt_started', 'deferred', 'requeued', 'attempt_started', 'delivered', 'complained'],
  );
  for (const line of lines) {
    t.match(line, {
      submission_id: 's-1',
      tenant_id: 't-1',
      recipient: 'jo@Example.com',
      recipient_domain: 'Example.com',
    });
  }
  t.match(lines[0], { level: 'info', from_domain: 'shop.example' });
  t.match(lines[2], {
    attempt: 1,
    stage: 'rcpt',
    mx: 'mx.example.com',
    remote_ip: '192.0.2.25',
    smtp_code: 451,
    enhanced_code: '4.7.1',
    reply: 'greylisted',
    tls: null,
    reason: '451 greylisted',
    next_attempt_at: '1970-01-01T00:01:00.000Z',
    ambiguous: false,
  });
  t.match(lines[5], { attempt: 2, smtp_code: 250, tls: 'TLSv1.3', tls_verified: false, elapsed_ms: 120 });
  t.match(lines[5], { tls_cipher: 'TLS_AES_256_GCM_SHA384', tls_policy: 'testing', tls_failure: /not named/ });
  t.notOk(JSON.stringify(lines).includes('Top secret'), 'the subject stays out even when it is handed over');
});

t.test('the other ends', async (t) => {
  const attempt = { attempt: 3, peer: PEER };
  const lines = write((log) => {
    mailLog.bounced(log, MESSAGE, {
      attempt,
      source: 'smtp',
      bounce: 'hard',
      reason: 'no such user',
      suppressed: true,
    });
    mailLog.bounced(log, MESSAGE, { attempt: null, source: 'dsn', bounce: 'soft', reason: 'full', suppressed: false });
    mailLog.failed(log, MESSAGE, { reason: 'lifetime over', attempts: 3, attempt: null });
    mailLog.failed(log, MESSAGE, {
      reason: 'no route',
      attempts: 1,
      attempt: { attempt: 1, peer: noPeer('resolve', 'no MX') },
    });
    mailLog.parked(log, MESSAGE, { reason: 'content is gone', error: new Error('row 7') });
    mailLog.canceled(log, MESSAGE, { reason: 'by an operator' });
    mailLog.suppressed(log, { tenantId: 't-1', submissionId: 's-1', recipient: 'x@example.com', reason: 'complaint' });
  });
  t.match(lines, [
    { fact: 'bounced', attempt: 3, source: 'smtp', bounce: 'hard', reason: 'no such user', suppressed: true },
    { fact: 'bounced', source: 'dsn', bounce: 'soft', suppressed: false },
    { level: 'warn', fact: 'failed', attempts: 3, reason: 'lifetime over' },
    { fact: 'failed', attempts: 1, stage: 'resolve', reply: 'no MX', mx: null },
    { level: 'error', fact: 'parked', reason: 'content is gone', error: { message: 'row 7' } },
    { level: 'warn', fact: 'canceled', reason: 'by an operator' },
    { fact: 'suppressed', submission_id: 's-1', recipient_domain: 'example.com', reason: 'complaint' },
  ]);
  t.notOk('attempt' in lines[1]!, 'a report is no attempt');
});
