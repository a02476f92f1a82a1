// A daemon on SQLite, moved to PostgreSQL with all that it has, and started there: what waited is sent, what was sent is
// known, and its keys go on to work.
import fs from 'node:fs';
import t from 'tap';
import { install } from '../../support/daemon-process.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { addReceiver, messageIdOf, registerSender, send, startWorld, stateOf } from '../../support/world.ts';

t.test('from SQLite to PostgreSQL', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());
  const world = await startWorld(t);
  const { dns, sink, postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const [sent] = await send(daemon, sender, 'ann@receiver.test');
  await daemon.logged({ fact: 'delivered', message_id: sent! });
  addReceiver(dns, 'held.test');
  await postrider.json('queue', 'pause', '--domain', 'held.test', '--reason', 'a move');
  const [waiting] = await send(daemon, sender, 'bob@held.test');
  await daemon.stop();
  const moved = await postrider.run('migrate', '--to', url);
  t.match(moved, { code: 0, stdout: /compared every value/ });

  await t.test('SQLite is left alone from then on', async (t) => {
    const again = postrider.spawn();
    t.match(await again.ended, { code: 1 });
    t.match(again.output, /moved to/);
  });

  const there = install(t, { dns, smtpPort: sink.port, settings: { store: { url, node: 'first' } } });
  fs.mkdirSync(`${there.folder}/data`, { mode: 0o700 });
  fs.copyFileSync(`${postrider.folder}/data/master.key`, `${there.folder}/data/master.key`);

  await t.test('the daemon there knows and goes on with all of it', async (t) => {
    const next = await there.serve();
    t.equal(await stateOf(next, sender, sent!), 'delivered');
    t.not(await stateOf(next, sender, waiting!), 'delivered');
    await there.json('queue', 'resume', '--domain', 'held.test', '--reason', 'moved');
    await until('what waited arrives', () => sink.mails.some(({ raw }) => messageIdOf(raw) === waiting));
    const [fresh] = await send(next, sender, 'carl@receiver.test');
    await until('so does new mail', () => sink.mails.some(({ raw }) => messageIdOf(raw) === fresh));
    t.equal(sink.mails.length, 3, 'and nothing twice');
  });

  await t.test('there is no way back any more', async (t) => {
    const back = await postrider.run('migrate', '--back', '--to', url);
    t.match(back, { code: 1, stderr: /PostgreSQL/ });
  });
});
