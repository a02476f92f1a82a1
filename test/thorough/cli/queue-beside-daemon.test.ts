// The operator's hand on the queue of a running daemon: it takes effect at once, outlives a
// restart, and the log tells of it.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

const GROUP = `mx.${RECEIVER}`;

t.test('a group is paused, over a restart too, and goes on when it is resumed', async (t) => {
  const world = await startWorld(t, { settings: { log: { level: 'debug' } } });
  const { postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const [first] = await send(daemon, sender, `first@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: first! });

  await postrider.json('queue', 'pause', '--group', GROUP, '--reason', 'their postmaster asked', '--by', 'jo');
  await daemon.logged({ action: 'pause', kind: 'group', target: GROUP, by: 'jo', note: 'their postmaster asked' });
  const [held] = await send(daemon, sender, `held@${RECEIVER}`);
  const waits = await daemon.logged({ group: GROUP, lanes: 1 } as Record<string, unknown>);
  t.match(waits, { level: 'debug', reasons: [{ code: 'group_paused', reach: 'group' }] });
  const shown = await postrider.json('queue', 'show', held!);
  t.match(shown, {
    group: GROUP,
    earliest_at: null,
    waits_for: [{ code: 'group_paused', reason: /by jo .*their postmaster asked/ }],
  });
  t.match(await postrider.json('queue', 'list'), {
    groups: [{ group: GROUP, lanes_in_line: 1, reasons: [{ code: 'group_paused' }] }],
    lanes: [{ group: GROUP, tenant: 'Acme', waiting: 1, reasons: [{ code: 'group_paused' }] }],
  });
  await daemon.stop();

  const next = await postrider.serve();
  t.match((await postrider.json('queue', 'show', held!)).waits_for, [{ code: 'group_paused' }], 'after a restart');
  t.equal(world.sink.mails.length, 1);
  await postrider.json('queue', 'resume', '--group', GROUP);
  await next.logged({ fact: 'delivered', message_id: held! });
  t.match(await postrider.json('queue', 'list'), { lanes: [], messages: [] });
});

t.test("an operator's file of providers: its limits hold, and its mistakes stop the start", async (t) => {
  const world = await startWorld(t);
  const { postrider } = world;
  const file = path.join(postrider.folder, 'providers.toml');
  const provider = `[[provider]]\nid = "receiver"\nmx = ["${GROUP}"]\nconnections = 1\nmessages_per_connection = 3\nreason = "a test"\n`;
  fs.writeFileSync(file, `${provider}conections = 2\n`);
  const config = fs.readFileSync(postrider.configFile, 'utf8');
  fs.writeFileSync(postrider.configFile, config.replace('[delivery]', `[delivery]\nprovider_limits_file = "${file}"`));
  t.match(await postrider.runHere('config', 'check'), { code: 1, stderr: /receiver: unknown key conections/ });
  const refused = await postrider.run('serve');
  t.match(refused, { code: 1, stderr: /providers\.toml cannot be used:[\s\S]*receiver: unknown key conections/ });
  fs.writeFileSync(file, provider);
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const ids = await send(
    daemon,
    sender,
    Array.from({ length: 7 }, (_, index) => `u${index}@${RECEIVER}`),
  );
  for (const id of ids) await daemon.logged({ fact: 'delivered', message_id: id });
  const sessions = [...Map.groupBy(world.sink.mails, ({ session }) => session).values()];
  t.ok(
    sessions.every(({ length }) => length <= 3),
    sessions.map(({ length }) => length).join(' '),
  );
  t.equal(world.sink.connections.most, 1);
  t.match(await postrider.json('queue', 'list', '--group', 'receiver'), {
    groups: [{ limits: 'a test', connections_allowed: 1 }],
  });
});
