// What each of several daemons measures about their sharing of one PostgreSQL.
import t from 'tap';
import { findFreePort } from '../../support/free-port.ts';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { registerSender, send, stateOf } from '../../support/world.ts';

t.test('metrics of several daemons', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['a']);
  const { dns, nodes } = world;
  const a = nodes[0]!;
  const port = await findFreePort();
  const b = world.install('b', { metrics: { port } });
  const daemon = await b.serve();
  const measured = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  await until('it knows of both, and has its share', async () => {
    return (await measured('postrider_nodes')) === 2 && (await measured('postrider_slots')) === 8;
  });
  const left = await measured('postrider_lease_left_seconds');
  t.ok(left > 0 && left <= 8, `${left} s`);

  const trips = await measured('postrider_database_round_trips_total');
  const sender = await registerSender({ dns, postrider: b }, daemon);
  const [id] = await send(daemon, sender, 'ann@receiver.test');
  await until('it is delivered', async () => (await stateOf(daemon, sender, id!)) === 'delivered');
  t.ok((await measured('postrider_database_round_trips_total')) > trips);

  await a.postrider.json('nodes', 'drain', 'b', '--reason', 'a test');
  await until('it has none', async () => (await measured('postrider_slots')) === 0);
  await a.daemon.stop();
  await until('it is alone', async () => (await measured('postrider_nodes')) === 1, 30_000);
});
