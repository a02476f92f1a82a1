// A daemon on two PostgreSQL that Patroni looks after, configured as docs/operate.md shows: the leader is lost, and changed.
import fs from 'node:fs';
import pg from 'pg';
import t from 'tap';
import { trySending } from '../flows/try-sending.ts';
import { patroniMissing, startPatroni } from '../support/patroni.ts';
import { until } from '../support/until.ts';
import { registerSender, startWorld } from '../support/world.ts';

const PATIENT_MS = 180_000;

/** The statements that docs/scaling.md shows for a new database. */
async function makeDatabase(url: string): Promise<void> {
  const page = fs.readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const block = /^```sql\n(CREATE ROLE .*?)^```$/ms.exec(page)![1]!.replace('…', 'secret');
  const client = new pg.Client({ connectionString: url, ssl: { rejectUnauthorized: false } });
  await client.connect();
  try {
    for (const statement of block.split(';').filter((one) => one.trim() !== '')) await client.query(statement);
  } finally {
    await client.end();
  }
}

t.test('a daemon on Patroni’s servers', { skip: patroniMissing() }, async (t) => {
  const cluster = await startPatroni(t);
  const { leader, standby } = await cluster.inStep();
  await makeDatabase(cluster.url(leader, 'postgres'));
  const hosts = cluster.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = `postgres://postrider:secret@${hosts}/postrider?sslmode=require`;
  const { dns, sink, postrider } = await startWorld(t, { settings: { store: { url, node: 'a' } } });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const accepted: string[] = [];
  let tries = 0;
  const accept = async () => {
    const to = `ann${++tries}@receiver.test`;
    const answer = await trySending(daemon, sender, to);
    if (answer.status === 202) accepted.push(to);
    else t.ok(answer.retryAfter, `${answer.status} says when to come again`);
    return answer.status === 202;
  };
  const allHasArrived = () => {
    const isThere = (address: string) => sink.mails.some(({ to }) => to === address);
    return until('all that was accepted', () => accepted.every(isThere), PATIENT_MS);
  };
  const findings = async () => {
    const { stdout } = await postrider.run('doctor', '--json');
    return (JSON.parse(stdout) as { findings: { check: string; health: string; message: string }[] }).findings;
  };
  const standbyIs = (name: string) =>
    until('the doctor finds the standby in step', async () =>
      (await findings()).some(
        ({ check, health, message }) =>
          check === 'standby' && health === 'ok' && message === `${name} has every commit before it is answered`,
      ),
    );

  await t.test('has every commit on the standby', async (t) => {
    t.equal(await accept(), true);
    await allHasArrived();
    await standbyIs(standby.name);
  });

  await t.test('goes on with the standby when the leader is lost', async (t) => {
    await leader.die();
    await until('another leader', async () => (await cluster.leader())?.name === standby.name, PATIENT_MS);
    leader.start();
    await until('mail is accepted', accept, PATIENT_MS);
    const now = await cluster.inStep();
    t.equal(now.standby.name, leader.name, 'the old leader follows');
    await allHasArrived();
    await standbyIs(leader.name);
    t.match(daemon.output, new RegExp(`is used at 127.0.0.1:${standby.port}, which was promoted`));
  });

  await t.test('goes on when its leader is changed', async (t) => {
    await cluster.switchOver();
    const back = await cluster.inStep();
    t.equal(back.leader.name, leader.name);
    await until('mail is accepted', accept, PATIENT_MS);
    await allHasArrived();
    await standbyIs(standby.name);
  });
});
