// The daemon without the master key of its database, with another one, and with several: it starts only with what opens
// its secrets, makes no key that opens none, and says which file is missing.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { masterKeyId } from '../../../src/base/vault.ts';
import { install } from '../../support/daemon-process.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { runInThisProcess } from '../../support/program.ts';
import { RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

t.test('serve needs the master key that its secrets were encrypted with', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const postrider = install(t, { dns, smtpPort: 1 });
  const keyFile = path.join(postrider.folder, 'data', 'master.key');
  t.match(await postrider.runHere('tenant', 'create', '--name', 'Acme'), { code: 0 });
  t.notOk(fs.existsSync(keyFile), 'nothing is encrypted yet');
  await (await postrider.serve()).stop();
  t.ok(fs.existsSync(keyFile), 'the first start creates it');
  const right = fs.readFileSync(keyFile, 'utf8');
  const rightId = masterKeyId(Buffer.from(right.trim(), 'base64'));

  fs.rmSync(keyFile);
  const without = await postrider.run('serve');
  t.equal(without.code, 1);
  t.match(without.stderr, `there is no master key in ${keyFile}, but ${postrider.databaseFile} has secrets`);
  t.match(without.stderr, `Put your copy of the master key into ${keyFile}`);
  t.notOk(fs.existsSync(keyFile), 'none is made');

  const other = randomBytes(32);
  fs.writeFileSync(keyFile, other.toString('base64'), { mode: 0o600 });
  const wrong = await postrider.run('serve');
  t.equal(wrong.code, 1);
  const said = `the secrets in ${postrider.databaseFile} need the master key with the ID ${rightId}, but ${keyFile} has ${masterKeyId(other)}`;
  t.match(wrong.stderr, said);
  t.notMatch(wrong.stderr, other.toString('base64'), 'keys are never shown');

  fs.appendFileSync(keyFile, `\n${right}`);
  await (await postrider.serve()).stop();
  fs.rmSync(keyFile);
  fs.appendFileSync(postrider.configFile, `\n[secrets]\nmaster_key = "${other.toString('base64')}"\n`);
  t.match(await postrider.run('serve'), { code: 1, stderr: `${rightId}, but secrets.master_key has` });
});

t.test('when it is lost, what is stored can be read, and taken along to a new beginning', async (t) => {
  const world = await startWorld(t);
  const { postrider } = world;
  const first = await postrider.serve();
  const sender = await registerSender(world, first);
  const ofTenant = ['--tenant', sender.tenantId];
  await postrider.json('queue', 'pause', '--domain', RECEIVER, '--reason', 'so that it waits');
  const [id] = await send(first, sender, `a@${RECEIVER}`);
  for (const list of [ofTenant, ['--platform']])
    await postrider.json('suppression', 'add', ...list, '--address', `gone@${RECEIVER}`);
  const data = path.join(postrider.folder, 'data');
  fs.rmSync(path.join(data, 'master.key'));
  await postrider.json('queue', 'resume', '--domain', RECEIVER);
  await first.logged({ fact: 'delivered', message_id: id! });
  await first.stop();

  const shown: [args: string[], shows: string][] = [
    [['tenant', 'list'], 'Acme'],
    [['domain', 'list', ...ofTenant], sender.domain],
    [['key', 'list', ...ofTenant], sender.keyId],
    [['webhook', 'list', ...ofTenant], 'No webhooks'],
    [['queue', 'list'], 'empty'],
    [['suppression', 'export', '--platform'], `gone@${RECEIVER}`],
  ];
  for (const [args, shows] of shown) {
    t.match(await postrider.runHere(...args), { code: 0, stdout: shows }, args.join(' '));
  }
  const { stdout } = await postrider.runHere('suppression', 'export', ...ofTenant);
  const exported = path.join(postrider.folder, 'tenant.csv');
  fs.writeFileSync(exported, stdout);
  const needsKey = await postrider.runHere('domain', 'add', 'other.test', ...ofTenant);
  t.match(needsKey, { code: 1, stderr: /there is no master key in/ });

  const lost = `${data}.lost`;
  fs.renameSync(data, lost);
  await (await postrider.serve()).stop();
  const { id: again } = await postrider.json('tenant', 'create', '--name', 'Acme');
  t.match(await postrider.json('suppression', 'import', exported, '--tenant', String(again)), { added: 1 });
  const found = await runInThisProcess(['queue', 'find', `a@${RECEIVER}`, '--config', postrider.configFile], {
    POSTRIDER_DATA_DIR: lost,
  });
  t.match(found, { code: 0, stdout: id! });
});
