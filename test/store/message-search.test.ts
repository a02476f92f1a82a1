// The search for messages in a large database looks at a bounded number of rows, along the index that is
// there anyway; its time with a million messages is measured by `npm run bench -- --only search`.
import path from 'node:path';
import t, { type Test } from 'tap';
import { fillWithMessages, JOE } from '../../bench/message-rows.ts';
import type { MessageSearch } from '../../src/store/reads.ts';
import { searchMessages } from '../../src/store/sql/reading/message-search.ts';
import { openForReading } from '../../src/store/sqlite/engine/database-file.ts';
import { ReadingConnection } from '../../src/store/sqlite/engine/reading-connection.ts';
import { testFolder } from '../support/test-folder.ts';

const MESSAGES = 12_000;
const SPAN = { from: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 2, 1) };
const PATIENT_MS = 60_000;

async function open(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const [tenant] = await fillWithMessages({ file, messages: MESSAGES, tenants: 2, ...SPAN });
  const connection = new ReadingConnection(file);
  const prepared = new Set<string>();
  t.intercept(connection, 'sql', {
    value: (...asked: Parameters<ReadingConnection['sql']>) => {
      prepared.add(asked[0]);
      return ReadingConnection.prototype.sql.call(connection, ...asked);
    },
  });
  const search = (asked: Partial<MessageSearch>) =>
    connection.snapshot(() => searchMessages(connection, tenant!.id, { limit: 50, budgetMs: PATIENT_MS, ...asked }));
  return { file, search, tenant: tenant!, prepared };
}

t.test('a large database', async (t) => {
  const { file, search, tenant, prepared } = await open(t);
  const where = { recipientDomain: 'in3.test' };

  await t.test('an address that never got mail is known without a walk', async (t) => {
    const page = search({ recipient: 'nobody@in3.test', ...where });
    t.match(page, { messages: [], next: null, stoppedEarly: false });
    t.ok(page.scanned <= 1000, `${page.scanned} messages were looked at: those above the marks`);
  });

  await t.test('one that got mail rarely is found, all of it', async (t) => {
    const page = search({ recipient: JOE.toUpperCase(), ...where });
    t.equal(page.messages.length, MESSAGES / 1000);
    t.same(
      page.messages.map(({ createdAt }) => createdAt),
      page.messages.map(({ createdAt }) => createdAt).sort((a, b) => b - a),
    );
    const half = search({ recipient: JOE, ...where, until: Date.UTC(2026, 0, 30) });
    t.ok(half.messages.length > 0 && half.messages.length < page.messages.length, 'the older ones');
  });

  await t.test('without time a walk stops after one stride, and goes on from there', async (t) => {
    const page = search({ state: 'failed', budgetMs: 0 });
    t.match(page, { stoppedEarly: true, scanned: 500 });
    const next = search({ state: 'failed', budgetMs: 0, olderThan: page.next! });
    t.ok(next.next! < page.next!, 'further back');
  });

  await t.test('every statement goes along an index that begins with the tenant, or reads marks', async (t) => {
    search({ state: 'bounced', senderDomain: tenant.senderDomain, apiKeyId: tenant.apiKeyIds[0]! });
    search({ senderDomain: tenant.senderDomain, sender: 'news@x.test', tag: { name: 'kind', value: 'news' } });
    search({ recipient: JOE, ...where, from: SPAN.from, until: SPAN.until });
    const db = openForReading(file);
    t.teardown(() => db.close());
    for (const text of prepared) {
      const values = Array(text.split('?').length - 1).fill(null);
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
      for (const { detail } of steps) {
        t.notMatch(detail, /SCAN (?!recipient_marks)|TEMP B-TREE/, text);
        if (/\b(m|messages)\b/.test(detail)) t.match(detail, /messages_of_tenant \(tenant_id=\?/);
      }
    }
    t.ok(prepared.size >= 4);
  });
});
