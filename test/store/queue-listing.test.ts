// The list of the queue narrowed to a tenant, a domain or an MX group: the same on either way, and blind to what
// has ended, however much that is.
import path from 'node:path';
import t from 'tap';
import { listQueue, type QueueFilter } from '../../src/store/sql/verbs/queue/queue-listing.ts';
import { openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { WritingConnection } from '../../src/store/sqlite/engine/writing-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';
import { schedule } from './conformance/scheduled.ts';

const NOT_MORE_THAN = { gathered: 5000, walked: 3 };

t.test('gathered by lanes or met by expiry, the list is the same', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const one = await bench.sender('acme.test');
  const two = await bench.sender('beta.test');
  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@d${n % 7}.test`);
  for (let call = 0; call < 4; call++) {
    // The later one expires first.
    const acceptedAt = T0 - call * 10;
    await bench.accept(one.domain, addresses(40), { acceptedAt });
    await bench.accept(two.domain, addresses(40), { acceptedAt: acceptedAt + 5 });
  }
  await schedule(bench, two.domain, ['later@d3.test', 'later@d4.test']);
  const notes = ['d3.test', 'd4.test'].map((domain) => ({ domain, mxGroup: 'mx', at: T0 }));
  await store.shaping.noteDomains(notes, T0);
  const lanes = await store.queue.dueLanes([1]);
  const ofTwo = lanes.filter(({ tenantId }) => tenantId === two.tenant.id);
  const finished = await bench.claim(ofTwo[0]!.lane, T0 + 100, 10);
  await store.queue.record(finished.map((message) => bench.update(message, { to: 'delivered' })));
  const parked = await bench.claim(ofTwo[1]!.lane, T0 + 100, 2);
  await store.queue.record(parked.map((message) => bench.update(message, { to: 'parked', reason: 'unreadable' })));
  const sending = await bench.claim(ofTwo[2]!.lane, T0 + 100, 3);
  t.teardown(() => store.close());
  const db = new WritingConnection(openForWriting(file));
  t.teardown(() => db.close());

  const tenantId = two.tenant.id;
  const filters: [string, QueueFilter, number][] = [
    ['of a tenant', { tenantId, limit: 1000 }, 152],
    ['of a tenant, the first', { tenantId, limit: 7 }, 7],
    ['of a domain', { domain: 'd3.test', limit: 1000 }, 4 * (6 + 6) + 1],
    ['of a group', { group: 'mx', limit: 1000 }, 4 * (6 + 6) * 2 + 2],
    ['of a tenant to a group', { tenantId: one.tenant.id, group: 'mx', limit: 1000 }, 4 * 6 * 2],
    ['of a tenant to a domain', { tenantId, domain: ofTwo[1]!.domain, limit: 1000 }, 20],
    ['of nobody', { tenantId: bench.id(), limit: 1000 }, 0],
  ];
  for (const [name, filter, count] of filters) {
    const gathered = await listQueue(db, filter, NOT_MORE_THAN.gathered);
    const walked = await listQueue(db, filter, NOT_MORE_THAN.walked);
    t.strictSame(gathered, walked, name);
    const order = gathered.map(({ expiresAt }) => expiresAt);
    t.strictSame(
      order,
      [...order].sort((a, b) => a - b),
      `${name}, by expiry`,
    );
    if (name !== 'of a tenant to a domain') t.equal(gathered.length, count, name);
  }
  const all = new Set((await listQueue(db, { tenantId, limit: 1000 })).map(({ id }) => id));
  t.ok(
    [...parked, ...sending].every(({ id }) => all.has(id)),
    'what is parked or on the wire is among them',
  );
  t.notOk(
    finished.some(({ id }) => all.has(id)),
    'what has ended is not',
  );
});
