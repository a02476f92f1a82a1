// What the doctor says of a real PostgreSQL: without a standby, with one in step, and where it can't be reached.
import { once } from 'node:events';
import fs from 'node:fs';
import t from 'tap';
import type { Finding } from '../../../src/doctor/finding.ts';
import { judgeServer } from '../../../src/doctor/server.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { readServerFacts } from '../../../src/store/postgres/server-facts.ts';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing, startStandby } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';

/** It shall not look around in the Internet. */
const HERE = {
  doctor: { time_sources: [], blocklists: [], mail_domains: ['receiver.test'], known_domains: ['receiver.test'] },
};

/** What the page tells to run in PostgreSQL. */
function statementsOf(page: string): string[] {
  const text = fs.readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, block]) => block!);
  return blocks.flatMap((block) => block.split(';')).filter((statement) => statement.trim() !== '');
}

t.test('the doctor and PostgreSQL', { skip: postgresMissing() }, async (t) => {
  const { server, url, nodes } = await startNodes(t, ['a'], HERE);
  const { postrider, daemon } = nodes[0]!;
  const name = url.replace(/owner@/, '');
  const judge = async (check: string) => {
    const facts = await readServerFacts(url, Date.now);
    return judgeServer(name, { kind: 'answer', facts }).filter((finding) => finding.check === check);
  };
  const examine = async () => {
    const { stdout } = await postrider.run('doctor', '--json');
    return (JSON.parse(stdout) as { findings: Finding[] }).findings;
  };

  await t.test('without a standby and without fsync', async (t) => {
    const findings = await examine();
    t.match(
      findings.filter((finding) => finding.check === 'database'),
      [{ subject: name, health: 'ok', message: /^answers at 127\.0\.0\.1:\d+, PostgreSQL \d+/ }],
    );
    t.match(
      findings.find(({ check }) => check === 'commits'),
      { health: 'fail', message: /ruin the database/ },
    );
    t.match(
      findings.find(({ check }) => check === 'standby'),
      { health: 'fail', message: /no synchronous standby/ },
    );
    t.match(
      findings.find(({ check }) => check === 'clock of the database'),
      { health: 'ok' },
    );
  });

  await t.test('with a standby that has every commit', async (t) => {
    await startStandby(t, server, 'db2');
    for (const statement of statementsOf('docs/operate.md')) await server.run('postgres', statement);
    t.teardown(async () => {
      await server.run('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
      await server.run('postgres', 'SELECT pg_reload_conf()');
    });
    await until('it is in step', async () => (await judge('standby'))[0]?.health === 'ok');
    t.match(await judge('standby'), [{ message: 'db2 has every commit before it is answered' }]);
    t.match((await readServerFacts(url, Date.now)).nodes, [{ node: 'a' }]);
  });

  await t.test('a database and a user as docs/scaling.md makes them', async (t) => {
    for (const statement of statementsOf('docs/scaling.md')) await server.run('postgres', statement);
    const own = server.url('postrider', 'postrider');
    const store = await openPostgresStore({ url: own });
    t.equal(await store.ping(), true);
    await store.close();
    t.not((await readServerFacts(own, Date.now)).standbys, null, 'and it may see standbys');
  });

  await t.test('when it is gone', async (t) => {
    await daemon.stop();
    // At once, although clients are connected.
    server.program.child.kill('SIGINT');
    await once(server.program.child, 'exit');
    const findings = await examine();
    t.match(
      findings.filter((finding) => finding.check === 'database'),
      [{ subject: name, health: 'fail', message: /^cannot be used: / }],
    );
    const dkim = findings.filter(({ check }) => check === 'DKIM');
    t.match(dkim, [{ health: 'warn', message: /the database.* could not be read/, remedy: null }]);
  });
});
