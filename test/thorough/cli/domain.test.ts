// domain add, records and verify: an operator manages a tenant's domains, beside a daemon and without one.
import fs from 'node:fs';
import t, { type Test } from 'tap';
import { install, type Json } from '../../support/daemon-process.ts';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.ts';
import { newProgram } from '../../support/program.ts';

interface ShownRecord {
  name: string;
  value: string;
  required: boolean;
}

async function zone(t: Test): Promise<TestDnsServer> {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  dns.addZone('acme.test');
  return dns;
}

const stated = (answer: Json) =>
  (answer.checks as { record: string; state: string }[]).map(({ record, state }) => [record, state]);

t.test('beside a daemon: registered, published, verified, and then mail may be sent from it', async (t) => {
  const dns = await zone(t);
  const postrider = install(t, { dns, smtpPort: 1 });
  const daemon = await postrider.serve();
  const { id: tenantId } = await postrider.json('tenant', 'create', '--name', 'Acme', '--status', 'active');
  const added = await postrider.json('domain', 'add', 'ACME.test', '--tenant', 'Acme', '--selector', 'mail');
  t.match(added, { domain: 'acme.test', state: 'pending', dkim_selector: 'mail', records: { length: 3 } });
  const records = added.records as ShownRecord[];
  const { key } = await postrider.json('key', 'create', '--tenant', 'Acme', '--name', 'k', '--scopes', 'emails:send');
  const { body } = await daemon.call(String(key), `GET /domains/${added.id}`);
  t.same(body.records, records, 'the same as a tenant sees');

  const early = await postrider.run('domain', 'verify', 'acme.test');
  t.equal(early.code, 1, 'not verified is a failure');
  t.match(early.stdout, /^missing {2}DKIM: Publish the DKIM record/m);
  t.match(early.stdout, /^acme\.test is not verified\.$/m);

  for (const { name, value } of records.filter(({ required }) => required)) dns.set(name, 'TXT', [value]);
  const found = await postrider.json('domain', 'verify', 'acme.test');
  t.match(found, { state: 'verified', failure_reason: null });
  t.same(stated(found), [
    ['dkim', 'right'],
    ['spf', 'missing'],
    ['dmarc', 'missing'],
  ]);
  const mail = { from: 'a@acme.test', to: 'b@receiver.test', subject: 'x', text: 'x' };
  t.match(await daemon.call(String(key), 'POST /emails', { body: mail }), { status: 202 });
  t.match(await postrider.json('domain', 'list', '--tenant', String(tenantId)), { domains: [{ state: 'verified' }] });
  t.same((await postrider.json('domain', 'records', 'acme.test')).records, records);
  t.match(await postrider.runHere('domain', 'add', 'acme.test', '--tenant', 'Acme'), {
    code: 1,
    stderr: /already registered/,
  });
});

t.test('without a daemon: the first secret makes the key, and says so; the next start finds all', async (t) => {
  const dns = await zone(t);
  const program = newProgram();
  t.teardown(program.remove);
  fs.appendFileSync(
    program.configFile,
    `[service]\nbase_url = "https://mail.service.test"\n[dns]\nservers = ["${dns.endpoint}"]\nauthority_port = ${dns.port}\nallow_private = true\n`,
  );
  await program.json('tenant', 'create', '--name', 'Acme');
  const { code, stdout, stderr } = await program.run('domain', 'add', 'acme.test', '--tenant', 'Acme');
  t.equal(code, 0, stderr);
  t.match(stdout, /^value: +v=DKIM1; k=rsa; p=MII/m);
  t.match(stdout, /postrider domain verify acme\.test\n$/);
  t.match(stderr, /^postrider domain add: created a master key in .*keep a copy/);
  const { records } = (await program.json('domain', 'records', 'acme.test')) as unknown as { records: ShownRecord[] };
  for (const { name, value } of records) dns.set(name, 'TXT', [value]);
  t.match(await program.run('domain', 'verify', 'acme.test'), {
    code: 0,
    stdout: /^right {4}SPF: .*[\s\S]*acme\.test is verified\.\n$/m,
  });

  await program.json('tenant', 'create', '--name', 'Other');
  t.match(await program.runHere('domain', 'add', 'free.test', '--tenant', 'Acme'), { code: 0, stderr: '' });
  t.match(await program.runHere('domain', 'add', 'free.test', '--tenant', 'Other'), { code: 0 });
  const both =
    /free\.test belongs to 2 tenants: \S+ \(Acme, pending\), \S+ \(Other, pending\)\. Give one with --tenant/;
  t.match(await program.runHere('domain', 'records', 'free.test'), { code: 1, stdout: '', stderr: both });
  t.match(await program.json('domain', 'records', 'free.test', '--tenant', 'Other'), { domain: 'free.test' });
  const refusals: [string[], RegExp][] = [
    [['verify', 'gone.test'], /no tenant has the domain gone\.test; postrider domain add gone\.test --tenant TENANT/],
    [['records', 'acme.test', '--tenant', 'Other'], /the tenant does not have the domain acme\.test/],
    [['add', 'bounces.mail.service.test', '--tenant', 'Acme'], /belongs to this service itself/],
    [['add', 'new.test', '--tenant', 'Nobody'], /there is no tenant "Nobody"/],
    [['add', 'new.test', '--tenant', 'Acme', '--selector', 'a_b'], /selector: /],
  ];
  for (const [args, says] of refusals) {
    t.match(await program.runHere('domain', ...args), { code: 1, stdout: '', stderr: says }, args.join(' '));
  }
});
