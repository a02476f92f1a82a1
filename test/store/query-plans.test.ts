// The queries that run for every message use the index that was made for them, and none reads
// a table that grows from end to end. The statements are those that the verbs really prepare.
import path from 'node:path';
import type Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { openContentReader } from '../../src/store/sqlite/contents.ts';
import { openForReading } from '../../src/store/sqlite/database-file.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { Bench, T0 } from './conformance/harness.ts';

const SQL = Connection.prototype.sql;
const PAGE = { after: null, limit: 10 };

/** Reading one of these from end to end takes longer with every message that was ever sent. */
const GROWING =
  /^SCAN (m|s|messages|events|submissions|contents|attempts|suppressions|platform_suppressions|api_keys)$/m;

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
    const file = path.join(t.testdir(), 'postrider.db');
    const prepared = new Set<string>();
    t.intercept(Connection.prototype, 'sql', {
      value(this: Connection, text: string) {
        prepared.add(text);
        return SQL.call(this, text);
      },
    });
    const store = await openSqliteStore({ file });
    const db = openForReading(file);
    t.teardown(async () => {
      db.close();
      await store.close();
    });
    return new Planner(store, db, prepared);
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
  t.match(claim, 'SEARCH m USING INDEX messages_due (lane=? AND due_at<?)');
  t.match(claim, 'SEARCH m USING INDEX messages_due (lane=?)', 'when the lane has more');
  t.notMatch(claim, 'TEMP B-TREE', 'the index gives the order');
  const lanes = await planner.plansOf((store) => store.dueLanes());
  t.match(lanes, 'SEARCH m USING INDEX messages_due (lane=?)');
  const summary = await planner.plansOf((store) => store.queueSummary());
  t.match(summary, 'SCAN m USING INDEX messages_due', 'only what waits');
  const expired = await planner.plansOf((store) => store.expired(T0, 10));
  t.match(expired, 'SEARCH m USING INDEX messages_expiry (expires_at<?)');
  t.notMatch(expired, 'TEMP B-TREE');
  const recovered = await planner.plansOf((store) => store.recoverInterrupted(T0));
  t.equal(recovered, 'SCAN messages USING INDEX messages_sending', 'only what is being sent');
  const list = await planner.plansOf((store) => store.listQueue({ limit: 10 }));
  t.equal(list, 'SCAN m USING INDEX messages_expiry', 'only what is not finished, up to the limit');
});

t.test('accepting looks everything up by index', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const accept = await planner.plansOf(() => bench.accept(domain, ['a@x.test'], { idempotencyKey: 'k' }));
  for (const step of [
    'SEARCH submissions USING INDEX submissions_idempotency (tenant_id=? AND idempotency_key=?)',
    'SEARCH tenants USING PRIMARY KEY (id=?)',
    'SEARCH suppressions USING PRIMARY KEY (tenant_id=? AND address=?)',
    'SEARCH platform_suppressions USING PRIMARY KEY (address=?)',
    'SEARCH lanes USING COVERING INDEX sqlite_autoindex_lanes_1 (tenant_id=? AND domain=?)',
  ]) {
    t.match(accept, step);
  }
  t.notMatch(accept, 'SCAN');
  const receipt = await planner.plansOf((store) => store.findReceipt(tenant.id, 'k'));
  t.match(receipt, 'USING INDEX submissions_idempotency (tenant_id=? AND idempotency_key=?)');
  t.match(receipt, 'SEARCH messages USING COVERING INDEX messages_of_submission (submission_id=?)');
  t.notMatch(receipt, 'TEMP B-TREE');
  const key = bench.apiKey(tenant.id);
  const created = await planner.plansOf((store) => store.createApiKey(key, 50));
  t.match(created, 'SEARCH api_keys USING INDEX api_keys_of_tenant (tenant_id=?)');
  const hash = await planner.plansOf((store) => store.secretHashOf(key.publicId));
  t.match(hash, /^SEARCH api_keys USING INDEX \w+ \(public_id=\?\)$/);
  const found = await planner.plansOf((store) => store.findApiKey(key.publicId));
  t.match(found, /^SEARCH api_keys USING INDEX \w+ \(public_id=\?\)\nSEARCH tenants USING PRIMARY KEY \(id=\?\)$/);
  const verified = await planner.plansOf((store) => store.findVerifiedDomain(tenant.id, 'acme.test'));
  t.match(verified, 'SEARCH d USING INDEX domains_verified_name (name=?)');
});

t.test('recording goes by primary keys', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const note = { suppressionKey: 'a@x.test', mxGroup: null, rule: 'smtp 5.1.1', platformExpiresAt: T0 };
  const plans = await planner.plansOf(async (store) => {
    await store.release([message.id], T0);
    await bench.claim(message.lane, T0);
    await store.record([bench.attempted(message, { to: 'deferred', dueAt: T0, reason: '451', ambiguous: false })]);
    const bounced = { to: 'bounced', bounce: 'hard', reason: '550', suppress: note } as const;
    await store.record([bench.attempted(message, bounced, bench.event('email.bounced'))]);
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
  await bench.store.record([bench.attempted(message, { to: 'delivered' }, event)]);
  const list = await planner.plansOf((store) => store.listEvents(tenant.id, { after: event.id, limit: 10 }));
  t.match(list, /SEARCH events USING INDEX \w+ \(id=\?\)/);
  t.match(list, 'SEARCH events USING INDEX events_of_tenant (tenant_id=? AND seq>?)');
  t.notMatch(list, 'TEMP B-TREE');
  const ofMessage = await planner.plansOf((store) => store.eventsOfMessage(tenant.id, message.id));
  t.equal(ofMessage, 'SEARCH events USING INDEX events_of_message (message_id=?)');
});

t.test('the standing is read from the newest message backwards', async (t) => {
  const planner = await Planner.open(t);
  const plan = await planner.plansOf((store) => store.standingOf(planner.bench.id(), 1000));
  t.match(plan, 'SEARCH messages USING INDEX messages_of_tenant (tenant_id=?)');
  t.notMatch(plan, 'TEMP B-TREE', 'no further than the window');
});

t.test('no verb reads a growing table from end to end', async (t) => {
  const planner = await Planner.open(t);
  const { bench } = planner;
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const verbs: Record<string, (store: Store) => Promise<unknown>> = {
    listQueue: (store) => store.listQueue({ tenantId: tenant.id, domain: 'x.test', limit: 10 }),
    'listQueue of a domain': (store) => store.listQueue({ domain: 'x.test', limit: 10 }),
    getMessage: (store) => store.getMessage(message.id),
    findMessage: (store) => store.findMessage(tenant.id, message.id),
    retryNow: (store) => store.retryNow(message.id, T0),
    findWaiting: (store) => store.findWaiting(message.id),
    listApiKeys: (store) => store.listApiKeys(tenant.id),
    removeSuppression: (store) => store.removeSuppression(tenant.id, 'b@x.test'),
    listSuppressions: (store) => store.listSuppressions(tenant.id, PAGE),
    listPlatformSuppressions: (store) => store.listPlatformSuppressions(PAGE),
    removePlatformSuppression: (store) => store.removePlatformSuppression('b@x.test'),
    listDomains: (store) => store.listDomains(tenant.id),
    findUserByEmail: (store) => store.findUserByEmail('a@x.test'),
    revokeDomain: (store) => store.revokeDomain(tenant.id, domain.id),
  };
  for (const [name, verb] of Object.entries(verbs)) {
    const plans = await planner.plansOf(verb);
    t.notMatch(plans, GROWING, name);
    t.match(plans, /SEARCH|USING INDEX/, `${name} was looked at`);
  }
});
