// The queries that run for every message use the index that was made for them, and none reads
// a table that grows from end to end. The statements are those that the verbs really prepare.
import path from 'node:path';
import type Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { deliveredEvent } from '../../src/events/delivery-events.ts';
import type { RowShape } from '../../src/store/sql/steps.ts';
import { openForReading } from '../../src/store/sqlite/engine/database-file.ts';
import { WritingConnection } from '../../src/store/sqlite/engine/writing-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import type { DeliveryEnd } from '../../src/store/webhooks.ts';
import { untried } from '../support/first-slot.ts';
import { testFolder } from '../support/test-folder.ts';
import { batchOf, entry } from './conformance/batches.ts';
import { Bench, countAll, T0 } from './conformance/harness.ts';
import { gate } from './conformance/limits.ts';
import { newHits, UNSUSPICIOUS } from './conformance/tracking.ts';

const SQL = WritingConnection.prototype.sql;
const UNASKED = {
  ...{ id: '0190f0a0-0000-7000-8000-000000000001', receivedAt: 1, remoteIp: '192.0.2.1', ehloName: 'x', tls: null },
  ...{ mailFrom: '', recipients: ['postmaster@bounces.test'], content: Buffer.from('mail') },
};
const RETURNED = { ...UNASKED, id: '0190f0a0-0000-7000-8000-000000000002' };
const PAGE = { after: null, limit: 10 };
const NOVEMBER = { firstDay: '2026-11-01', lastDay: '2026-11-30' };

/** Reading one of these from end to end takes longer with every message that was ever sent. */
const GROWING =
  /^SCAN (m|s|messages|events|submissions|contents|attempts|suppressions|platform_suppressions|api_keys|inbound_mails|inbound_contents|dmarc_\w+|d|r|u|unasked_mails|returned_mails)$/m;

const MESSAGES_OF_SUBMISSION = 'SEARCH m USING PRIMARY KEY (id>? AND id<?)';

class Planner {
  readonly bench: Bench;
  readonly #db: Database.Database;
  readonly #prepared: Set<string>;

  constructor(store: Store, db: Database.Database, prepared: Set<string>) {
    this.bench = new Bench({ store, openContents: () => openContentReader(db.name) });
    this.#db = db;
    this.#prepared = prepared;
  }

  /** Every statement that any verb of the store asks for goes through Connection's `sql`: it is overheard there. */
  static async open(t: Test): Promise<Planner> {
    const file = path.join(testFolder(t), 'postrider.db');
    const prepared = new Set<string>();
    t.intercept(WritingConnection.prototype, 'sql', {
      value(this: WritingConnection, text: string, shape?: RowShape) {
        prepared.add(text);
        return SQL.call(this, text, shape);
      },
    });
    const store = await openSqliteStore({ file });
    const db = openForReading(file);
    t.teardown(async () => {
      db.close();
      await store.close();
    });
    const planner = new Planner(store, db, prepared);
    await planner.bench.owner();
    return planner;
  }

  /** The plans of all statements that `run` uses, one step per line. */
  async plansOf(run: (store: Store) => Promise<unknown>): Promise<string> {
    this.#prepared.clear();
    await run(this.bench.store);
    return [...this.#prepared].map((sql) => this.#explain(sql)).join('\n');
  }

  #explain(sql: string): string {
    const names = [...sql.matchAll(/@(\w+)/g)].map((match) => [match[1], null]);
    const values = names.length > 0 ? [Object.fromEntries(names)] : Array(sql.split('?').length - 1).fill(null);
    const steps = this.#db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    return steps.map((step) => step.detail).join('\n');
  }
}

t.test('claiming and looking for what is due use the index of what is due', async (t) => {
  const planner = await Planner.open(t);
  const { domain } = await planner.bench.sender('acme.test');
  const { lane } = await planner.bench.queued(domain, 'a@x.test');
  const claim = await planner.plansOf(() => planner.bench.claim(lane, T0));
  t.match(claim, 'SEARCH m USING INDEX messages_due (lane=? AND due_at>? AND due_at<?)');
  t.match(claim, /messages_due \(lane=\? AND due_at>\?\)$/m, 'when the lane has more');
  t.notMatch(claim, 'TEMP B-TREE', 'the index gives the order');
  const lanes = await planner.plansOf((store) => store.queue.dueLanes([1]));
  t.match(lanes, /SEARCH m USING (COVERING )?INDEX messages_due \(lane=\?\)/);
  t.match(lanes, /SEARCH m USING (COVERING )?INDEX messages_due \(lane>\?\)/, 'from one lane that waits to the next');
  t.notMatch(lanes, /SCAN (l|lanes|m|messages)\b/, 'neither all lanes that there have been nor all messages');
  const summary = await planner.plansOf((store) => store.queue.queueSummary());
  t.match(summary, 'SEARCH m USING INDEX messages_due (lane>?)', 'only what waits');
  t.notMatch(summary, 'TEMP B-TREE', 'a slice ends early');
  const expired = await planner.plansOf((store) => store.queue.expired([1], T0, 10));
  t.match(expired, 'SEARCH m USING INDEX messages_expiry (expires_at<?)');
  t.notMatch(expired, 'TEMP B-TREE');
  const recovered = await planner.plansOf((store) =>
    store.owners.takeSlots({ node: 'plans', slots: 1, now: T0, leaseUntil: null }),
  );
  t.match(recovered, /^SCAN messages USING INDEX messages_sending$/m, 'only what is being sent');
  t.match(recovered, 'SCAN webhook_deliveries USING INDEX webhook_deliveries_leased', 'only what is under way');
  t.notMatch(recovered, /SCAN (l|lanes|w|webhooks|messages|webhook_deliveries)$/m);
  const list = await planner.plansOf((store) => store.queue.listQueue({ limit: 10 }));
  t.equal(list, 'SCAN m USING INDEX messages_expiry', 'only what is not finished, up to the limit');
});

t.test('claiming for one of our addresses uses the index of what is due, too', async (t) => {
  const planner = await Planner.open(t);
  const { domain } = await planner.bench.sender('acme.test');
  const { lane } = await planner.bench.queued(domain, 'a@x.test');
  const address = '192.0.2.1';
  const candidates = [{ ip: address, weight: 1, warm: false, pause: null }];
  const from = { address, facts: { mxGroup: 'mx.x.test', candidates, none: '', ramp: [100] } };
  const times = { owner: await planner.bench.owner(), now: T0, dueAgainAt: [T0], from };
  const claim = await planner.plansOf((store) => store.queue.claim(lane, 10, times));
  t.match(claim, 'SEARCH m USING INDEX messages_due (lane=? AND due_at>? AND due_at<?)');
  t.match(claim, 'SEARCH source_usage USING PRIMARY KEY (mx_group=?)');
  t.notMatch(claim, /TEMP B-TREE|SCAN/);
  const forget = await planner.plansOf((store) => store.sources.forgetSourceUsage(1, 10));
  t.match(forget, 'SEARCH source_usage USING COVERING INDEX source_usage_by_day (day<?)');
});

t.test('looking for orphans reads what is being sent, and jumps from lane to lane', async (t) => {
  const planner = await Planner.open(t);
  const sending = await planner.plansOf((store) => store.queue.listSending([1], null, 10));
  t.match(sending, 'SEARCH m USING INDEX messages_sending (id>?)');
  t.notMatch(sending, GROWING);
  const lanes = await planner.plansOf((store) => store.queue.findOrphanLanes(0, 10));
  t.match(lanes, 'SEARCH m USING INDEX messages_due (lane>?)');
  t.notMatch(lanes, GROWING);
});

t.test('accepting looks everything up by index', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const accept = await planner.plansOf(async (store) => {
    await bench.accept(domain, ['a@x.test'], { idempotencyKey: 'k' });
    const again = await store.submissions.accept(bench.submission(domain, ['b@x.test'], { idempotencyKey: 'k' }));
    t.equal(again.kind, 'replayed');
  });
  for (const step of [
    'SEARCH submissions USING INDEX submissions_idempotency (tenant_id=? AND idempotency_key=?)',
    'SEARCH tenants USING PRIMARY KEY (id=?)',
    'SEARCH suppressions USING PRIMARY KEY (tenant_id=? AND address=?)',
    'SEARCH platform_suppressions USING PRIMARY KEY (address=?)',
    'SEARCH lanes USING COVERING INDEX sqlite_autoindex_lanes_1 (tenant_id=? AND domain=? AND slot=?)',
  ]) {
    t.match(accept, step);
  }
  t.notMatch(accept, /SCAN (?!CONSTANT ROW)/);
  const receipt = await planner.plansOf((store) => store.submissions.findReceipt(tenant.id, 'k'));
  t.match(receipt, 'USING INDEX submissions_idempotency (tenant_id=? AND idempotency_key=?)');
  t.match(receipt, MESSAGES_OF_SUBMISSION);
  t.notMatch(receipt, 'TEMP B-TREE');
  const key = bench.apiKey(tenant.id);
  const created = await planner.plansOf((store) => store.keys.createApiKey(key, 50));
  t.match(created, 'SEARCH api_keys USING INDEX api_keys_of_tenant (tenant_id=?)');
  const wrong = await planner.plansOf((store) => store.keys.findApiKeyBySecret(key.publicId, Buffer.alloc(32)));
  t.match(wrong, /^SEARCH api_keys USING INDEX \w+ \(public_id=\?\)$/, 'without the secret nothing else is looked up');
  const found = await planner.plansOf((store) => store.keys.findApiKey(key.publicId));
  t.match(found, /^SEARCH api_keys USING INDEX \w+ \(public_id=\?\)\nSEARCH tenants USING PRIMARY KEY \(id=\?\)$/);
  const verified = await planner.plansOf((store) => store.domains.findVerifiedDomain(tenant.id, 'acme.test'));
  t.match(verified, 'SEARCH d USING INDEX domains_verified_name (name=?)');
  const live = await planner.plansOf((store) => store.domains.findLiveDomain(tenant.id, 'acme.test'));
  t.match(live, 'SEARCH d USING INDEX domains_live_name (tenant_id=? AND name=?)');
});

t.test('messages of a submission are found in the order of the table', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const { receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test'], { sendAt: T0 + 1 });
  for (const verb of [
    (store: Store) => store.queue.findSubmission(tenant.id, receipt.id),
    (store: Store) => store.queue.findWaitingOf(tenant.id, receipt.id),
    (store: Store) => store.queue.moveScheduled(tenant.id, receipt.id, { sendAt: T0, expiresAt: T0 + 2 }),
  ]) {
    const plans = await planner.plansOf(verb);
    t.match(plans, 'SEARCH s USING PRIMARY KEY (id=?)');
    t.match(plans, MESSAGES_OF_SUBMISSION);
    t.notMatch(plans, /SCAN|TEMP B-TREE/);
  }
});

t.test('recording goes by primary keys', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const note = { suppressionKey: 'a@x.test', mxGroup: null, rule: 'smtp 5.1.1', platformExpiresAt: T0 };
  const plans = await planner.plansOf(async (store) => {
    await store.queue.release([untried(message)], T0);
    const [again] = await bench.claim(message.lane, T0);
    await store.queue.record([bench.attempted(again!, { to: 'deferred', dueAt: T0, reason: '451', ambiguous: false })]);
    const bounced = { to: 'bounced', bounce: 'hard', reason: '550', suppress: note } as const;
    const [last] = await bench.claim(message.lane, T0);
    await store.queue.record([bench.attempted(last!, bounced, bench.event('email.bounced'))]);
  });
  t.match(plans, 'SEARCH messages USING PRIMARY KEY (id=?)');
  t.notMatch(plans, 'SCAN');
  t.notMatch(plans, 'TEMP B-TREE');
});

t.test('events are read in their order, from the cursor on', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const event = bench.event('email.delivered');
  await bench.store.queue.record([bench.attempted(message, { to: 'delivered' }, event)]);
  const list = await planner.plansOf((store) => store.events.listEvents(tenant.id, { after: event.id, limit: 10 }));
  t.match(list, /SEARCH events USING INDEX \w+ \(id=\?\)/);
  t.match(list, 'SEARCH events USING INDEX events_of_tenant (tenant_id=? AND seq>?)');
  t.notMatch(list, 'TEMP B-TREE');
  const unknown = { after: bench.id(), limit: 10 };
  const erased = await planner.plansOf((store) => store.events.listEvents(tenant.id, unknown));
  t.match(erased, /SEARCH erased_events USING INDEX \w+ \(tenant_id=\? AND event_id=\?\)/);
  const ofMessage = await planner.plansOf((store) => store.events.eventsOfMessage(tenant.id, message.id));
  t.equal(ofMessage, 'SEARCH events USING INDEX events_of_message (message_id=?)');
});

t.test('an attempt that only its event tells is found by its message', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const update = bench.attempted(message, { to: 'delivered' });
  const { peer, attempt } = update.attempt!;
  const event = deliveredEvent(bench.event('email.delivered'), message, { peer, attempt });
  await bench.store.queue.record([{ ...update, event }]);
  const plans = await planner.plansOf((store) => store.queue.getMessage(message.id));
  t.match(plans, 'SEARCH events USING INDEX events_of_message (message_id=?)');
  t.notMatch(plans, /SCAN|TEMP B-TREE/);
});

t.test('the standing is read from the newest message backwards', async (t) => {
  const planner = await Planner.open(t);
  const plan = await planner.plansOf((store) => store.tenants.recentResultsOf(planner.bench.id(), 1000));
  t.match(plan, 'SEARCH messages USING INDEX messages_of_tenant (tenant_id=? AND id>? AND id<?)');
  t.notMatch(plan, 'TEMP B-TREE', 'no further than the window');
});

t.test('what is known of receiving servers is found by name, and makes room by index', async (t) => {
  const planner = await Planner.open(t);
  const policy = { domain: 'x.test', policyId: '1', mode: 'enforce', mx: ['mx.x.test'], fetchedAt: T0 } as const;
  const find = await planner.plansOf(async (store) => {
    await store.transportSecurity.findTlsPolicy('x.test', T0);
    await store.transportSecurity.findBrokenTls('mx.x.test', T0);
  });
  t.equal(find, 'SEARCH tls_policies USING PRIMARY KEY (domain=?)\nSEARCH broken_tls USING PRIMARY KEY (host=?)');
  const put = await planner.plansOf(async (store) => {
    await store.transportSecurity.putTlsPolicy({ ...policy, mx: [...policy.mx], expiresAt: T0 }, 10);
    await store.transportSecurity.putBrokenTls({ host: 'mx.x.test', reason: 'x', since: T0, expiresAt: T0 }, 10);
  });
  t.match(put, /tls_policies USING COVERING INDEX tls_policies_expiry/);
  t.match(put, /broken_tls USING COVERING INDEX broken_tls_expiry/);
  t.notMatch(put, 'TEMP B-TREE');
});

t.test('opens and clicks are counted by the key of their message', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const { id: messageId } = await bench.sending(domain, 'a@x.test');
  const hits = { tenantId: tenant.id, messageId, links: [newHits(bench)] };
  const plans = await planner.plansOf(async (store) => {
    await store.tracking.recordHits([hits], UNSUSPICIOUS);
    await store.tracking.findTracked(tenant.id, messageId);
  });
  t.match(plans, 'SEARCH m USING PRIMARY KEY (id=?)');
  t.match(plans, 'SEARCH link_hits USING PRIMARY KEY (message_id=?)');
  t.notMatch(plans, 'SCAN');
});

t.test('acting on many messages goes by lanes, and never sorts them', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const { lane } = await bench.queued(domain, 'a@x.test');
  const plans = await planner.plansOf(async (store) => {
    await store.shaping.lanesOf({ kind: 'tenant', key: tenant.id }, null, 10);
    await store.shaping.lanesOf({ kind: 'domain', key: 'x.test' }, null, 10);
    await store.shaping.lanesOf({ kind: 'group', key: 'google' }, null, 10);
    await store.shaping.makeLaneDue(lane, { at: T0, limit: 10 });
    await store.shaping.makeLaneDue(lane, { at: T0, limit: 10, putOff: true });
    await store.shaping.waitingOfLane(lane, 10);
    await store.shaping.groupOfDomain('x.test');
    await store.shaping.forgetDomains(T0, 10);
    await store.shaping.listOperatorNotes({ target: { kind: 'domain', key: 'x.test' }, limit: 10 });
  });
  t.match(plans, /SEARCH lanes USING COVERING INDEX \w+ \(tenant_id=\? AND \(domain,slot\)>\(\?,\?\)\)/);
  t.match(plans, 'SEARCH lanes USING COVERING INDEX lanes_of_domain (domain=? AND id>?)');
  t.match(plans, 'SEARCH groups_of_domains USING COVERING INDEX domains_of_group (mx_group=? AND domain>?)');
  t.notMatch(plans, 'TEMP B-TREE');
  t.match(plans, 'SEARCH m USING INDEX messages_due (lane=? AND due_at>?)');
  t.match(plans, 'SEARCH m USING COVERING INDEX messages_parked (lane=?)');
  t.match(plans, 'SEARCH groups_of_domains USING COVERING INDEX domains_seen (seen_at<?)');
  t.match(plans, 'SEARCH operator_notes USING INDEX operator_notes_of_target (kind=? AND target=?)');
  t.notMatch(plans, /^SCAN (m|messages|lanes|groups_of_domains|operator_notes)$/m);
});

t.test('deliveries to webhooks are found by their webhook', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const webhook = { id: bench.id(), tenantId: tenant.id, url: 'https://a.test/', target: 'https://a.test/' };
  const secret = { masterKeyId: 'm', sealed: Buffer.alloc(1) };
  await bench.store.webhooks.createWebhook({ ...webhook, description: null, createdAt: T0, secret }, 50);
  const message = await bench.sending(domain, 'a@x.test');
  const event = bench.event('email.delivered');
  const written = await planner.plansOf((store) =>
    store.queue.record([bench.attempted(message, { to: 'delivered' }, event)]),
  );
  t.match(written, 'SEARCH webhooks USING INDEX webhooks_target (tenant_id=?)');
  t.notMatch(written, 'SCAN');
  const target = { webhookId: webhook.id, eventId: event.id };
  const result = { startedAt: T0, elapsedMs: 1, status: 500, reason: '', answer: null };
  const claims = [{ webhookId: webhook.id, limit: 10 }];
  const plans = await planner.plansOf(async (store) => {
    const owners = [await bench.owner()];
    const call = async (end: DeliveryEnd) => {
      const [claimed] = await store.webhooks.claimDeliveries(claims, { owners, now: T0 + 1, leaseUntil: [T0] });
      await store.webhooks.recordDeliveries([{ ...result, delivery: claimed!.deliveries[0]!, end }], T0);
    };
    await call({ to: 'due', dueAt: T0 });
    const url = { url: 'https://b.test/', target: 'https://b.test/' };
    await store.webhooks.changeWebhook(tenant.id, webhook.id, { url });
    await call({ to: 'failed' });
    await store.webhooks.listFailingWebhooks(T0);
    await store.webhooks.noteFailureTold({ webhookId: webhook.id, failingSince: T0 }, T0);
    await store.webhooks.dueWebhooks([1], null, 10);
    await store.webhooks.readEndpoints([webhook.id], T0);
    await store.webhooks.listWebhookHealth(tenant.id);
    await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: webhook.id, eventId: event.id, limit: 10 });
    await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: webhook.id, eventId: null, limit: 10 });
    await store.webhooks.replayFailed(tenant.id, { webhookId: webhook.id, since: T0, limit: 10 }, T0);
    await store.webhooks.replayDelivery(tenant.id, target, T0);
    await store.webhooks.deleteWebhook(tenant.id, webhook.id);
    while ((await store.webhooks.forgetDeletedWebhooks(10)) > 0);
  });
  t.match(plans, 'SEARCH d USING INDEX webhook_deliveries_due (webhook_id=? AND due_at>? AND due_at<?)');
  t.match(plans, /SEARCH d USING COVERING INDEX webhook_deliveries_due \(webhook_id=\? AND due_at>\?\)/);
  t.match(plans, /webhook_deliveries_failed \(webhook_id=\? AND finished_at>\?\)/);
  t.match(plans, 'SEARCH webhooks USING INDEX webhooks_failing (failing_since>? AND failing_since<?)');
  t.match(plans, /webhook_attempts_newest \(webhook_id=\?\)/);
  t.match(plans, /webhook_attempts_newest \(webhook_id=\? AND started_at>\?\)/, 'the last success');
  t.notMatch(plans, 'TEMP B-TREE');
  t.notMatch(plans, /^SCAN (d|a|e|webhook_deliveries|webhook_attempts|events)$/m);
});

t.test('charts are counted from where the count stands, and read by tenant', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  await bench.store.queue.record([bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'))]);
  await bench.store.shaping.noteDomains([{ domain: 'x.test', mxGroup: 'mx.x.test', at: T0 }], T0);
  const count = await planner.plansOf((store) => countAll(store));
  t.match(count, 'SEARCH e USING INTEGER PRIMARY KEY (rowid>?)');
  for (const key of ['m USING PRIMARY KEY (id=?)', 'l USING INTEGER PRIMARY KEY (rowid=?)']) t.match(count, key);
  t.match(count, 'SEARCH g USING PRIMARY KEY (domain=?)');
  t.match(count, 'SEARCH chart_figures USING COVERING INDEX chart_figures_old (hour=? AND tenant_id=?)');
  const span = { fromHour: 0, untilHour: 1 };
  const read = await planner.plansOf(async (store) => {
    await store.figures.chartOf(tenant.id, { ...span, stepHours: 1 });
    await store.figures.providersOf(tenant.id, span);
    await store.figures.forgetFigures(1, 10);
    await store.figures.forgetServiceFigures(1, 10);
  });
  t.match(count, 'SEARCH service_figures USING PRIMARY KEY (hour=? AND source=?)');
  t.match(read, 'SEARCH service_figures USING PRIMARY KEY (hour<?)');
  t.match(read, 'SEARCH chart_figures USING PRIMARY KEY (tenant_id=? AND hour>? AND hour<?)');
  t.match(read, 'SEARCH chart_figures USING COVERING INDEX chart_figures_old (hour<?)');
  t.notMatch(`${count}\n${read}`, /^SCAN (?!counted)/m, 'but for the slice itself');
});

t.test('figures by tag are counted from where the count stands, and read by tenant', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const tag = { name: 'kind', value: 'news' };
  await bench.accept(domain, ['a@x.test'], { labels: { tags: { kind: 'news' }, metadata: null } });
  const count = await planner.plansOf((store) => countAll(store));
  t.match(count, 'SEARCH s USING INDEX submissions_labelled (content_id>?)');
  t.match(count, MESSAGES_OF_SUBMISSION);
  t.match(count, /SEARCH tag_figures USING .* \(step_hours=\? AND hour=\? AND tenant_id=\?\)/);
  const span = { fromHour: 0, untilHour: 48 };
  const read = await planner.plansOf(async (store) => {
    await store.figures.tagChartOf(tenant.id, { tag, ...span, stepHours: 24 });
    await store.figures.tagsOf(tenant.id, { ...span, limit: 10 });
    await store.figures.forgetTagFigures({ hours: 1, days: 1 }, 10);
  });
  t.match(read, 'SEARCH tag_figures USING PRIMARY KEY (tenant_id=? AND step_hours=? AND hour=? AND tag=?)');
  t.match(read, 'SEARCH tag_figures USING PRIMARY KEY (tenant_id=? AND step_hours=? AND hour>? AND hour<?)');
  t.match(read, 'SEARCH tag_figures USING COVERING INDEX tag_figures_old (step_hours=? AND hour<?)');
  t.notMatch(`${count}\n${read}`, /^SCAN (?!(?:counted|names)$)/m);
});

t.test("undoing a receiver's bad hour goes along what its group has said", async (t) => {
  const planner = await Planner.open(t);
  const plans = await planner.plansOf((store) => store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 10));
  t.match(plans, 'INDEX platform_suppressions_group (mx_group=? AND created_at>?)');
  t.match(plans, 'INDEX suppressions_group (mx_group=? AND created_at>?)');
  t.notMatch(plans, 'SCAN suppressions');
});

t.test('no verb reads a growing table from end to end', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const owner = await bench.owner();
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const verbs: Record<string, (store: Store) => Promise<unknown>> = {
    listQueue: (store) => store.queue.listQueue({ tenantId: tenant.id, domain: 'x.test', limit: 10 }),
    'listQueue of a domain': (store) => store.queue.listQueue({ domain: 'x.test', limit: 10 }),
    'listQueue of a group': (store) => store.queue.listQueue({ tenantId: tenant.id, group: 'mx', limit: 10 }),
    getMessage: (store) => store.queue.getMessage(message.id),
    findMessage: (store) => store.queue.findMessage(tenant.id, message.id),
    retryNow: (store) => store.queue.retryNow(message.id, T0),
    findWaiting: (store) => store.queue.findWaiting(message.id),
    countHeld: (store) => store.queue.countHeld(1000),
    countUnsendable: (store) => store.queue.countUnsendable(1000),
    holdUnfinished: (store) => store.queue.holdUnfinished({ now: T0, notBefore: T0 }),
    releaseHeld: (store) => store.queue.releaseHeld({ now: T0, limit: 10 }),
    'releaseHeld of a tenant': (store) => store.queue.releaseHeld({ now: T0, limit: 10, tenantId: tenant.id }),
    listApiKeys: (store) => store.keys.listApiKeys(tenant.id),
    removeSuppression: (store) => store.suppressions.removeSuppression(tenant.id, 'b@x.test', T0),
    listSuppressions: (store) => store.suppressions.listSuppressions(tenant.id, PAGE),
    getSuppression: (store) => store.suppressions.getSuppression(tenant.id, 'b@x.test'),
    findReasonAgainst: (store) => store.suppressions.findReasonAgainst(tenant.id, 'b@x.test', T0),
    searchSuppressions: (store) =>
      store.suppressions.searchSuppressions(tenant.id, { ...PAGE, prefix: 'b', reason: 'manual' }),
    listPlatformSuppressions: (store) => store.suppressions.listPlatformSuppressions(PAGE),
    removePlatformSuppression: (store) => store.suppressions.removePlatformSuppression('b@x.test'),
    undoHardBounces: (store) => store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 10),
    'undoHardBounces by rule': (store) => store.suppressions.undoHardBounces({ rule: 'route-*', since: T0 }, 10),
    'undoHardBounces by rule, of a tenant': (store) =>
      store.suppressions.undoHardBounces({ rule: 'r', since: T0, of: { tenantId: tenant.id } }, 10),
    forgetExpiredSuppressions: (store) => store.suppressions.forgetExpiredSuppressions(T0, 10),
    resultsSinceReview: (store) => store.reputation.resultsSinceReview(tenant.id, 1000),
    waitingInbound: (store) => store.inbound.waitingInbound([1], 0, 10),
    noteInterruptedInbound: (store) => store.inbound.noteInterruptedInbound([owner], 10),
    noteInboundTrial: (store) => store.inbound.noteInboundTrial([owner], 7),
    noteInboundReach: (store) => store.inbound.noteInboundReach([owner], null),
    retryInbound: (store) => store.inbound.retryInbound(message.id),
    findReported: (store) => store.inbound.findReported(message.id),
    'listInbound of a kind': (store) => store.inbound.listInbound({ kind: 'human', limit: 10 }),
    'listInbound of a message': (store) => store.inbound.listInbound({ messageId: message.id, limit: 10 }),
    getInbound: (store) => store.inbound.getInbound(message.id),
    forgetInbound: (store) => store.inbound.forgetInbound({ content: T0, records: T0 }, 10),
    freeInboundSpace: (store) => store.inbound.freeInboundSpace(10),
    'keepInbound of unasked mail': async (store) => {
      await store.inbound.keepInbound(UNASKED, { of: 'unasked', maxBytes: 0 });
      await store.inbound.keepInbound({ ...UNASKED, id: bench.id() }, { of: 'unasked', maxBytes: 0 });
    },
    'keepInbound of mail for a message': (store) =>
      store.inbound.keepInbound(RETURNED, {
        ...({ of: 'returned', messageId: message.id, maxBytes: 0 } as const),
        ...{ mailsPerDay: 1, bytesPerDay: 1, waitingBytes: 1000 },
      }),
    listDmarcDays: (store) => store.inbound.listDmarcDays('acme.test', { since: '2026-01-01', limit: 10 }),
    listDmarcDomains: (store) => store.dmarc.listDmarcDomains(NOVEMBER, { after: null, limit: 10 }),
    dmarcSumsOf: (store) => store.dmarc.dmarcSumsOf(['acme.test'], NOVEMBER),
    sumDmarc: (store) => store.dmarc.sumDmarc('acme.test', NOVEMBER, 10),
    reviewOf: (store) => store.reputation.reviewOf(tenant.id),
    listDomains: (store) => store.domains.listDomains(tenant.id),
    onboardingFacts: (store) => store.figures.onboardingFacts(tenant.id),
    listTemplateNames: (store) => store.templates.listTemplateNames(tenant.id, { before: null, limit: 10 }),
    findUserByEmail: (store) => store.accounts.findUserByEmail('a@x.test'),
    revokeDomain: (store) => store.domains.revokeDomain(tenant.id, domain.id),
  };
  for (const [name, verb] of Object.entries(verbs)) {
    const plans = await planner.plansOf(verb);
    t.notMatch(plans, GROWING, name);
    t.match(plans, /SEARCH|USING INDEX/, `${name} was looked at`);
  }
});

t.test('retention walks along what is finished, and looks into DNS begin with what is due', async (t) => {
  const planner = await Planner.open(t);
  const { domain } = await planner.bench.sender('acme.test');
  const sent = await planner.bench.sending(domain, 'a@x.test');
  const event = planner.bench.event('email.delivered');
  await planner.bench.store.queue.record([planner.bench.attempted(sent, { to: 'delivered' }, event)]);
  const { bench } = planner;
  await bench.store.submissions.acceptBatch(batchOf(domain, [entry(bench, domain)], { idempotencyKey: 'a key' }));
  const later = T0 + 10_000;
  const contents = await planner.plansOf((store) =>
    store.upkeep.eraseContents({ days: null, before: later, budgetMs: 1000 }),
  );
  t.match(contents, /SEARCH m USING INDEX messages_finished \(.*finished_at/);
  t.match(contents, MESSAGES_OF_SUBMISSION);
  await countAll(planner.bench.store);
  const records = await planner.plansOf((store) => store.upkeep.eraseRecords(later, 1000));
  t.match(records, /SEARCH m USING INDEX messages_finished \(finished_at/);
  t.match(records, /SEARCH events USING .*INDEX events_of_message \(message_id=\?\)/);
  t.match(records, 'SEARCH events USING COVERING INDEX events_of_message (message_id=? AND seq>?)');
  t.match(records, 'SEARCH events USING INDEX events_of_tenant (tenant_id=? AND seq>?)');
  t.match(records, 'SEARCH erased_events USING PRIMARY KEY (tenant_id=? AND seq<?)');
  t.match(records, 'SEARCH batches USING COVERING INDEX batches_by_age');
  t.match(records, 'SEARCH s USING PRIMARY KEY (id=?)');
  for (const plan of [contents, records]) t.notMatch(plan, GROWING);
  for (const plan of [contents, records]) t.notMatch(plan, 'TEMP B-TREE');
  const audit = await planner.plansOf((store) => store.audit.eraseAudit(later, 10));
  t.match(audit, 'SEARCH audit USING COVERING INDEX audit_by_time (at<?)');
  t.notMatch(audit, GROWING);
  const due = await planner.plansOf(async (store) => {
    const aDayLater = later + 86_400_000;
    const claims = await store.domains.claimRechecks(aDayLater, { limit: 10, leaseUntil: aDayLater + 1 });
    await store.domains.releaseRechecks(claims);
  });
  t.match(due, 'SEARCH r USING INDEX domain_rechecks_due (next_at>? AND next_at<?)');
  t.match(due, 'SEARCH domain_rechecks USING PRIMARY KEY (domain_id=?)');
  t.notMatch(due, /TEMP B-TREE|SCAN/);
});

t.test('attempts at a webhook are read in the order of their index, from wherever a page begins', async (t) => {
  const planner = await Planner.open(t);
  const { tenant, domain } = await planner.bench.sender('acme.test');
  const webhookId = planner.bench.id();
  const url = 'https://a.test/';
  const secret = { masterKeyId: 'm', sealed: Buffer.from('s') };
  const webhook = { id: webhookId, tenantId: tenant.id, url, target: url, description: null, createdAt: T0, secret };
  await planner.bench.store.webhooks.createWebhook(webhook, 50);
  const message = await planner.bench.sending(domain, 'a@x.test');
  const event = planner.bench.event('email.delivered');
  await planner.bench.store.queue.record([planner.bench.update(message, { to: 'delivered' }, { event })]);
  const terms = { owners: [await planner.bench.owner()], now: T0, leaseUntil: [T0 + 1] };
  const [claimed] = await planner.bench.store.webhooks.claimDeliveries([{ webhookId, limit: 1 }], terms);
  const result = { startedAt: T0, elapsedMs: 1, status: 500, reason: 'no', answer: null };
  const end = { to: 'due', dueAt: T0 } as const;
  await planner.bench.store.webhooks.recordDeliveries([{ delivery: claimed!.deliveries[0]!, end, ...result }], T0);
  const list = (filter: { state?: 'due' | 'failed'; after?: { eventId: string; number: number } }) =>
    planner.plansOf((store) =>
      store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: null, limit: 10, ...filter }),
    );
  for (const plan of [await list({}), await list({ after: { eventId: event.id, number: 1 } })]) {
    t.match(plan, /SEARCH a USING INDEX webhook_attempts_newest \(webhook_id=\?/);
    t.notMatch(plan, /TEMP B-TREE|SCAN/);
  }
  t.match(
    await list({ after: { eventId: event.id, number: 1 } }),
    /webhook_attempts_newest \(webhook_id=\? AND \(?started_at/,
  );
  const position = { at: T0, eventId: event.id };
  const deliveries = (state: 'due' | 'delivered' | 'failed' | null, after: typeof position | null) =>
    planner.plansOf((store) => store.webhooks.listWebhookDeliveries(tenant.id, { webhookId, state, after, limit: 10 }));
  t.match(await deliveries('due', null), /SEARCH d USING INDEX webhook_deliveries_due/);
  t.match(await deliveries('failed', null), /SEARCH d USING INDEX webhook_deliveries_failed/);
  t.match(await deliveries(null, null), /SEARCH d USING PRIMARY KEY/);
  for (const state of ['due', 'delivered', 'failed', null] as const) {
    for (const after of [null, position]) {
      t.notMatch(await deliveries(state, after), /TEMP B-TREE|^SCAN (d|e|events)$/m, String(state));
    }
  }
  t.match(await list({ state: 'due' }), /SEARCH d USING (COVERING )?INDEX webhook_deliveries_due/);
  t.match(await list({ state: 'failed' }), /SEARCH d USING (COVERING )?INDEX webhook_deliveries_failed/);
});

t.test('pieces of written mail are found by their mail, and leftovers by their age', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain } = await bench.sender('acme.test');
  const plans = await planner.plansOf(async (store) => {
    const written = await bench.written(domain, [Buffer.from('a\r\n'), Buffer.from('b\r\n')]);
    const { lanes } = await bench.accept(domain, ['a@x.test'], written);
    const claimed = await bench.claim(lanes[0]!.lane, T0);
    await store.queue.record([bench.attempted(claimed[0]!, { to: 'delivered' })]);
    await store.upkeep.eraseContents({ days: null, before: T0 + 1000, budgetMs: 1000 });
    await store.writtenMails.drop({ tenantId: domain.tenantId, id: bench.id() });
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 10 }), 3);
  });
  t.match(plans, 'SEARCH written_mails USING INDEX sqlite_autoindex_written_mails_1 (tenant_id=? AND submission_id=?)');
  t.match(plans, 'SEARCH written_mails USING COVERING INDEX written_leftovers (leftover_since<?)');
  t.match(plans, /SEARCH written_pieces USING INDEX sqlite_autoindex_written_pieces_1 \(mail=\?\)/);
  t.match(plans, 'SEARCH written_pieces USING COVERING INDEX sqlite_autoindex_written_pieces_1 (mail=?)');
  t.notMatch(plans, /SCAN written|TEMP B-TREE/);
});

t.test('throttles are found by their keys, and erased by their index', async (t) => {
  const planner = await Planner.open(t);
  const one = gate('one');
  const taken = await planner.plansOf((store) => store.limits.takeAttempt([one], T0));
  t.match(taken, 'SEARCH throttles USING PRIMARY KEY (key=?)');
  const settled = { forgiven: [one.key], refunded: [one.key] };
  const plans = [
    taken,
    await planner.plansOf((store) => store.limits.settleAttempt(settled)),
    await planner.plansOf((store) => store.limits.eraseAttempts(T0, 10)),
  ];
  for (const plan of plans) t.notMatch(plan, /\bSCAN\b|TEMP B-TREE/);
  const beyond = await planner.plansOf((store) => store.limits.forgottenBeyond(10));
  t.equal(beyond, 'SCAN throttles USING COVERING INDEX throttles_forgotten', 'from the newest on, as many as are kept');
});

t.test('sessions, members and the audit log are found by their indexes', async (t) => {
  const planner = await Planner.open(t);
  const tenant = await planner.bench.tenant();
  const [id, hash, page] = [planner.bench.id(), Buffer.alloc(32), { before: null, limit: 10 }];
  const plans = [
    await planner.plansOf((store) => store.accounts.findSession(hash, T0)),
    await planner.plansOf((store) => store.accounts.endSessionsOf(id)),
    await planner.plansOf((store) => store.accounts.eraseSessions(T0, 10)),
    await planner.plansOf((store) => store.accounts.listMembers(tenant.id)),
    await planner.plansOf((store) => store.accounts.listInvitations(tenant.id, T0)),
    await planner.plansOf((store) => store.accounts.findMailLink(hash, T0)),
    await planner.plansOf((store) => store.accounts.eraseMailLinks(T0, 10)),
    await planner.plansOf((store) => store.accounts.isUnconfirmed(id)),
    await planner.plansOf((store) => store.accounts.eraseSignUps(T0, 10)),
    await planner.plansOf((store) => store.audit.listAudit(tenant.id, page)),
    await planner.plansOf((store) => store.audit.listAllAudit(page)),
  ];
  for (const plan of plans) t.notMatch(plan, /\bSCAN\b|TEMP B-TREE/);
  t.match(plans[9], 'SEARCH audit USING INDEX audit_of_tenant (tenant_id=? AND seq<?)');
});
