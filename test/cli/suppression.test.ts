// suppression import and export, and what remove says, with no daemon running.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { runInThisProcess } from '../support/program.ts';

async function installation(t: Test) {
  // Directly below the system's temporary folder: a socket's name may not be long.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-cli-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.writeFileSync(path.join(folder, 'postrider.toml'), '[data]\ndir = "data"\n');
  const run = (...args: string[]) => runInThisProcess([...args, '--config', path.join(folder, 'postrider.toml')]);
  const { stdout } = await run('tenant', 'create', '--name', 'Acme', '--json');
  const write = (name: string, text: string | Buffer) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
  };
  return { run, write, tenant: String(JSON.parse(stdout).id) };
}

t.test('what was exported can be imported by another tenant', async (t) => {
  const { run, write, tenant } = await installation(t);
  const many = Array.from(
    { length: 1500 },
    (_, index) => `user${String(index).padStart(4, '0')}@x.test,complaint,2026-01-01`,
  );
  const file = write('list.csv', `address,reason,created_at\n${many.join('\n')}\n`);
  t.match(await run('suppression', 'import', file, '--tenant', tenant), {
    code: 0,
    stdout: '1500 addresses added, 0 already on the list, 0 lines skipped.\n',
  });
  t.match(
    (await run('suppression', 'import', file, '--tenant', tenant)).stdout,
    '0 addresses added, 1500 already on the list',
  );
  const { stdout: csv } = await run('suppression', 'export', '--tenant', tenant);
  const lines = csv.trimEnd().split(/\r?\n/);
  t.equal(lines.length, 1501);
  t.same(lines.slice(0, 2), [
    'address,reason,created_at,message_id',
    'user0000@x.test,complaint,2026-01-01T00:00:00.000Z,',
  ]);

  const { stdout } = await run('tenant', 'create', '--name', 'Other', '--json');
  const other = String(JSON.parse(stdout).id);
  await run('suppression', 'import', write('copy.csv', csv), '--tenant', other);
  t.equal((await run('suppression', 'export', '--tenant', other)).stdout, csv);
  const after = await run('suppression', 'export', '--tenant', tenant, '--after', 'user1498@x.test');
  t.match(after.stdout, /^address,reason,created_at,message_id\r?\nuser1499@x\.test,complaint,/);
  const found = await run('suppression', 'list', '--tenant', tenant, '--search', 'user149', '--json');
  t.equal(JSON.parse(found.stdout).suppressions.length, 10);
  t.equal(JSON.parse(found.stdout).next, null);
  const first = await run('suppression', 'list', '--tenant', tenant, '--json');
  const { suppressions, next } = JSON.parse(first.stdout);
  t.equal(suppressions.length, 1000, 'a list that is cut');
  t.equal(next, 'user0999@x.test', 'says where it goes on');
  t.match(
    (await run('suppression', 'list', '--tenant', tenant, '--limit', '2')).stdout,
    /\nMore: --after user0001@x\.test\n$/,
  );
});

t.test('an export of another service', async (t) => {
  const { run, write, tenant } = await installation(t);
  const file = write(
    'postmark.csv',
    'Recipient,SuppressionReason,Origin,CreatedAt\na@x.test,HardBounce,x,2024-01-01\n',
  );
  t.match(await run('suppression', 'import', file, '--tenant', tenant), {
    code: 0,
    stdout: '1 address added, 0 already on the list, 0 lines skipped. Ignored columns: Origin.\n',
  });
  t.match(
    (await run('suppression', 'export', '--tenant', tenant)).stdout,
    'a@x.test,hard_bounce,2024-01-01T00:00:00.000Z,',
  );
  const { stdout } = await run('suppression', 'import', file, '--tenant', tenant, '--json');
  t.same(JSON.parse(stdout), { addresses: 1, added: 0, known: 1, skipped: 0, ignored_columns: ['Origin'] });
});

t.test('a file with lines that cannot be used', async (t) => {
  const { run, write, tenant } = await installation(t);
  const file = write('bad.csv', 'address\na@x.test\nnonsense\n');
  const refused = await run('suppression', 'import', file, '--tenant', tenant);
  t.match(refused, {
    code: 1,
    stderr: /nothing was imported: .* has 1 invalid line:\nline 3: "nonsense" is not an email address/,
  });
  const taken = await run(
    'suppression',
    'import',
    file,
    '--tenant',
    tenant,
    '--skip-invalid',
    '--reason',
    'unsubscribe',
  );
  t.match(taken, { code: 0, stdout: '1 address added, 0 already on the list, 1 line skipped.\n' });
  t.match((await run('suppression', 'import', '/nowhere', '--tenant', tenant)).stderr, '/nowhere cannot be read');
  const unknown = tenant.replace(/^./, 'f');
  t.match(
    (await run('suppression', 'import', file, '--tenant', unknown, '--skip-invalid')).stderr,
    'there is no tenant',
  );
});

t.test('removing', async (t) => {
  const { run, tenant } = await installation(t);
  for (const scope of [['--tenant', tenant], ['--platform']]) {
    await run('suppression', 'add', ...scope, '--address', 'gone@x.test');
  }
  const removed = await run('suppression', 'remove', '--tenant', tenant, '--address', 'gone@x.test');
  t.match(
    removed.stdout,
    /^gone@x\.test is no longer on this list\. Mail to it is still suppressed: it is on the platform's list until 20/,
  );
  const again = await run('suppression', 'remove', '--tenant', tenant, '--address', 'gone@x.test');
  t.match(again, { code: 1, stderr: /is not on this list; it is on the platform's list until/ });
  const fromPlatform = await run('suppression', 'remove', '--platform', '--address', 'gone@x.test');
  t.match(fromPlatform.stdout, 'gone@x.test is no longer on this list.');
  for (const wrong of [
    [],
    ['--since', '2026-01-01'],
    ['--since', 'yesterday', '--group', 'mx'],
    ['--address', 'a@x.test'],
    ['--rule', 'route-5.1.2'],
    ['--since', '2026-01-01', '--rule', 'r', '--group', 'mx'],
    ['--since', '2026-01-01', '--rule', 'r', '--address', 'a@x.test'],
    ['--since', '2026-01-01', '--rule', 'two\nlines'],
    ['--since', '2026-01-01', '--rule', 'r', '--platform', '--tenant', tenant],
    ['--since', '2026-01-01', '--group', 'mx', '--tenant', tenant],
  ]) {
    t.equal((await run('suppression', 'remove', ...wrong)).code, 2, wrong.join(' '));
  }
});

t.test('what a rule has decided is undone by rule and time', async (t) => {
  const { run, tenant } = await installation(t);
  for (const address of ['a@x.test', 'b@x.test']) await run('suppression', 'add', '--platform', '--address', address);
  const undo = ['suppression', 'remove', '--since', '2026-01-01', '--rule', 'operator:*'];
  const ofTenant = await run(...undo, '--tenant', tenant);
  t.match(ofTenant, {
    code: 0,
    stdout: /^Removed 0 entries from the platform's list and 0 from tenants' lists: all by rule/,
  });
  const stranger = await run(...undo, '--tenant', tenant.replace(/^./, 'f'));
  t.match(stranger, { code: 1, stderr: /there is no tenant/ });
  t.match(await run('suppression', 'remove', '--since', '2999-01-01', '--rule', 'operator:*'), {
    stdout: /^Removed 0/,
  });
  const undone = JSON.parse((await run(...undo, '--platform', '--json')).stdout);
  t.match(undone, { kind: 'undone_rule', rule: 'operator:*', platform: 2, tenants: 0 });
  t.match(await run('suppression', 'list', '--platform'), { stdout: 'The list is empty.\n' });
});

t.test('a rule is undone by its name as the list shows it', async (t) => {
  const { run } = await installation(t);
  await run('suppression', 'add', '--platform', '--address', 'a@x.test');
  const listed = JSON.parse((await run('suppression', 'list', '--platform', '--json')).stdout);
  const { rule } = listed.suppressions[0];
  const undone = await run('suppression', 'remove', '--since', '2026-01-01', '--platform', '--rule', rule, '--json');
  t.match(JSON.parse(undone.stdout), { rule: 'operator: manual', platform: 1 });
});

t.test('a rule that does not exist is said, with the one that was meant', async (t) => {
  const { run } = await installation(t);
  const undo = (rule: string, ...more: string[]) =>
    run('suppression', 'remove', '--since', '2026-01-01', '--rule', rule, ...more);
  t.match(await undo('nosuchrule'), {
    code: 0,
    stdout: 'There is no rule nosuchrule. No entry was removed. postrider suppression list shows the rules.\n',
  });
  t.match(
    (await undo('google-no-such-uesr')).stdout,
    /^There is no rule \S+ \(did you mean google-no-such-user\?\)\. /,
  );
  const told = JSON.parse((await undo('google-no-such-uesr', '--json')).stdout);
  t.match(told, { rule_known: false, did_you_mean: 'google-no-such-user', platform: 0, tenants: 0 });
  for (const rule of ['google-no-such-user', 'google-*', 'route-*', 'route-5.1.10', 'report']) {
    t.match(
      (await undo(rule)).stdout,
      `Removed 0 entries from the platform's list and 0 from tenants' lists: all by rule ${rule}.`,
    );
  }
  t.match((await undo('nosuch-*')).stdout, 'There is no rule nosuch-*.');
});

t.test('a file that is not UTF-8 is not imported, whatever is to be left out', async (t) => {
  const { run, write, tenant } = await installation(t);
  const file = write('latin1.csv', Buffer.from('address\njörg@x.test\nann@x.test\n', 'latin1'));
  for (const more of [[], ['--skip-invalid']]) {
    t.match(await run('suppression', 'import', file, '--tenant', tenant, ...more), {
      code: 1,
      stderr:
        /nothing was imported: \S+latin1\.csv is not UTF-8 text\. Save it as CSV in UTF-8 and import it again\.\n$/,
    });
  }
  t.match((await run('suppression', 'list', '--tenant', tenant)).stdout, 'The list is empty.');
  const marked = write('marked.csv', '\ufeffaddress\njörg@x.test\n');
  t.match(await run('suppression', 'import', marked, '--tenant', tenant), { code: 0, stdout: /^1 address added/ });
});

t.test('an address is searched in any spelling', async (t) => {
  const { run, tenant } = await installation(t);
  for (const list of [['--tenant', tenant], ['--platform']]) {
    await run('suppression', 'add', ...list, '--address', 'Ann@bücher.example');
    for (const search of ['ann@BÜCHER.example', 'ann@xn--bcher', 'AN']) {
      const { stdout } = await run('suppression', 'list', ...list, '--search', search);
      t.match(stdout, 'ann@xn--bcher-kva.example', search);
    }
  }
});

t.test('a quote that is not closed ends the import, whatever is to be left out', async (t) => {
  const { run, write, tenant } = await installation(t);
  const file = write('open.csv', 'address,reason\na@x.test,\n"b@x.test,\nc@x.test,\n');
  for (const more of [[], ['--skip-invalid']]) {
    t.match(await run('suppression', 'import', file, '--tenant', tenant, ...more), {
      code: 1,
      stderr: /nothing was imported: \S+open\.csv can't be read: line 3: the quote opened here is never closed\n$/,
    });
  }
  t.match(await run('suppression', 'list', '--tenant', tenant), { stdout: 'The list is empty.\n' });
});

t.test('a tenant, a message or a group that is not there is said', async (t) => {
  const { run, write, tenant } = await installation(t);
  const stranger = '01a1fa75-69d8-7000-b301-908cb7826839';
  const empty = write('empty.csv', 'address\n');
  t.match(await run('suppression', 'import', empty, '--tenant', stranger), {
    code: 1,
    stdout: '',
    stderr: `postrider suppression import: there is no tenant ${stranger}\n`,
  });
  t.match(await run('suppression', 'import', empty, '--tenant', tenant), { code: 0, stdout: /^0 addresses added/ });
  t.match(await run('inbound', 'list', '--message', stranger), { code: 1, stderr: /there is no message 01a1fa75/ });
  const undo = ['suppression', 'remove', '--since', '2026-01-01', '--group'];
  t.match(await run(...undo, 'mx.nowhere.example'), {
    code: 0,
    stdout: /^No MX group mx\.nowhere\.example is known, and no entry was removed\./,
  });
  t.match(await run(...undo, 'google'), {
    code: 0,
    stdout: /^Removed 0 entries from the platform's list and 0 from tenants' lists: all caused by google/,
  });
});
