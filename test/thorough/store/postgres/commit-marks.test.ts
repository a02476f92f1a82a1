// The mark that each transaction leaves for its COMMIT (crashed-commit.test.ts) is in no other's way: a read of the whole table,
// which the planner prefers while it is small, would make the transactions of all nodes fail one another.
import pg from 'pg';
import t from 'tap';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { Bench } from '../../../store/conformance/harness.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';

const noContents = () => {
  throw new Error('not opened by this test');
};
/** PostgreSQL decides by then which plan a prepared statement keeps. */
const UNTIL_PLANNED = 8;

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const name = await server.createDatabase();
  const open = async () => {
    const store = await openPostgresStore({ url: server.url(name) });
    t.teardown(() => store.close());
    return new Bench({ store, openContents: noContents });
  };
  const { tenant } = await (await open()).sender('acme.test');
  await server.run(name, 'ANALYZE postrider.commit_marks');
  // What a transaction has read is known as long as one beside it is open.
  const beside = new pg.Client({ connectionString: server.url(name) });
  await beside.connect();
  t.teardown(() => beside.end());
  await beside.query('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM postrider.commit_marks');
  const { store } = await open();
  for (let count = 0; count < UNTIL_PLANNED; count++) {
    const entry = { address: `a${count}@x.test`, reason: 'manual', messageId: null, createdAt: 1 } as const;
    t.equal(await store.suppressions.addSuppression(tenant.id, entry), 'added');
  }
  const { rows } = await server.run(
    name,
    `SELECT l.locktype AS what, count(DISTINCT l.virtualtransaction) AS transactions FROM pg_locks l
     JOIN pg_class c ON c.oid = l.relation WHERE l.mode = 'SIReadLock' AND c.relname = 'commit_marks' GROUP BY 1`,
  );
  t.same(rows, [{ what: 'relation', transactions: '1' }], 'only the one beside has read the table');
});
