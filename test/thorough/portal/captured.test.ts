// Captured mail in the portal of the sandbox: the printed login sees all of it and reads it, another tenant
// sees its own alone, operators see all. Beside a sandbox there are no such pages.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { HOSTILE } from '../../portal/hostile-world.ts';
import { type Login, PortalVisitor, startPortal } from '../../support/portal.ts';
import { runInThisProcess } from '../../support/program.ts';
import { newDataDir, spawnSandbox } from '../../support/sandbox-process.ts';
import { until } from '../../support/until.ts';

t.test('in the sandbox', async (t) => {
  const dataDir = newDataDir(t);
  const anyPorts = path.join(dataDir, 'any-ports.toml');
  writeFileSync(anyPorts, '[http]\nport = 0\n[smtp]\nport = 0\n[submission]\nport = 0\n');
  const sandbox = spawnSandbox(t, dataDir, '--json', '--config', anyPorts);
  const told = JSON.parse(await sandbox.ready()) as { url: string; api_key: string; login: Login; domain: string };
  const configFile = path.join(dataDir, 'for-commands.toml');
  writeFileSync(configFile, `[data]\ndir = ${JSON.stringify(dataDir)}\n`);
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInThisProcess([...args, '--json', '--config', configFile]);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const call = async (key: string, where: string, body?: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${told.url}${where}`, init);
    if (!answer.ok) throw new Error(`${where}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; message_ids: string[] };
  };
  const signedIn = async (login: Login) => {
    const visitor = new PortalVisitor(told.url);
    await visitor.signIn(login);
    return visitor;
  };

  const { id: otherId } = await command('tenant', 'create', '--name', 'Other', '--status', 'active');
  const rights = ['--name', 'app', '--scopes', 'emails:send,domains:write'];
  const { key: otherKey } = await command('key', 'create', '--tenant', otherId!, ...rights);
  const { id: domainId } = await call(otherKey!, '/domains', { domain: 'other.verified.test' });
  await call(otherKey!, `/domains/${domainId}/verify`);
  const { password } = await command(
    'user',
    'create',
    '--tenant',
    otherId!,
    '--email',
    'o@other.test',
    '--role',
    'viewer',
  );
  const operatorLogin = await command('user', 'create', '--operator', '--email', 'jo@service.test');
  const visitors = {
    printed: await signedIn(told.login),
    other: await signedIn({ email: 'o@other.test', password: password! }),
    operator: await signedIn({ email: 'jo@service.test', password: operatorLogin.password! }),
  };
  t.match((await visitors.printed.get('/portal/captured')).text, 'No captured mail yet');
  const older = await visitors.printed.get('/portal/captured?message=019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11');
  t.match(older.text, /No captured mail of this message.* It keeps the newest 1,000 mails, up to 256 MiB in all/);

  const mail = { to: `Ann <ann@example.com>`, subject: HOSTILE, html: `<b>${HOSTILE}</b>`, text: `text ${HOSTILE}` };
  const { message_ids: first } = await call(told.api_key, '/emails', { ...mail, from: `a@${told.domain}` });
  const { message_ids: second } = await call(otherKey!, '/emails', {
    ...mail,
    from: 'a@other.verified.test',
    to: 'bob@example.com',
  });
  const list = await until('both are captured', async () => {
    const page = await visitors.printed.get('/portal/captured');
    return page.text.includes('ann@example.com') && page.text.includes('bob@example.com') && page;
  });
  t.match(list.text, HOSTILE.slice(0, 20));
  t.same(
    list.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes),
    [],
  );
  t.ok(
    list.links.some(({ href, text }) => href === '/portal/captured' && text === 'Captured mail'),
    'it is in the navigation',
  );
  const mailOf = async (visitor: PortalVisitor, base: string, messageId: string) => {
    const page = await visitor.get(`${base}?message=${messageId}`);
    return page.links.map(({ href }) => href).filter((href) => href.startsWith(`${base}/`));
  };
  const [path1 = ''] = await mailOf(visitors.printed, '/portal/captured', first[0]!);
  const shown = await visitors.printed.get(path1);
  t.ok(
    shown.links.some(({ href }) => href === `/portal/messages/${first[0]}`),
    'it leads to the message',
  );
  t.match(shown.text, /Envelope from b\S+@bounces\.postrider\.test to ann@example\.com/);
  t.match(shown.text, /TLSv1\.3/);
  t.equal(
    (await visitors.printed.get(`${path1}/html`)).headers.get('content-security-policy')?.split(';')[0],
    'sandbox',
  );
  t.match((await visitors.printed.get(`${path1}?part=headers`)).text, 'DKIM-Signature');
  t.match((await visitors.printed.get('/portal/captured?to=BOB')).text, 'bob@example.com');
  t.match((await visitors.printed.get('/portal/captured?to=nobody')).text, 'No captured mail matches');

  const [path2 = ''] = await mailOf(visitors.printed, '/portal/captured', second[0]!);
  t.ok(path2, 'the printed login sees what others sent as well');
  const ofOther = await visitors.other.get('/portal/captured');
  t.match(ofOther.text, 'bob@example.com');
  t.notMatch(ofOther.text, 'ann@example.com', 'any other tenant sees its own alone');
  t.equal((await visitors.other.get(path2)).status, 200);
  for (const below of ['', '/html', '/raw']) {
    t.equal((await visitors.other.get(`${path1}${below}`)).status, 404, below);
    t.equal((await visitors.other.get(`/portal/operator${path1.slice('/portal'.length)}${below}`)).status, 404);
  }
  const ofOperator = await mailOf(visitors.operator, '/portal/operator/captured', first[0]!);
  t.match(await visitors.operator.get(ofOperator[0]!), { status: 200, text: HOSTILE.slice(0, 20) });
  t.ok(
    (await visitors.operator.get(`/portal/operator/queue/${first[0]}`)).links.some(
      ({ text }) => text === 'Captured mail',
    ),
  );
  t.equal((await visitors.operator.get('/portal/operator/captured/x')).status, 404);
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
});

t.test('beside a sandbox', async (t) => {
  const world = await startPortal(t);
  const owner = await world.visitor();
  const operator = await world.visitor(await world.addUser('operator'));
  for (const [visitor, path] of [
    [owner, '/portal/captured'],
    [operator, '/portal/operator/captured'],
  ] as const) {
    t.equal((await visitor.get(path)).status, 404, path);
  }
  t.notOk((await owner.get('/portal')).links.some(({ href }) => href === '/portal/captured'));
});
