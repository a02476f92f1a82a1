// Webhook deliveries: leasing what is due, and recording results. Replays, history and erasing are in
// webhook-history.ts.

import { atStep } from '../../../../base/backoff.ts';
import type {
  ClaimedDeliveries,
  DeliveryClaim,
  DeliveryResult,
  Endpoint,
  FailingWebhook,
  LeaseTerms,
  WebhookDelivery,
  WebhookDeliveryStore,
} from '../../../webhooks.ts';
import { only, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { eventFromRow } from '../message/events.ts';
import { CurrentOwners, isCurrent } from '../nodes/owners.ts';

type DeliveryVerbs = Work<
  Pick<
    WebhookDeliveryStore,
    'dueWebhooks' | 'readEndpoints' | 'claimDeliveries' | 'recordDeliveries' | 'listFailingWebhooks' | 'noteFailureTold'
  >
>;

export function deliveryVerbs(db: Transaction): DeliveryVerbs {
  return {
    dueWebhooks: (slots, after, limit) => dueWebhooks(db, slots, { after, limit }),
    *readEndpoints(webhookIds, now) {
      const found = yield* db.forAll(webhookIds, (webhookId) => endpointOf(db, webhookId, now));
      return found.map((one) => one?.endpoint ?? null);
    },
    *claimDeliveries(claims, terms) {
      const owners = yield* only(terms.owners, (owner) => isCurrent(db, owner));
      return yield* db.forAll(claims, (claim) => claimFor(db, claim, { ...terms, owners }));
    },
    recordDeliveries: (results, at) => record(db, results, at),
    listFailingWebhooks: (since) => listFailing(db, since),
    *noteFailureTold({ webhookId, failingSince }, at) {
      const note = db.sql('UPDATE webhooks SET told_at = +? WHERE id = +? AND failing_since = +? AND told_at IS NULL');
      return (yield* note.run(at, toId(webhookId), failingSince)).changes === 1;
    },
  };
}

function* dueWebhooks(
  db: Transaction,
  slots: readonly number[],
  { after, limit }: { after: string | null; limit: number },
) {
  const rows = (yield* db
    .sql(
      `SELECT w.id, w.slot, (SELECT min(d.due_at) FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL)
         AS due_at
       FROM webhooks w WHERE w.id > +? ORDER BY w.id LIMIT +?`,
    )
    .all(after === null ? Buffer.alloc(0) : toId(after), limit)) as Row[];
  const last = rows.at(-1);
  return {
    found: rows
      .filter((row) => row.due_at !== null && slots.includes(row.slot as number))
      .map((row) => ({ webhookId: fromId(row.id), dueAt: row.due_at as number })),
    last: last === undefined ? null : fromId(last.id),
  };
}

function* claimFor(db: Transaction, { webhookId, limit }: DeliveryClaim, terms: LeaseTerms): Steps<ClaimedDeliveries> {
  const found = yield* endpointOf(db, webhookId, terms.now);
  const owner = terms.owners.find(({ slot }) => slot === found?.slot);
  if (!found || !owner) return { webhookId, endpoint: null, deliveries: [], nextDueAt: null };
  const id = toId(webhookId);
  const due = db.sql(
    `SELECT d.event_seq, d.attempts, d.attempts_before, e.id, e.tenant_id, e.message_id, e.type, e.at, e.data
     FROM webhook_deliveries d LEFT JOIN events e ON e.seq = d.event_seq
     WHERE d.webhook_id = +? AND d.due_at IS NOT NULL AND d.due_at <= +? ORDER BY d.due_at, d.event_seq LIMIT +?`,
  );
  const lease = db.sql(
    `UPDATE webhook_deliveries SET attempts = attempts + 1, leased = 1, due_at = +? WHERE webhook_id = +? AND event_seq = +?`,
  );
  const rows = (yield* due.all(id, terms.now, limit)) as Row[];
  const deliveries = yield* db.forAll(rows, function* (row): Steps<WebhookDelivery[]> {
    if (row.id === null) {
      yield* dropDelivery(db, id, row.event_seq as number);
      return [];
    }
    const eventSeq = row.event_seq as number;
    const attempt = (row.attempts as number) + 1;
    const step = attempt - (row.attempts_before as number);
    yield* lease.run(atStep(terms.leaseUntil, step) ?? terms.now, id, eventSeq);
    return [{ webhookId, eventSeq, attempt, step, owner, event: eventFromRow(row) }];
  });
  return { webhookId, endpoint: found.endpoint, deliveries: deliveries.flat(), nextDueAt: yield* nextDueAt(db, id) };
}

/** A damaged row without its event can't be sent, and must not be found due again and again. */
function* dropDelivery(db: Transaction, webhookId: Buffer, eventSeq: number): Steps<void> {
  yield* db.sql('DELETE FROM webhook_deliveries WHERE webhook_id = +? AND event_seq = +?').run(webhookId, eventSeq);
}

function* endpointOf(
  db: Transaction,
  webhookId: string,
  now: number,
): Steps<{ endpoint: Endpoint; slot: number } | null> {
  const webhook = db.sql('SELECT tenant_id, target, slot FROM webhooks WHERE id = +?');
  const row = (yield* webhook.get(toId(webhookId))) as Row | undefined;
  if (!row) return null;
  const secrets = (yield* db
    .sql('SELECT master_key_id, sealed, expires_at FROM webhook_secrets WHERE webhook_id = +? ORDER BY id DESC')
    .all(toId(webhookId))) as Row[];
  const endpoint = {
    tenantId: fromId(row.tenant_id),
    target: row.target as string,
    secrets: secrets
      .filter((secret) => secret.expires_at === null || (secret.expires_at as number) > now)
      .map((secret) => ({ masterKeyId: secret.master_key_id as string, sealed: secret.sealed as Buffer })),
  };
  return { endpoint, slot: row.slot as number };
}

function* nextDueAt(db: Transaction, webhookId: Buffer): Steps<number | null> {
  const next = db.sql(
    'SELECT min(due_at) AS due_at FROM webhook_deliveries WHERE webhook_id = +? AND due_at IS NOT NULL',
  );
  return ((yield* next.get(webhookId)) as { due_at: number | null }).due_at;
}

interface WebhookResults {
  tenantId: string;
  failingSince: number | null;
  succeeded: boolean;
  /** A failure that may be the endpoint's, not the event's. */
  hasNews: boolean;
}

/** Returns how many came too late, and changed nothing. */
function* record(db: Transaction, results: DeliveryResult[], at: number): Steps<number> {
  const owners = new CurrentOwners(db);
  let late = 0;
  const webhookIds = [...new Set(results.map(({ delivery }) => delivery.webhookId))];
  const webhooks = yield* db.forAll(webhookIds, (webhookId) => resultsOf(db, webhookId));
  const byWebhook = new Map(webhookIds.map((webhookId, index) => [webhookId, webhooks[index]]));
  yield* db.forAll(results, function* (result) {
    const { webhookId } = result.delivery;
    const webhook = byWebhook.get(webhookId);
    // The webhook was deleted meanwhile, or the lease is somebody else's: the result is dropped.
    if (!webhook || !(yield* owners.has(result.delivery.owner)) || !(yield* moveDelivery(db, result, at))) {
      late++;
      return;
    }
    if (result.end.to === 'released') return;
    yield* insertAttempt(db, webhook.tenantId, result);
    if (result.end.to === 'delivered') webhook.succeeded = true;
    else if (webhook.failingSince === null && (yield* isNews(db, result.delivery))) webhook.hasNews = true;
  });
  yield* db.forAll([...byWebhook], function* ([webhookId, webhook]) {
    if (webhook) yield* noteHealth(db, webhookId, webhook, at);
  });
  return late;
}

/*
 * States of a delivery. due: never tried, or waiting for a retry; while `leased` an attempt is in progress, and due_at
 * says when the next one follows if it vanishes. delivered: the endpoint answered 2xx. failed: the retry table is used
 * up. A replay turns either of these back into due.
 * False when the lease is not that of this attempt: the result comes too late, and nothing changes.
 */
function* moveDelivery(db: Transaction, { delivery, end }: DeliveryResult, at: number): Steps<boolean> {
  const key = [toId(delivery.webhookId), delivery.eventSeq, delivery.attempt];
  const where = 'WHERE webhook_id = +? AND event_seq = +? AND attempts = +? AND leased = 1';
  switch (end.to) {
    case 'delivered':
    case 'failed': {
      const finish = db.sql(
        `UPDATE webhook_deliveries SET state = +?, due_at = NULL, leased = 0, finished_at = +? ${where}`,
      );
      return (yield* finish.run(end.to, at, ...key)).changes === 1;
    }
    case 'due': {
      const wait = db.sql(`UPDATE webhook_deliveries SET due_at = +?, leased = 0 ${where}`);
      return (yield* wait.run(end.dueAt, ...key)).changes === 1;
    }
    case 'released': {
      const release = db.sql(`UPDATE webhook_deliveries SET due_at = +?, leased = 0, attempts = attempts - 1 ${where}`);
      return (yield* release.run(at, ...key)).changes === 1;
    }
  }
}

function* insertAttempt(db: Transaction, tenantId: string, result: DeliveryResult): Steps<void> {
  const { delivery, end, startedAt, elapsedMs, status, reason, answer } = result;
  yield* db
    .sql(
      `INSERT INTO webhook_attempts (webhook_id, event_seq, number, tenant_id, started_at, elapsed_ms, status, reason,
       answer, next_at) VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?) ON CONFLICT DO NOTHING`,
    )
    .run(
      toId(delivery.webhookId),
      delivery.eventSeq,
      delivery.attempt,
      toId(tenantId),
      startedAt,
      Math.round(elapsedMs),
      status,
      reason,
      answer,
      end.to === 'due' ? end.dueAt : null,
    );
}

function* resultsOf(db: Transaction, webhookId: string): Steps<WebhookResults | null> {
  const row = (yield* db.sql('SELECT tenant_id, failing_since FROM webhooks WHERE id = +?').get(toId(webhookId))) as
    | Row
    | undefined;
  if (!row) return null;
  const failingSince = row.failing_since as number | null;
  return { tenantId: fromId(row.tenant_id), failingSince, succeeded: false, hasNews: false };
}

/**
 * An endpoint may refuse one event again and again, and accept all others: a retry of what failed before the endpoint's
 * last success does not show that the endpoint fails.
 */
function* isNews(db: Transaction, { webhookId, eventSeq, attempt, step }: DeliveryResult['delivery']): Steps<boolean> {
  if (step === 1) return true;
  const firstFailure = db.sql(
    `SELECT started_at FROM webhook_attempts WHERE webhook_id = +? AND event_seq = +? AND number > +? AND number < +?
     ORDER BY number LIMIT 1`,
  );
  const first = (yield* firstFailure.get(toId(webhookId), eventSeq, attempt - step, attempt)) as Row | undefined;
  if (!first) return true;
  // The newest first: behind an outage come many that failed.
  const lastSuccess = db.sql(
    `SELECT 1 FROM webhook_attempts WHERE webhook_id = +? AND started_at >= +? AND status BETWEEN 200 AND 299
     ORDER BY started_at DESC LIMIT 1`,
  );
  return (yield* lastSuccess.get(toId(webhookId), first.started_at as number)) === undefined;
}

/** Written only when it changes, not for every result. */
function* noteHealth(db: Transaction, webhookId: string, webhook: WebhookResults, at: number): Steps<void> {
  const isFailing = webhook.failingSince !== null;
  if (webhook.succeeded && isFailing) {
    yield* db.sql('UPDATE webhooks SET failing_since = NULL, told_at = NULL WHERE id = +?').run(toId(webhookId));
  } else if (webhook.hasNews && !webhook.succeeded && !isFailing) {
    yield* db.sql('UPDATE webhooks SET failing_since = +? WHERE id = +?').run(at, toId(webhookId));
  }
}

const MAX_NOTIFIED_AT_ONCE = 100;

function* listFailing(db: Transaction, since: number): Steps<FailingWebhook[]> {
  const rows = (yield* db
    .sql(
      `SELECT id, tenant_id, url, failing_since FROM webhooks
       WHERE failing_since IS NOT NULL AND told_at IS NULL AND failing_since <= +? LIMIT +?`,
    )
    .all(since, MAX_NOTIFIED_AT_ONCE)) as Row[];
  return rows.map((row) => ({
    webhookId: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    url: row.url as string,
    failingSince: row.failing_since as number,
  }));
}
