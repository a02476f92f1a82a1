// What config check and doctor say of who can read the files of an installation.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { judgeConfigFile } from '../../src/doctor/inside.ts';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';
import { newProgram, runInThisProcess } from '../support/program.ts';
import { programWithDns } from './program-with-dns.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

t.test('a configuration file with secrets, which others can read', async (t) => {
  const { configFile, dataDir, json, remove } = newProgram();
  t.teardown(remove);
  fs.mkdirSync(dataDir);
  const said = async (toml: string, mode: number) => {
    fs.writeFileSync(configFile, `[data]\ndir = "data"\n${toml}`);
    fs.chmodSync(configFile, mode);
    const { warnings } = await json('config', 'check');
    return (warnings as string[]).filter((warning) => warning.startsWith(configFile)).join();
  };
  const masterKey = `[secrets]\nmaster_key = "${KEY}"\n`;
  const mend = `chgrp postrider ${configFile} && chmod 640 ${configFile}`;
  t.equal(await said('', 0o644), '', 'it has no secret');
  t.equal(
    await said(masterKey, 0o644),
    `${configFile} has secrets.master_key, and can be read by every user of this machine: ${mend}`,
  );
  t.equal(await said(masterKey, 0o600), '');
  t.equal(await said(masterKey, 0o640), '', 'the group is that of the service');
  t.match(
    await said(`[store]\nurl = "postgres://a:b@127.0.0.1/c"\n${masterKey}`, 0o644),
    'and the password in store.url',
  );
  t.equal(await said('[store]\nurl = "postgres://a@127.0.0.1/c"\n', 0o644), '', 'the password is elsewhere');
  await said(masterKey, 0o644);
  const other = { POSTRIDER_SECRETS_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') };
  const overridden = await runInThisProcess(['config', 'check', '--config', configFile], other);
  t.match(overridden.stdout, `${configFile} has secrets.master_key, and can be read`, 'a variable does not hide it');

  const facts = { file: configFile, keys: ['secrets.master_key'] };
  t.match(judgeConfigFile({ ...facts, openTo: 'its group' }), [
    { health: 'warn', message: 'has secrets.master_key, and is readable by its group', remedy: { command: mend } },
  ]);
  t.match(judgeConfigFile({ ...facts, openTo: null }), [{ health: 'ok', check: 'configuration' }]);
  t.strictSame(judgeConfigFile(null), []);
});

t.test('a group that is not that of the service', { skip: noOtherUser }, async (t) => {
  const noNetwork = 'mail_domains = []\nknown_domains = []\ntime_sources = []\nblocklists = []\n';
  const { program } = await programWithDns(t, () => `[doctor]\n${noNetwork}[secrets]\nmaster_key = "${KEY}"\n`);
  const { configFile, dataDir, run, runHere } = program;
  fs.mkdirSync(dataDir);
  fs.chmodSync(configFile, 0o640);
  fs.chownSync(configFile, 0, OTHER_USER.gid);
  t.match(await runHere('config', 'check'), { stdout: /has secrets\.master_key, and can be read by its group: chgrp/ });
  const { stdout } = await run('doctor');
  t.match(
    stdout,
    /^warn {2}configuration: \S+ has secrets\.master_key, and is readable by its group\n {6}-> run: chgrp/m,
  );
});

t.test('files that root can read, and the service can not', { skip: noOtherUser }, async (t) => {
  const { configFile, dataDir, folder, runHere, remove } = newProgram();
  t.teardown(remove);
  const [key, inside, hidden] = ['a.key', 'in', 'in/b.key'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  fs.writeFileSync(key, KEY, { mode: 0o600 });
  fs.mkdirSync(inside, { mode: 0o700 });
  fs.writeFileSync(hidden, 'secret', { mode: 0o644 });
  fs.mkdirSync(dataDir);
  fs.chmodSync(folder, 0o755);
  fs.writeFileSync(
    configFile,
    '[data]\ndir = "data"\n[secrets]\nmaster_key_file = "a.key"\n[tls]\nacme_root = "in/b.key"\n',
  );
  const said = async () => {
    const { code, stdout } = await runHere('config', 'check');
    t.equal(code, 0);
    return stdout.split('\n').filter((line) => line.includes("the service's user"));
  };
  t.strictSame(await said(), [], "the data folder is root's, and so is the service");
  fs.chownSync(dataDir, OTHER_USER.uid, OTHER_USER.gid);
  const why = "the service's user, who owns data.dir, can't read";
  t.match(await said(), [
    `Warning: secrets.master_key_file: ${why} ${key}: permission denied. Let that user read it`,
    `Warning: tls.acme_root: ${why} ${hidden}: permission denied`,
  ]);
  t.strictSame([process.geteuid!(), process.getegid!()], [0, 0], 'root is itself again');
  fs.chownSync(key, 0, OTHER_USER.gid);
  fs.chmodSync(key, 0o640);
  fs.chmodSync(inside, 0o711);
  t.strictSame(await said(), [], 'by its group, and by everybody');
  fs.chmodSync(configFile, 0o600);
  t.match(await said(), [`Warning: the configuration: ${why} ${configFile}`]);
});
