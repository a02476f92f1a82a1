// The commands from outside, without a daemon: what they print, what they change, how they fail.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { verifyUser } from '../../src/tenants/accounts/users.ts';
import { verifyApiKey } from '../../src/tenants/api-keys.ts';
import { newProgram, runInThisProcess, runProgram } from '../support/program.ts';

const STRANGER = '01a1fa75-69d8-7000-b301-908cb7826839';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('tenants, keys and users', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { run, json } = program;

  const created = await json('tenant', 'create', '--name', 'Acme');
  t.same(Object.keys(created), ['id']);
  t.match(created.id, UUID);
  const tenant = String(created.id);
  t.match(await json('tenant', 'list'), {
    tenants: [{ id: tenant, name: 'Acme', status: 'in_review', tier: '1k', tier_pinned: false, created_at: TIME }],
  });
  const settings = ['--status', 'active', '--tier', 'uncapped', '--open-tracking', 'on', '--unsubscribe', 'on'];
  t.match(await json('tenant', 'set', tenant.toUpperCase(), ...settings), {
    id: tenant,
    status: 'active',
    tier: 'uncapped',
    tier_pinned: true,
    open_tracking: true,
    click_tracking: false,
    unsubscribe: true,
  });
  t.match(await run('tenant', 'list'), {
    code: 0,
    stdout: /^ID +STATUS[^\n]*\n.*active +uncapped \(pinned\).*Acme\n$/,
  });

  const scopes = ['--scopes', 'emails:send,domains:write'];
  const key = await json('key', 'create', '--tenant', tenant, '--name', 'app', ...scopes, '--domain', 'Example.COM');
  t.same(Object.keys(key), ['id', 'key']);
  const second = await json('key', 'create', '--tenant', tenant, '--name', 'second', ...scopes);
  const publicPart = String(second.key).slice(0, 'pr_'.length + 12);
  t.same(await json('key', 'revoke', publicPart), { id: second.id, revoked: true });
  t.match(await json('key', 'list', '--tenant', tenant), {
    keys: [
      { id: key.id, name: 'app', scopes: ['emails:send', 'domains:write'], domain: 'example.com', revoked_at: null },
      { id: second.id, domain: null, revoked_at: TIME },
    ],
  });
  const listed = await run('key', 'list', '--tenant', tenant, '--json');
  t.notOk(listed.stdout.includes(String(key.key).slice(-43)), 'a list has no secrets');

  const user = await json('user', 'create', '--tenant', tenant, '--email', 'Joe@example.com', '--role', 'viewer');
  t.same(Object.keys(user), ['id', 'password']);
  const operator = await json('user', 'create', '--operator', '--email', 'op@example.com');
  const reset = await json('user', 'reset', '--email', 'joe@example.com');
  t.equal(reset.id, user.id);

  const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
  t.equal((await verifyApiKey(String(key.key), store))?.key.id, key.id);
  t.equal(await verifyApiKey(String(second.key), store), null);
  t.match(await verifyUser({ email: 'joe@example.com', password: String(reset.password) }, store), { role: 'viewer' });
  t.match(await verifyUser({ email: 'op@example.com', password: String(operator.password) }, store), {
    role: 'operator',
    tenantId: null,
  });
  await store.close();
});

t.test('what a new tenant or key still lacks is said', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const create = (...more: string[]) => program.runHere('tenant', 'create', '--name', 'Acme', ...more);
  const first = await create();
  t.match(first, { code: 0, stderr: '', stdout: /can't send yet: postrider tenant set \S+ --status active\n$/ });
  const second = await create('--status', 'active');
  t.match(second, { code: 0, stderr: /Another tenant has this name/, stdout: /created\. It can send\.\n$/ });
  const [, id = ''] = /^Tenant (\S+) /.exec(second.stdout) ?? [];
  t.match(await program.runHere('tenant', 'set', id, '--name', ' '), { code: 2, stderr: /name/ });
  t.match(await program.json('tenant', 'set', id, '--name', 'Acme Two'), { id, name: 'Acme Two', status: 'active' });
  t.match(await program.json('tenant', 'show', 'Acme Two'), { id });
  const key = (...more: string[]) =>
    program.runHere('key', 'create', '--tenant', id, '--name', 'app', '--scopes', 'emails:send', ...more);
  t.match(await key('--domain', 'acme.exampel'), { code: 0, stderr: /has no domain acme\.exampel yet/ });
  t.match(await key(), { code: 0, stderr: '' });
});

t.test('failures: exit code 1, the reason on standard error, nothing on standard output', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('user', 'create', '--operator', '--email', 'op@example.com');
  const failures: [args: string[], says: RegExp][] = [
    [['tenant', 'set', STRANGER, '--status', 'active'], /^postrider tenant set: there is no tenant 01a1fa75/],
    [['key', 'create', '--tenant', STRANGER, '--name', 'k', '--scopes', 'emails:send'], /there is no tenant/],
    [['key', 'list', '--tenant', STRANGER], /there is no tenant/],
    [['key', 'revoke', STRANGER], /key not found/],
    [['key', 'revoke', 'pr_abcdefABCDEF'], /key not found/],
    [['domain', 'list', '--tenant', STRANGER], /there is no tenant/],
    [
      ['user', 'create', '--operator', '--email', 'OP@example.com'],
      /^postrider user create: there is already a user op@example\.com/,
    ],
    [['user', 'reset', '--email', 'nobody@example.com'], /^postrider user reset: there is no user nobody@example\.com/],
    [['queue', 'show', STRANGER], /there is no message .*postrider queue find/],
    [['queue', 'retry', STRANGER], /there is no message/],
    [['queue', 'cancel', STRANGER], /there is no message/],
    [['suppression', 'list', '--tenant', STRANGER], /there is no tenant/],
    [['suppression', 'add', '--tenant', STRANGER, '--address', 'a@example.com'], /there is no tenant/],
    [['suppression', 'remove', '--platform', '--address', 'a@example.com'], /a@example\.com is not on this list/],
    [['restore', path.join(program.folder, 'nothing'), '--force'], /no such file/],
    [['restore', path.join(program.folder, 'no', 'folder.db'), '--force'], /folder\.db cannot be restored: no such/],
    [
      ['restore', program.folder, '--force'],
      /cannot be restored: it is a folder, and the file of a backup is expected/,
    ],
    [
      ['backup', path.join(program.folder, 'no', 'x.db')],
      /x\.db cannot be written: there is no folder .*no: make it first/,
    ],
    [['suppression', 'import', program.folder, '--tenant', STRANGER], /cannot be read: it is a folder\n$/],
    [['restore', program.configFile], /already has a database/],
    [['restore', program.configFile, '--force'], /cannot be restored/],
  ];
  for (const [args, says] of failures) {
    t.test(args.join(' '), async (t) => {
      t.match(await program.runHere(...args, '--json'), { code: 1, stdout: '', stderr: says });
    });
  }
});

t.test('suppression lists', async (t) => {
  const { json, run, remove } = newProgram();
  t.teardown(remove);
  const { id: tenant } = (await json('tenant', 'create', '--name', 'Acme')) as { id: string };
  const address = ['--address', 'Joe.Doe@Example.COM'];
  const own = ['--tenant', tenant];
  t.same(await json('suppression', 'add', ...own, ...address, '--reason', 'complaint'), {
    address: 'joe.doe@example.com',
    added: true,
  });
  t.match(await json('suppression', 'add', ...own, ...address), { added: false });
  t.match(await json('suppression', 'list', ...own), {
    suppressions: [{ address: 'joe.doe@example.com', reason: 'complaint', message_id: null, created_at: TIME }],
  });
  t.match(await json('suppression', 'list', '--platform'), { suppressions: [] }, 'lists are apart');
  t.match(await json('suppression', 'add', '--platform', ...address, '--reason', 'manual'), { added: true });
  t.match(await json('suppression', 'list', '--platform'), {
    suppressions: [
      { address: 'joe.doe@example.com', reason: 'hard_bounce', rule: 'operator: manual', expires_at: TIME },
    ],
  });
  t.match(await json('suppression', 'remove', ...own, ...address), { removed: true });
  t.match(await run('suppression', 'list', ...own), { code: 0, stdout: 'The list is empty.\n' });
});

t.test('address explain', async (t) => {
  const explain = async (...address: string[]) => {
    const { code, stdout } = await runInThisProcess(['address', 'explain', '--json', ...address]);
    t.equal(code, 0);
    return JSON.parse(stdout);
  };
  t.match(await explain('joe@example.com'), { syntax_ok: true, form: 'dot-string', accepted: true, reason: null });
  const number = { syntax_ok: true, accepted: false, reason: /ends in a number/ };
  t.match(await explain('user@127.0.0.1'), number);
  t.match(await explain('"a b"@example.com'), { syntax_ok: true, form: 'quoted', accepted: true });
  t.match(await explain('joe@[192.0.2.1]'), { syntax_ok: true, accepted: false, reason: /IP address/ });
  t.match(await explain('a..b@example.com'), { syntax_ok: false, form: null, accepted: false, reason: /dot/ });
  t.match(await explain(''), { syntax_ok: false, accepted: false, reason: /empty/ });
  t.match(await explain('--', '-x@example.com'), { syntax_ok: true }, 'behind -- nothing is an option');
});

t.test('address explain says whether the address is suppressed', async (t) => {
  const { json, runHere, remove, dataDir } = newProgram();
  t.teardown(remove);
  const explain = ['address', 'explain', 'Joe@Example.com'];
  t.match(await runHere(...explain), {
    code: 0,
    stdout: `suppressed: unknown: there is no database in ${dataDir}. `,
  });
  t.match(await runHere(...explain, '--tenant', STRANGER), { code: 1, stderr: /there is no database in/ });
  const { id: tenant } = (await json('tenant', 'create', '--name', 'Acme')) as { id: string };
  const of = ['--tenant', tenant];
  t.match(await runHere(...explain), {
    stdout: /accepted: +yes\n.*\nsuppressed: no; add --tenant to check a tenant's own list\n$/,
  });
  t.match(await runHere(...explain, ...of), { stdout: /suppressed: no\n$/ });
  t.match(await runHere(...explain, '--tenant', STRANGER), { code: 1, stderr: /there is no tenant/ });
  await json('suppression', 'add', ...of, '--address', 'joe@example.com', '--reason', 'complaint');
  await json('suppression', 'add', '--platform', '--address', 'joe@example.com');
  t.match(await json(...explain, ...of), {
    accepted: true,
    suppressed: { platform: { rule: 'operator: manual', expires_at: TIME }, tenant: { reason: 'complaint' } },
  });
  t.match(
    (await runHere(...explain, ...of)).stdout,
    /on the tenant's list since \S+ \(complaint\), and on the platform/,
  );
  t.match((await runHere(...explain)).stdout, /suppressed: on the platform's list until \S+ \(operator: manual\)\n$/);
  t.notMatch((await runHere('address', 'explain', 'joe@localhost')).stdout, /suppressed/);
});

t.test('backup, restore and migrate', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { run, json } = program;
  const copy = path.join(program.folder, 'copy.db');
  t.match(await run('backup', copy), { code: 1, stderr: /there is no database/ });
  t.same(await json('migrate'), { from: 0, to: (await json('migrate')).to });
  await json('tenant', 'create', '--name', 'kept');
  t.match(await json('backup', copy), { file: copy, bytes: fs.statSync(copy).size });
  t.equal(fs.statSync(copy).mode & 0o777, 0o600);
  t.match(await run('backup', copy), { code: 1, stderr: /already exists/ });
  await json('tenant', 'create', '--name', 'lost');
  t.match(await run('restore', copy), { code: 1, stderr: /--force/ });
  const lock = lockDataFolder(program.dataDir);
  t.match(await run('restore', copy, '--force'), { code: 1, stderr: /another Postrider process uses/ });
  lock.release();
  t.match(await run('restore', copy, '--force'), { code: 0, stdout: /restored/ });
  const { tenants } = (await json('tenant', 'list')) as { tenants: { name: string }[] };
  t.same(
    tenants.map(({ name }) => name),
    ['kept'],
  );
});

t.test('a data folder that another process holds is not written to', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const lock = lockDataFolder(program.dataDir);
  t.match(await program.run('tenant', 'create', '--name', 'x'), {
    code: 1,
    stderr: new RegExp(`another Postrider process uses ${program.dataDir}`),
  });
  lock.release();
});

t.test('commands at the same time wait for each other', async (t) => {
  const { run, json, remove } = newProgram();
  t.teardown(remove);
  const made = await Promise.all(['a', 'b', 'c'].map((name) => run('tenant', 'create', '--name', name)));
  for (const { code, stderr } of made) t.equal(code, 0, stderr);
  const { tenants } = (await json('tenant', 'list')) as { tenants: { name: string }[] };
  t.same(tenants.map(({ name }) => name).sort(), ['a', 'b', 'c']);
});

t.test('configuration', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { warnings, ...checked } = await program.json('config', 'check');
  t.same(checked, { ok: true, file: program.configFile });
  t.notMatch(String(warnings), /data\.dir/);
  fs.writeFileSync(program.configFile, '[data]\ndir = "no/such/data"\n');
  t.match(await program.runHere('config', 'check'), {
    stdout:
      /OK\.\n[\s\S]*Warning: data\.dir: \S+\/no\/such\/data does not exist, and neither does \S+\/no\/such; serve creates both\n$/,
  });
  fs.writeFileSync(program.configFile, '[data]\ndir = "postrider.toml"\n');
  t.match(await program.runHere('config', 'check'), {
    code: 1,
    stdout: '',
    stderr: /data\.dir: \S+ is not a folder\n$/,
  });
  fs.writeFileSync(program.configFile, '[data]\ndir = "data"\n');
  t.match(await program.json('config', 'print'), { data: { dir: program.dataDir }, stop: { grace: '25s' } });
  t.match(await program.run('config', 'print'), { code: 0, stdout: /^\[data\]$/m });
  fs.writeFileSync(program.configFile, '[http]\nprot = 1\nport = "x"\n');
  for (const command of [['config', 'check'], ['serve'], ['tenant', 'list']]) {
    const { code, stdout, stderr } = await program.runHere(...command);
    t.equal(code, 1, command.join(' '));
    t.match(stderr, /http\.prot[\s\S]*http\.port/, 'every problem at once');
    t.equal(stdout, '');
  }
  t.match(await runProgram(['config', 'check', '--config', '/nowhere.toml']), {
    code: 1,
    stderr: 'postrider config check: configuration file /nowhere.toml: cannot be read: no such file or folder\n',
  });
});

t.test('config check warns of a master key that others can read, as serve does', async (t) => {
  const { dataDir, folder, configFile, runHere, json, remove } = newProgram();
  t.teardown(remove);
  const key = Buffer.alloc(32, 7).toString('base64');
  fs.mkdirSync(dataDir);
  const [made, named] = [path.join(dataDir, 'master.key'), path.join(folder, 'named.key')];
  for (const file of [made, named]) fs.writeFileSync(file, key, { mode: 0o600 });
  const said = async () => String((await json('config', 'check')).warnings);
  t.notMatch(await said(), /master key/);
  fs.chmodSync(made, 0o644);
  const warning = `Warning: the master key in ${made} can be read by every user of this machine: chmod 600 ${made}\n`;
  const { code, stdout } = await runHere('config', 'check');
  t.equal(code, 0);
  t.ok(stdout.endsWith(warning), stdout);
  fs.writeFileSync(configFile, '[data]\ndir = "data"\n[secrets]\nmaster_key_file = "named.key"\n');
  t.notMatch(await said(), /master key/, 'the file in use is another one');
  fs.chmodSync(named, 0o640);
  t.match(await said(), `the master key in ${named} can be read by its group`);
  fs.writeFileSync(configFile, `[data]\ndir = "data"\n[secrets]\nmaster_key = "${key}"\n`);
  t.notMatch(await said(), /master key/, 'no file is in use');
});

t.test('problems of the configuration name the file', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { configFile } = program;
  const check = async (toml: string, env: Record<string, string> = {}) => {
    fs.writeFileSync(configFile, toml);
    const { code, stderr } = await runInThisProcess(['config', 'check', '--config', configFile], env);
    t.equal(code, 1);
    return stderr.replace('postrider config check: ', '').trimEnd();
  };
  t.equal(await check('[http]\nprot = 1\n'), `${configFile}: http.prot: unknown key; did you mean http.port?`);
  t.match(await check('[http]\nprot = 1\nport = "x"\n'), `2 problems in ${configFile}:\nhttp.prot: unknown key`);
  const env = { POSTRIDER_HTTP_PORT: 'x' };
  t.match(await check('[http]\nprot = 1\n', env), `2 problems in ${configFile} and the environment:\nhttp.prot`);
  t.match(await check('', env), /^http\.port \(from POSTRIDER_HTTP_PORT\): must be/);
  t.match(await check('[http\n'), new RegExp(`^${configFile}:1:6: not valid TOML`));
});
