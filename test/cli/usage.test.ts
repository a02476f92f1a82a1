// Every wrong use of the command line from outside: exit code 2, the argument named, nothing on
// standard output, the command's usage on standard error.
import t from 'tap';
import { COMMAND_NAMES, findCommand, loadDaemonCommands } from '../../src/cli/registry.ts';
import type { OperatorServices } from '../../src/operator/operator-services.ts';
import { runInThisProcess, runProgram } from '../support/program.ts';

const ID = '01a1fa75-69d8-7000-b301-908cb7826839';

const WRONG: [args: string, says: RegExp][] = [
  ['', /a command is missing/],
  ['--frobnicate', /unknown option --frobnicate/],
  ['--config', /^postrider: --config needs a value: FILE$/],
  ['--config x.toml', /^postrider: a command is missing$/],
  ['--config=x.toml --json', /^postrider: a command is missing$/],
  ['-v', /unknown option -v \(did you mean --version\?\)/],
  ['-V', /unknown option -V \(did you mean --version\?\)/],
  ['--jsno', /unknown option --jsno \(did you mean --json\?\)/],
  ['frobnicate', /unknown command "frobnicate"$/],
  ['version', /unknown command "version" \(did you mean --version\?\)/],
  ['queu', /unknown command "queu" \(did you mean queue\?\)/],
  ['suppresion fetch', /unknown command "suppresion fetch" \(did you mean suppression\?\)/],
  ['tenant', /"tenant" needs a subcommand/],
  ['tenant creat', /unknown command "tenant creat" \(did you mean tenant create\?\)/],
  ['tenant frobnicate', /^postrider: unknown command "tenant frobnicate": tenant has create, list, show, set$/],
  ['nodes foo', /^postrider: unknown command "nodes foo": nodes has list, drain, resume, forget$/],
  ['nodes lits', /unknown command "nodes lits" \(did you mean nodes list\?\)/],
  ['help frobnicate', /unknown command "frobnicate"/],
  ['tenant create', /--name is missing/],
  ['tenant create --name', /--name needs a value/],
  ['tenant create --name --json', /--name needs a value/],
  ['tenant create --name=', /--name: must not be empty/],
  ['tenant create --name A --name B', /--name is given twice/],
  ['tenant create --name A --statsu active', /unknown option --statsu \(did you mean --status\?\)/],
  ['tenant create --name A --status asleep', /--status: "asleep" must be one of pending_verification/],
  ['tenant create --name A extra', /unexpected argument "extra": quote values that contain spaces$/],
  ['tenant create --name A --json extra', /unexpected argument "extra"$/],
  ['bounce reply 550 5.1.1 User unknown', /unexpected argument "5\.1\.1": quote values that contain spaces$/],
  ['queue list list', /unexpected argument "list"$/],
  ['tenant create --name A -x', /unknown option -x/],
  ['tenant list --json=yes', /--json takes no value/],
  ['tenant list --config', /--config needs a value/],
  ['tenant set --status active', /TENANT is missing/],
  ['tenant show a\u0007b', /TENANT: must not have control characters/],
  [`tenant set ${ID}`, /nothing to change: give at least one option/],
  [`tenant set ${ID} --tier 2k`, /--tier: "2k" must be one of 1k, 10k, uncapped, auto/],
  [`tenant set ${ID} --unsubscribe yes`, /--unsubscribe: "yes" must be on or off/],
  [`key create --tenant ${ID} --name k`, /--scopes is missing/],
  [`key create --tenant ${ID} --name k --scopes emails:send,all`, /--scopes: "all" must be one of emails:send/],
  [`key create --tenant ${ID} --name k --scopes emails:send --domain a..b`, /--domain: "a..b" is not a domain name/],
  ['key revoke pr_short', /KEY: "pr_short" is not a key ID or the public part/],
  ['user create --email a@example.com', /exactly one of --tenant and --operator/],
  [`user create --tenant ${ID} --operator --email a@example.com`, /exactly one of --tenant and --operator/],
  [`user create --tenant ${ID} --email nobody`, /--email: "nobody" is not a usable address/],
  ['user create --operator --email a@example.com --role owner', /--role needs --tenant/],
  [`user create --tenant ${ID} --email a@example.com --role operator`, /--role: "operator" must be one of owner/],
  ['suppression add --address a@example.com', /exactly one of --tenant and --platform/],
  [
    'suppression add --platform --address a@example.com --reason because',
    /--reason: "because" must be one of hard_bounce/,
  ],
  ['suppression remove --platform --address nobody', /--address: "nobody" is not an email address/],
  ['queue list --limit 0', /--limit: "0" must be an integer from 1 to/],
  ['queue list --limit 1e3', /--limit: "1e3" must be an integer/],
  ['queue cancel', /ID is missing/],
  ['queue move', /ID is missing/],
  [`queue move ${ID}`, /--to is missing/],
  [`queue move ${ID} --to tomorrow`, /--to: "tomorrow" is not a time/],
  [`queue move ${ID} --to 2027-02-29`, /--to: "2027-02-29" is not a time/],
  [`queue move ${ID} --to 2026-11-31T12:00:00+02:00`, /--to: "2026-11-31T12:00:00\+02:00" is not a time/],
  ['address explain', /ADDRESS is missing/],
  ['address explain a@example.com b@example.com', /unexpected argument "b@example.com"/],
  ['backup', /FILE is missing/],
  ['upgrade', /--check is missing/],
  [`tenant create --name ${'x'.repeat(201)}`, /--name: must have at most 200 characters/],
  ['tenant create --name a\u0007b', /--name: must not have control characters/],
  [`key create --tenant ${ID} --scopes emails:send --name ${'x'.repeat(201)}`, /--name: must have at most 200/],
];

t.test('the registry finds every command under its own name, and nothing else', async (t) => {
  for (const name of COMMAND_NAMES) t.equal((await findCommand(name))?.name, name);
  for (const name of ['toString', 'constructor', '__proto__', 'queue']) t.equal(await findCommand(name), null, name);
  const run = await loadDaemonCommands();
  // Wrong usage is answered before any service is asked for.
  const ask = (command: string) => run({ command, options: { nonsense: true } }, {} as OperatorServices);
  for (const name of ['queue list', 'suppression import rows']) t.match(await ask(name), { kind: 'wrong_usage' }, name);
  t.equal(ask('backup'), null, 'what runs where it is typed is not for the control socket');
});

t.test('wrong usage', async (t) => {
  for (const [line, says] of WRONG) {
    t.test(line || '(nothing)', async (t) => {
      const { code, stdout, stderr } = await runInThisProcess(line === '' ? [] : line.split(' '));
      t.equal(code, 2);
      t.match(stderr.split('\n')[0], says);
      t.match(stderr, stderr.includes('unknown command') ? /\n\npostrider help( \w+)? lists/ : /^Usage: postrider /m);
      t.equal(stdout, '');
    });
  }
});

t.test("the usage that is printed is the command's own, and so for the program in its own process", async (t) => {
  const { code, stdout, stderr } = await runProgram(['key', 'create']);
  t.equal(code, 2);
  t.equal(stdout, '');
  t.match(
    stderr,
    /^postrider: --tenant is missing\n\nUsage: postrider key create --tenant TENANT --name NAME --scopes SCOPES/,
  );
});

t.test('an unknown command does not hide behind the list of all', async (t) => {
  t.match(await runInThisProcess(['queue', 'lits']), {
    code: 2,
    stderr:
      'postrider: unknown command "queue lits" (did you mean queue list?)\n\npostrider help queue lists the commands.\n',
  });
  t.match(await runInThisProcess(['frobnicate', 'now']), {
    stderr: 'postrider: unknown command "frobnicate now"\n\npostrider help lists the commands.\n',
  });
  const { stderr } = await runInThisProcess(['suppression']);
  t.match(stderr, /"suppression" needs a subcommand[\s\S]*suppression import/, 'a group is short enough');
});

t.test('help and version', async (t) => {
  const all = await runInThisProcess(['help']);
  t.equal(all.code, 0);
  t.equal(all.stderr, '');
  for (const name of COMMAND_NAMES) t.match(all.stdout, new RegExp(`^  ${name} {2,}\\S`, 'm'), name);
  t.same(await runInThisProcess(['--help']), all);
  t.same(await runInThisProcess(['help', 'help']), all);
  t.same(await runInThisProcess(['--json', '--help']), all);
  t.same(await runInThisProcess(['-h']), all);
  const one = await runInThisProcess(['help', 'tenant', 'set']);
  t.match(one.stdout, /^Usage: postrider tenant set TENANT \[--name NAME\]/);
  t.same(await runInThisProcess(['tenant', 'set', '--help']), one, 'wherever it is asked');
  t.match(one.stdout, '/etc/postrider/postrider.toml');
  const sandbox = await runInThisProcess(['help', 'sandbox']);
  t.match(sandbox.stdout, /--config FILE +configuration file that overrides the sandbox's defaults/);
  t.match(sandbox.stdout, /--data DIR .*POSTRIDER_DATA_DIR/);
  t.notMatch(sandbox.stdout, '/etc', 'it does not read that file');
  const group = await runInThisProcess(['help', 'tenant']);
  t.match(group.stdout, /tenant create[\s\S]*tenant list[\s\S]*tenant set/);
  t.notMatch(group.stdout, /key create/);
  t.same(await runInThisProcess(['tenant', 'help']), group);
  t.same(await runInThisProcess(['tenant', 'help', '--config', 'x.toml']), group);
  t.same(await runInThisProcess(['help', '--config', 'x.toml', 'tenant', 'set']), one);
  t.match(await runProgram(['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
});
