// The daemon without the master key of its database, with another one, and with several: it starts only with what opens
// its secrets, makes no key that opens none, and says which file is missing.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { masterKeyId } from '../../../src/base/vault.ts';
import { install } from '../../support/daemon-process.ts';
import { startDnsServer } from '../../support/dns-server.ts';

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
