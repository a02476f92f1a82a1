// A server that crashes and starts again where it was gives out numbers of transactions again that it had not noted on its disk.
// What another transaction did under such a number must not be taken for a COMMIT that the crash has lost.
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { Bench } from '../../../store/conformance/harness.ts';
import { within } from '../../../support/patience.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

const noContents = () => {
  throw new Error('not opened by this test');
};

/** Nothing but a COMMIT brings the log to the disk. */
const LAZY = { wal_writer_delay: '10s', bgwriter_lru_maxpages: '0', wal_buffers: '4MB' };

async function benchAt(t: Test, url: string): Promise<Bench> {
  const store = await openPostgresStore({ url });
  t.teardown(() => store.close());
  return new Bench({ store, openContents: noContents });
}

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  for (const isTaken of [true, false]) {
    t.test(`the number of a lost COMMIT is ${isTaken ? 'given out again' : 'unknown'}`, async (t) => {
      const server = await startPostgres(t, { settings: LAZY });
      const name = await server.createDatabase();
      const proxy = await startTcpProxy(t, server);
      const other = await benchAt(t, server.url(name));
      const bench = await benchAt(t, server.url(name).replace(`:${server.port}/`, `:${proxy.port}/`));
      const { domain } = await bench.sender('acme.test');
      await other.accept(domain, ['before@x.test']);
      const numbers = async (sql: string) => (await server.run(name, sql)).rows.map(({ number }) => number as string);

      const reached = proxy.holdBefore('COMMIT');
      const accepting = bench.accept(domain, ['lost@x.test']);
      await reached;
      const held = await numbers(`SELECT transactionid::text AS number FROM pg_locks WHERE transactionid IS NOT NULL`);
      proxy.refuse(true);
      await server.die();
      proxy.cut();
      proxy.release();
      await server.startAgain();
      if (isTaken) {
        await other.accept(domain, ['other@x.test']);
        const took = `SELECT xmin::text AS number FROM postrider.messages WHERE recipient = 'other@x.test'`;
        t.strictSame(await numbers(took), held, 'another transaction has its number');
      }
      proxy.refuse(false);

      t.match(await within(10_000, 'the fate of the commit', accepting), { kind: 'accepted' });
      const recipients = await server.run(name, 'SELECT recipient FROM postrider.messages ORDER BY recipient');
      const expected = ['before@x.test', 'lost@x.test', ...(isTaken ? ['other@x.test'] : [])];
      t.strictSame(
        recipients.rows.map(({ recipient }) => recipient),
        expected,
        'what was answered is there',
      );
    });
  }

  t.test('marks of daemons that are gone are deleted', async (t) => {
    const server = await startPostgres(t);
    const name = await server.createDatabase();
    const bench = await benchAt(t, server.url(name));
    await bench.sender('acme.test');
    const marks = async () => (await server.run(name, 'SELECT mark FROM postrider.commit_marks')).rows;
    const [mine, ...others] = await marks();
    t.strictSame(others, [], 'one row, however much it has written');
    await server.run(name, `INSERT INTO postrider.commit_marks VALUES (gen_random_uuid(), now() - interval '2 days')`);
    await benchAt(t, server.url(name));
    t.strictSame(await marks(), [mine]);
  });
});
