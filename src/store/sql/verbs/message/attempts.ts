// Attempts: how each is kept, and read again. Most messages are delivered at their first attempt, and the event
// that is written with it has nearly all of its facts. Such an attempt has no row: the message notes when it began.

import type { PeerFacts, TlsFacts, TlsPolicyMode, TriedHost } from '../../../../base/outcome.ts';
import type { AttemptRecord, MessageUpdate } from '../../../queue.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';

export function* insertAttempt(db: Transaction, attempt: AttemptRecord): Steps<void> {
  const { peer } = attempt;
  yield* db
    .sql(
      `INSERT INTO attempts (message_id, number, tenant_id, outcome, started_at, elapsed_ms, stage, mx, remote_ip, tls,
       tls_policy, tls_failure, smtp_code, enhanced_code, response, tried)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?) ON CONFLICT DO NOTHING`,
    )
    .run(
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

/** The part of the event `email.delivered` that tells of its attempt. */
interface ToldDelivery {
  mx: string | null;
  remote_ip: string | null;
  smtp_code: number | null;
  enhanced_code: string | null;
  response: string;
  tls: (TlsFacts & { policy: TlsPolicyMode }) | null;
  elapsed_ms: number;
}

/** When the first attempt began, if nothing of it is lost without a row; otherwise null. It finishes the message. */
export function startOfFirstAttempt({ transition, attempt, event }: MessageUpdate): number | null {
  if (transition.to !== 'delivered' || event?.type !== 'email.delivered') return null;
  if (attempt?.attempt !== 1 || attempt.outcome !== 'delivered') return null;
  const told = event.data.delivery as ToldDelivery | undefined;
  return told && tellsAll(told, attempt.peer) ? attempt.startedAt : null;
}

function tellsAll(told: ToldDelivery, peer: PeerFacts): boolean {
  return (
    peer.stage === 'dot' &&
    peer.tried === undefined &&
    told.mx === peer.mx &&
    told.remote_ip === peer.remoteIp &&
    told.smtp_code === peer.smtpCode &&
    told.enhanced_code === peer.enhancedCode &&
    told.response === peer.response &&
    told.elapsed_ms === Math.round(peer.elapsedMs) &&
    tellsTls(told.tls, peer)
  );
}

/** An event has the policy's mode beside the facts of TLS, and no failure. */
function tellsTls(told: ToldDelivery['tls'], { tls, tlsPolicy: { mode, failure } }: PeerFacts): boolean {
  if (failure !== null) return false;
  if (tls === null || !told) return tls === null && told === null && mode === 'none';
  const { version, cipher, verified, policy } = told;
  return version === tls.version && cipher === tls.cipher && verified === tls.verified && policy === mode;
}

/** All of a message, in their order. `row` is its own. */
export function* attemptsOf(db: Queries, row: Row): Steps<AttemptRecord[]> {
  const first = row.first_attempt_at === null ? [] : yield* firstAttemptOf(db, row);
  const rows = (yield* db.sql('SELECT * FROM attempts WHERE message_id = +? ORDER BY number').all(row.id)) as Row[];
  return [...first, ...rows.map(attemptFromRow)];
}

/** None if the event is damaged: the message itself can be read. */
function* firstAttemptOf(
  db: Queries,
  { id, tenant_id: tenant, first_attempt_at: startedAt }: Row,
): Steps<AttemptRecord[]> {
  const find = db.sql(
    `SELECT data -> '$.delivery' FROM events
     WHERE tenant_id = +? AND message_id = +? AND type = 'email.delivered' AND json_valid(data) ORDER BY seq LIMIT 1`,
    'column',
  );
  const text = (yield* find.get(tenant, id)) as string | null | undefined;
  if (typeof text !== 'string') return [];
  const { mx, remote_ip: remoteIp, tls, response, ...told } = JSON.parse(text) as ToldDelivery;
  return [
    {
      messageId: fromId(id),
      tenantId: fromId(tenant),
      attempt: 1,
      startedAt: startedAt as number,
      outcome: 'delivered',
      peer: {
        mx,
        remoteIp,
        stage: 'dot',
        smtpCode: told.smtp_code,
        enhancedCode: told.enhanced_code,
        response,
        tls: tls && { version: tls.version, cipher: tls.cipher, verified: tls.verified },
        tlsPolicy: { mode: tls?.policy ?? 'none', failure: null },
        elapsedMs: told.elapsed_ms,
      },
    },
  ];
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
