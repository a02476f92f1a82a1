// Attempts in SQLite: how each is kept, and read again.
import type { TlsFacts, TlsPolicyMode, TriedHost } from '../../../base/outcome.ts';
import type { AttemptRecord } from '../../queue.ts';
import type { Transaction } from '../engine/connection.ts';
import type { Queries } from '../engine/statements.ts';
import { fromId, type Row, toId } from '../engine/values.ts';

export function insertAttempt(db: Transaction, attempt: AttemptRecord): void {
  const { peer } = attempt;
  db.sql(
    `INSERT INTO attempts (message_id, number, tenant_id, outcome, started_at, elapsed_ms, stage, mx, remote_ip, tls,
       tls_policy, tls_failure, smtp_code, enhanced_code, response, tried)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?) ON CONFLICT DO NOTHING`,
  ).run(
    toId(attempt.messageId),
    attempt.attempt,
    toId(attempt.tenantId),
    attempt.outcome,
    attempt.startedAt,
    Math.round(peer.elapsedMs),
    peer.stage,
    peer.mx,
    peer.remoteIp,
    peer.tls ? JSON.stringify(peer.tls) : null,
    peer.tlsPolicy.mode,
    peer.tlsPolicy.failure,
    peer.smtpCode,
    peer.enhancedCode,
    peer.response,
    peer.tried ? JSON.stringify(peer.tried) : null,
  );
}

/** All of a message, in their order. */
export function attemptsOf(db: Queries, messageId: string): AttemptRecord[] {
  const rows = db.sql('SELECT * FROM attempts WHERE message_id = +? ORDER BY number').all(toId(messageId)) as Row[];
  return rows.map(attemptFromRow);
}

function attemptFromRow(row: Row): AttemptRecord {
  return {
    messageId: fromId(row.message_id),
    tenantId: fromId(row.tenant_id),
    attempt: row.number as number,
    startedAt: row.started_at as number,
    outcome: row.outcome as AttemptRecord['outcome'],
    peer: {
      mx: row.mx as string | null,
      remoteIp: row.remote_ip as string | null,
      stage: row.stage as AttemptRecord['peer']['stage'],
      smtpCode: row.smtp_code as number | null,
      enhancedCode: row.enhanced_code as string | null,
      response: row.response as string,
      tls: row.tls === null ? null : (JSON.parse(row.tls as string) as TlsFacts),
      tlsPolicy: { mode: row.tls_policy as TlsPolicyMode, failure: row.tls_failure as string | null },
      elapsedMs: row.elapsed_ms as number,
      ...(row.tried !== null && { tried: JSON.parse(row.tried as string) as TriedHost[] }),
    },
  };
}
