// A restored database sends nothing that may have been sent already: what was unfinished in the backup is held until an
// operator releases it, and new mail flows at once. With --send-again it is sent as if nothing had happened.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Daemon, Json } from '../../support/daemon-process.ts';
import { messageIdOf, RECEIVER, registerSender, send, startWorld, stateOf } from '../../support/world.ts';

/** A backup in which a message waits that the receiver has accepted since. */
async function sentSince(t: Test) {
  const world = await startWorld(t);
  const { postrider, sink } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const group = ['--domain', RECEIVER];
  await postrider.json('queue', 'pause', ...group, '--reason', 'so that it waits');
  const [id] = await send(daemon, sender, `a@${RECEIVER}`);
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const [later] = await send(daemon, sender, `later@${RECEIVER}`, { send_at: sendAt });
  const backup = path.join(postrider.folder, 'backup.db');
  await postrider.json('backup', backup);
  await postrider.json('queue', 'resume', ...group);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  await daemon.stop();
  const arrived = () => sink.mails.map(({ raw }) => messageIdOf(raw));
  return { ...world, sender, backup, id: id!, later: later!, arrived, group };
}

function delivered(daemon: Daemon, id: string) {
  return daemon.logged({ fact: 'delivered', message_id: id });
}

t.test('held until it is released', async (t) => {
  const { postrider, sender, backup, id, later, arrived, group } = await sentSince(t);
  const said = await postrider.run('restore', backup, '--force');
  t.match(said, { code: 0, stdout: /restored\. 2 unfinished messages held \(1 scheduled, 1 queued\): they may/ });
  t.match(said.stdout, /postrider queue release/);
  await postrider.json('queue', 'resume', ...group);

  const daemon = await postrider.serve();
  const [fresh] = await send(daemon, sender, `new@${RECEIVER}`);
  await delivered(daemon, fresh!);
  t.same(arrived(), [id, fresh], 'new mail flows, the old one went once');
  t.equal(await stateOf(daemon, sender, id), 'queued');
  const list = await postrider.runHere('queue', 'list');
  t.match(list.stdout, new RegExp(`${id} +held .*held by the operator: the database was restored from a backup`));
  t.match((await postrider.json('queue', 'show', id)).waits_for, [{ code: 'held_after_restore' }]);
  const findings = JSON.parse((await postrider.runHere('doctor', '--json')).stdout) as Json;
  t.match(JSON.stringify(findings), /2 messages.*held since the restore/);

  t.match(await postrider.runHere('queue', 'retry', '--tenant', sender.tenantId), { code: 0 });
  t.match(await postrider.runHere('queue', 'release', '--tenant', fresh!), { code: 1, stderr: /there is no tenant/ });
  t.match(await postrider.json('queue', 'release'), { messages: 2, complete: true, held: 0 });
  await delivered(daemon, id);
  t.same(arrived(), [id, fresh, id]);
  t.equal(await stateOf(daemon, sender, later), 'scheduled', 'mail for later waits for its time');
  t.match(await postrider.runHere('queue', 'release'), { code: 0, stdout: 'No message is held.\n' });
});

t.test('sent again when that is asked for', async (t) => {
  const { postrider, backup, id, arrived, group } = await sentSince(t);
  const said = await postrider.run('restore', backup, '--force', '--send-again');
  t.match(said, { code: 0, stdout: /The next start sends 2 unfinished messages, also what was sent after the backup/ });
  await postrider.json('queue', 'resume', ...group);
  const daemon = await postrider.serve();
  await delivered(daemon, id);
  t.same(arrived(), [id, id]);
});

t.test('what changed since the backup is undone, and can be repeated before the start', async (t) => {
  const world = await startWorld(t);
  const { postrider } = world;
  const { folder } = postrider;
  const first = await postrider.serve();
  const sender = await registerSender(world, first);
  const ofTenant = ['--tenant', sender.tenantId];
  const rights = ['--name', 'second', '--scopes', 'emails:send'];
  const { key: second } = await postrider.json('key', 'create', ...ofTenant, ...rights);
  const backup = path.join(folder, 'backup.db');
  await postrider.json('backup', backup);
  await postrider.json('key', 'revoke', sender.keyId);
  await postrider.json('tenant', 'set', sender.tenantId, '--status', 'suspended');
  const gone = `gone@${RECEIVER}`;
  await postrider.json('suppression', 'add', ...ofTenant, '--address', gone, '--reason', 'unsubscribe');
  await first.stop();
  const exported = path.join(folder, 'tenant.csv');
  fs.writeFileSync(exported, (await postrider.runHere('suppression', 'export', ...ofTenant)).stdout);
  await postrider.json('restore', backup, '--force');

  t.match(await postrider.json('tenant', 'show', sender.tenantId), { status: 'active' });
  t.match((await postrider.json('suppression', 'list', ...ofTenant)).suppressions, []);
  await postrider.json('key', 'revoke', sender.keyId);
  await postrider.json('suppression', 'import', exported, ...ofTenant);
  const daemon = await postrider.serve();
  const body = { from: `app@${sender.domain}`, to: [gone, `a@${RECEIVER}`], subject: 'x', text: 'x' };
  t.equal((await daemon.call(sender.key, 'POST /emails', { body })).status, 401);
  t.match(await daemon.call(String(second), 'POST /emails', { body }), {
    status: 202,
    body: { rejected: [{ to: gone, reason: 'unsubscribe' }] },
  });
});
