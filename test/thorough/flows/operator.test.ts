// The operator beside the running daemon: looking into the queue, pushing and stopping single
// messages, pausing a tenant, taking a key away, and copies of the database.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { install } from '../../support/daemon-process.ts';
import { lookInto } from '../../support/database.ts';
import { RECEIVER, registerSender, send, startWorld, stateOf, type WorldOptions } from '../../support/world.ts';

/** A receiver that says "not now" until it is told otherwise. */
function reluctantWorld(settings: WorldOptions['settings'] = {}) {
  const mood = { willing: false };
  const onRcpt = () => (mood.willing ? null : { code: 451, text: '4.3.2 Not now' });
  return { mood, options: { sink: { onRcpt }, settings } };
}

t.test('the queue: list, show, retry, cancel', async (t) => {
  const { mood, options } = reluctantWorld({ delivery: { retry_steps: ['1h'] } });
  const world = await startWorld(t, options);
  const { postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const [pushed, stopped] = await send(daemon, sender, [`pushed@${RECEIVER}`, `stopped@${RECEIVER}`]);
  for (const id of [pushed!, stopped!]) await daemon.logged({ fact: 'deferred', message_id: id });

  const listed = await postrider.json('queue', 'list');
  t.match(listed.lanes, [{ tenant_id: sender.tenantId, domain: RECEIVER, waiting: 2 }]);
  t.same((listed.messages as { id: string }[]).map(({ id }) => id).sort(), [pushed, stopped]);
  const shown = await postrider.run('queue', 'show', pushed!);
  t.match(shown, { code: 0, stdout: /state: +deferred[\s\S]*temporary[\s\S]*Not now/ });

  mood.willing = true;
  t.match(await postrider.runHere('queue', 'retry', pushed!), { code: 0, stdout: /due now/ });
  await daemon.logged({ fact: 'delivered', message_id: pushed! });
  t.match(await postrider.runHere('queue', 'cancel', stopped!), { code: 0 });
  const { body } = await daemon.call(sender.key, `GET /emails/${stopped}`);
  t.match(body, { state: 'canceled', events: [{ type: 'email.deferred' }, { type: 'email.canceled' }] });
  t.match(await postrider.json('queue', 'list'), { lanes: [], messages: [] });

  const again = await postrider.runHere('queue', 'retry', pushed!);
  t.match(again, { code: 1, stderr: /is not waiting: it is delivered/ });
  const unknown = '00000000-0000-7000-8000-000000000000';
  t.match(await postrider.runHere('queue', 'cancel', unknown), { code: 1, stderr: /there is no message/ });
  t.match(world.sink.mails, [{ to: `pushed@${RECEIVER}` }]);
  t.equal(world.sink.mails.length, 1);
});

t.test('a suspended tenant: its queue stands still, and moves on at once when it is active again', async (t) => {
  const { mood, options } = reluctantWorld({ delivery: { retry_steps: ['100ms'] } });
  const world = await startWorld(t, options);
  const { postrider } = world;
  const daemon = await postrider.serve();
  const acme = await registerSender(world, daemon);
  const witness = await registerSender(world, daemon, { name: 'Witness', domain: 'witness.test' });
  const [held] = await send(daemon, acme, `joe@${RECEIVER}`);
  const [other] = await send(daemon, witness, `ann@${RECEIVER}`);
  await daemon.logged({ fact: 'deferred', message_id: held! });

  const attempts = (id: string) => daemon.find({ fact: 'attempt_started', message_id: id }).length;
  const moreAttempts = (id: string, count: number) => {
    const wanted = attempts(id) + count;
    return daemon.until(() => attempts(id) >= wanted, `try ${id} ${count} times more`);
  };
  t.match(await postrider.run('tenant', 'set', acme.tenantId, '--status', 'suspended'), { code: 0 });
  const refused = await daemon.call(acme.key, `GET /emails/${held}`);
  t.match(refused, { status: 403, body: { error: 'tenant_not_active' } });
  await moreAttempts(other!, 1); // what was being tried when the tenant was suspended is over by then
  const before = attempts(held!);
  await moreAttempts(other!, 3);
  t.equal(attempts(held!), before, 'not tried while others are');

  mood.willing = true;
  await daemon.logged({ fact: 'delivered', message_id: other! });
  t.notOk(daemon.find({ fact: 'delivered', message_id: held! }).length);
  t.match(await postrider.runHere('tenant', 'set', acme.tenantId, '--status', 'active'), { code: 0 });
  await daemon.logged({ fact: 'delivered', message_id: held! });
  t.equal(await stateOf(daemon, acme, held!), 'delivered');
});

t.test('a revoked key is worth nothing from that moment on', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const call = async () => (await daemon.call(sender.key, 'GET /domains')).status;
  t.equal(await call(), 200);
  const publicPart = sender.key.slice(0, sender.key.lastIndexOf('_'));
  t.match(await world.postrider.run('key', 'revoke', publicPart), { code: 0, stdout: /is revoked/ });
  t.equal(await call(), 401);
});

t.test('one data folder, one daemon', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const second = await world.postrider.run('serve');
  t.match(second, {
    code: 1,
    stderr: /another Postrider process uses .*data: stop it first, or use another data folder/,
  });
  t.match(await daemon.call(null, 'GET /healthz'), { status: 200, body: { status: 'ok' } }, 'the first is unharmed');
  await daemon.kill();
  await world.postrider.serve(); // what a killed one leaves behind bars nobody
});

t.test('a copy of the database beside the daemon, and its way back without it', async (t) => {
  const { mood, options } = reluctantWorld({ delivery: { retry_steps: ['1h'] } });
  const world = await startWorld(t, options);
  const { postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const [id] = await send(daemon, sender, `joe@${RECEIVER}`);
  await daemon.logged({ fact: 'deferred', message_id: id! });
  const copy = path.join(postrider.folder, 'copy.db');
  t.match(await postrider.run('backup', copy), { code: 0, stdout: /does not contain the master key/ });
  t.equal(fs.statSync(copy).mode & 0o777, 0o600);
  t.match(await postrider.runHere('backup', copy), { code: 1, stderr: /already exists/ });
  await postrider.json('queue', 'cancel', id!);

  t.match(await postrider.runHere('restore', copy, '--force'), { code: 1, stderr: /another Postrider/ });
  t.same(await daemon.stop(), { code: 0, signal: null });
  t.match(await postrider.runHere('restore', copy), { code: 1, stderr: /--force/ });
  t.match(await postrider.run('restore', copy, '--force'), { code: 0 });
  t.equal(lookInto(postrider.databaseFile).integrity, 'ok');
  const next = await postrider.serve();
  t.equal(await stateOf(next, sender, id!), 'deferred', 'as it was when the copy was made');
  await next.stop();

  await t.test('on another machine the copy needs the master key', async (t) => {
    const elsewhere = install(t, { dns: world.dns, smtpPort: world.sink.port });
    t.match(await elsewhere.runHere('restore', copy), { code: 0 });
    t.match(await elsewhere.run('serve'), { code: 1, stderr: /there is no master key in .*master\.key, but/ });
    const keyOf = ({ folder }: { folder: string }) => path.join(folder, 'data', 'master.key');
    fs.copyFileSync(keyOf(postrider), keyOf(elsewhere));
    mood.willing = true;
    const daemon = await elsewhere.serve();
    await elsewhere.json('queue', 'retry', id!);
    await daemon.logged({ fact: 'delivered', message_id: id! });
    t.equal(await stateOf(daemon, sender, id!), 'delivered');
  });
});
