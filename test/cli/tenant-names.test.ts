// Every command that takes a tenant takes it by its name, its ID or the beginning of the ID.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/registry.ts';
import { newProgram } from '../support/program.ts';

t.test('no command asks for the ID of a tenant', async (t) => {
  const commands = await loadCommands(COMMAND_NAMES);
  const all = commands.flatMap(({ name, options }) =>
    Object.entries(options).map(([key, option]) => ({ name, key, option })),
  );
  // Set-up is told the name of a tenant that it creates.
  const others = all.filter(({ name }) => name !== 'setup');
  const ofTenants = others.filter(({ name, key }) => key === 'tenant' || (key === 'id' && name.startsWith('tenant ')));
  t.ok(ofTenants.length > 15, `${ofTenants.length} of them`);
  for (const { name, key, option } of ofTenants) t.ok(option.isTenant, `${name} ${key}`);
});

t.test('by name, by the beginning of the ID, and never by a guess', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { json, runHere } = program;
  const { id } = await json('tenant', 'create', '--name', 'Acme & Co');
  const file = path.join(program.folder, 'list.csv');
  fs.writeFileSync(file, 'address\nb@example.com\n');
  const calls = [
    ['key', 'create', '--name', 'k', '--scopes', 'emails:send'],
    ['key', 'list'],
    ['user', 'create', '--email', 'joe@example.com'],
    ['domain', 'list'],
    ['webhook', 'list'],
    ['queue', 'list'],
    ['queue', 'pause', '--reason', 'a test'],
    ['queue', 'resume'],
    ['suppression', 'add', '--address', 'a@example.com'],
    ['suppression', 'import', file],
  ];
  for (const call of calls) {
    const { code, stderr } = await runHere(...call, '--tenant', 'Acme & Co');
    t.equal(code, 0, `${call.join(' ')}: ${stderr}`);
  }
  const { suppressions } = await json('suppression', 'list', '--tenant', String(id).slice(0, 13));
  t.match(suppressions, [{ address: 'a@example.com' }, { address: 'b@example.com' }]);
  t.match(await json('tenant', 'set', 'Acme & Co', '--status', 'active'), { id, status: 'active' });
  const explain = ['address', 'explain', 'a@example.com', '--tenant'];
  t.match(await json(...explain, 'Acme & Co'), { suppressed: { tenant: { reason: 'manual' } } });

  const other = await json('tenant', 'create', '--name', 'Acme & Co');
  const both = new RegExp(
    `"Acme & Co" stands for 2 tenants: ${id} \\(Acme & Co, active\\), ${other.id} \\(Acme & Co, in_review\\)`,
  );
  t.match(await runHere('tenant', 'set', 'Acme & Co', '--status', 'suspended'), { code: 1, stdout: '', stderr: both });
  t.match(await runHere(...explain, 'Acme & Co'), { code: 1, stdout: '', stderr: both });
  t.match(await json('tenant', 'show', String(id)), { status: 'active' });
  const unknown = await runHere('suppression', 'import', file, '--tenant', 'Acme');
  t.match(unknown, { code: 1, stderr: 'postrider suppression import: there is no tenant "Acme": ' });
});
