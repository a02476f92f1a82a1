// What each of several daemons measures about their sharing of one PostgreSQL.
import t from 'tap';
import { findFreePort } from '../../support/free-port.ts';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
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

t.test('while the database is away, only what is in it is missing', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['a']);
  const proxy = await startTcpProxy(t, world.server);
  const port = await findFreePort();
  const url = world.url.replace(`:${world.server.port}/`, `:${proxy.port}/`);
  const daemon = await world.install('b', { store: { url, node: 'b' }, metrics: { port } }).serve();
  const scrape = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    if (answer.status !== 200) throw new Error(`the scrape ended with ${answer.status}`);
    return answer.text();
  };
  const inDatabase = /^postrider_(?:queue_|doubted_|no_route_|tenants_|service_mail_|webhook)\S* /gm;
  t.equal((await scrape()).match(inDatabase)?.length, 8);

  const complaints = () => daemon.lines.filter(({ msg }) => /^some metrics are missing/.test(String(msg)));
  const held = () => proxy.hold();
  const refused = () => {
    proxy.refuse(true);
    proxy.cut();
  };
  for (const lose of [held, refused]) {
    lose();
    const text = await until(`no figure of the database: ${lose.name}`, async () => {
      const found = await scrape();
      return found.match(inDatabase) === null && found;
    });
    for (const name of ['intake_open', 'results_unstored', 'slots', 'lease_left_seconds', 'resident_bytes'])
      t.match(text, new RegExp(`^postrider_${name} \\d`, 'm'), `${lose.name}: ${name}`);
  }
  t.equal(complaints().length, 1, 'said once');
  proxy.refuse(false);
  proxy.release();
  await until('they are back', async () => (await scrape()).match(inDatabase)?.length === 8, 30_000);
});
