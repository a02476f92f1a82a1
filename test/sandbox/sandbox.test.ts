// The whole sandbox as its visitor sees it: start it, paste the line, read the mail, stop it,
// start it again.
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createTransport } from 'nodemailer';
import t from 'tap';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { SCOPES } from '../../src/store/tenants.ts';
import { verifyUser } from '../../src/tenants/accounts/users.ts';
import { patience } from '../support/patience.ts';
import {
  newDataDir,
  type RunningSandbox,
  runCommand,
  spawnSandbox,
  spawnSandboxCommand,
  spawnSandboxWith,
} from '../support/sandbox-process.ts';
import { until } from '../support/until.ts';
import { pasteCurlLine } from './curl-line.ts';

interface Told {
  url: string;
  api_key: string;
  smtp: { host: string; port: number };
  domain: string;
  login: { email: string; password: string };
  operator_login: { email: string; password: string };
  captured_dir: string;
  dns_server: string;
}

// One folder through its life; each test goes on where the one before it has stopped.
const root = t;
const dataDir = newDataDir(root);
const captured = path.join(dataDir, 'captured');
const kept = () => readdirSync(captured).filter((name) => name.endsWith('.eml'));

let words = '';
let messageId = '';
let told: Told;
let sandbox: RunningSandbox;
const call = (method: string, where: string, body?: unknown) => callApi(told, method, where, body);

t.test('the line that is printed sends a message', async (t) => {
  const first = spawnSandbox(t, dataDir);
  words = await first.ready();
  const line = /^ {2}(curl .*)$/m.exec(words)![1]!;
  const { status, body } = await pasteCurlLine(t, line);
  t.equal(status, '202', body);
  messageId = JSON.parse(body).message_ids[0];
  await until('the mail is kept', () => kept().length === 1);
  t.match(words, captured, 'the folder is named');

  const twin = spawnSandbox(t, dataDir);
  t.equal(await twin.ended(), 1, 'one sandbox per folder');
  t.match(twin.complained, `another Postrider process uses ${dataDir}: stop it first, or give --data another folder`);
  t.equal(await first.interrupt(), 0, first.complained);
  t.equal(first.printed + first.complained, words, 'nothing but the welcome is on the screen');
});

t.test('the data of a server is left alone: its mail would go to the capture server', async (t) => {
  const folder = newDataDir(t);
  await (await openSqliteStore({ file: path.join(folder, 'postrider.db') })).close();
  const before = readdirSync(folder);
  const refused = spawnSandbox(t, folder);
  t.equal(await refused.ended(), 1);
  t.match(refused.complained, /holds the data of a server.*give --data a folder of its own/);
  t.strictSame(readdirSync(folder), before, 'nothing was written');
});

t.test('the environment may name the data folder, and --data has the last word', async (t) => {
  const [named, given] = [newDataDir(t), newDataDir(t)];
  const settings = { POSTRIDER_DATA_DIR: named };
  const first = spawnSandboxCommand(t, settings, '--json');
  t.equal(JSON.parse(await first.ready()).captured_dir, path.join(named, 'captured'));
  const second = spawnSandboxWith(t, given, settings, '--json');
  t.equal(JSON.parse(await second.ready()).captured_dir, path.join(given, 'captured'));
  await Promise.all([first.interrupt(), second.interrupt()]);
});

t.test('a folder that another command works in is not used', async (t) => {
  const folder = newDataDir(t);
  const lock = lockDataFolder(folder);
  const refused = spawnSandbox(t, folder);
  t.equal(await refused.ended(), 1);
  t.match(refused.complained, `another Postrider process uses ${folder}: stop it first, or give --data another folder`);
  lock.release();
});

t.test('a restart changes neither key nor login nor mail', async (t) => {
  sandbox = spawnSandbox(root, dataDir, '--json');
  told = JSON.parse(await sandbox.ready());
  t.match(words, told.api_key);
  t.match(words, `${told.login.email}   ${told.login.password}`);
  t.match(words, `${told.operator_login.email}   ${told.operator_login.password}`);
  t.equal(statSync(path.join(dataDir, 'sandbox.json')).mode & 0o777, 0o600);
  t.equal(kept().length, 1);
});

t.test('the printed settings open the SMTP door', async (t) => {
  const [, host = '', port = ''] = /^ {2}SMTP +(\S+):(\d+) /m.exec(words) ?? [];
  t.equal(host, '127.0.0.1');
  t.match(words, `MAIL_HOST=${host} MAIL_PORT=${port} MAIL_USERNAME=apikey MAIL_PASSWORD=${told.api_key}`);
  t.match(
    words,
    `createTransport({ host: '${host}', port: ${port}, auth: { user: 'apikey', pass: '${told.api_key}' } })`,
  );
  const transport = createTransport({ ...told.smtp, auth: { user: 'apikey', pass: told.api_key } });
  t.ok(await transport.verify());
  transport.close();
});

t.test('the command line says that nobody is reviewed here', async (t) => {
  const tenants = JSON.parse(await runCommand(dataDir, 'tenant', 'list', '--json')).tenants as { id: string }[];
  t.ok(tenants.length > 0);
  for (const { id } of tenants) {
    const shown = await runCommand(dataDir, 'tenant', 'show', id);
    t.match(shown, /^reviews: +off: the sandbox never puts a tenant under review$/m);
    t.notMatch(shown, 'until a review');
  }
});

t.test('both signatures of what was kept verify against the DNS of the sandbox', async (t) => {
  const raw = readFileSync(path.join(captured, kept()[0]!));
  t.match(raw.toString(), `Message-ID: <${messageId}@hello.verified.test>`);
  const dns = new Resolver({ timeout: patience(2000), tries: 2 });
  dns.setServers([told.dns_server]);
  const resolver = (name: string, type: string) => dns.resolve(name, type);
  const { results } = await dkimVerify(raw, { resolver: resolver as never });
  t.same(
    results.map(({ signingDomain, status }) => `${signingDomain} ${status.result}`),
    ['hello.verified.test pass', 'bounces.postrider.test pass'],
  );
});

t.test('what becomes of each magic recipient', async (t) => {
  const recipients = ['you', 'bounce', 'block', 'full', 'defer', 'slow', 'later-bounce', 'complain'];
  const to = recipients.map((name) => `${name}+test@example.com`);
  const sent = await call('POST', '/emails', { from: `hello@${told.domain}`, to, subject: 'Hi', text: 'Hi.' });
  t.equal(sent.status, 202);
  /** Event types, reply and bounce type, once the message is in one of the states. */
  const settled = async (name: string, ...states: string[]) => {
    const id = sent.body.message_ids[recipients.indexOf(name)];
    const message = await until(`${name} is ${states}`, async () => {
      const { body } = await call('GET', `/emails/${id}`);
      return states.includes(body.state) && body;
    });
    const events = message.events.map((event) => event.type);
    const [last] = message.events.slice(-1);
    const { smtp_code, enhanced_code, type } = (last!.data.delivery ?? last!.data.bounce)!;
    return `${events} ${smtp_code} ${enhanced_code}${type ? ` ${type}` : ''}`;
  };
  t.equal(await settled('you', 'delivered'), 'email.delivered 250 2.0.0');
  t.equal(await settled('bounce', 'bounced'), 'email.bounced 550 5.1.1 hard');
  t.equal(await settled('block', 'bounced'), 'email.bounced 550 5.7.1 block');
  t.equal(await settled('full', 'deferred'), 'email.deferred 452 4.2.2');
  t.equal(await settled('defer', 'delivered'), 'email.deferred,email.delivered 250 2.0.0');
  t.equal(await settled('slow', 'delivered'), 'email.delivered 250 2.0.0');
  t.equal(await settled('later-bounce', 'bounced'), 'email.delivered,email.bounced 550 5.1.1 hard');
  const complained = await until('the complaint has come back', async () => {
    const { body } = await call('GET', `/emails/${sent.body.message_ids[recipients.indexOf('complain')]}`);
    return body.events.length > 1 && body;
  });
  t.equal(complained.state, 'delivered');
  t.same(
    complained.events.map((event) => event.type),
    ['email.delivered', 'email.complained'],
  );
  for (const name of ['later-bounce', 'complain']) {
    const again = { from: `hello@${told.domain}`, to: `${name}+test@example.com`, subject: 'Hi', text: 'Hi.' };
    t.equal((await call('POST', '/emails', again)).status, 422, `${name} is suppressed`);
  }
  t.equal(kept().length, 1 + 5);
});

t.test('domains under verified.test verify, others do not', async (t) => {
  const verify = async (domain: string, selector?: string) => {
    const { body } = await call('POST', '/domains', { domain, selector });
    return call('POST', `/domains/${body.id}/verify`);
  };
  const good = await verify('shop.verified.test');
  t.match(good, { status: 200, body: { state: 'verified' } });
  t.same(
    good.body.checks.map((check) => `${check.record} ${check.ok}`),
    ['dkim true', 'spf true', 'dmarc true'],
  );
  const another = await verify('upper.verified.test', 'Mail.B-2');
  t.match(another, { status: 200, body: { state: 'verified', dkim_selector: 'Mail.B-2' } }, 'DNS knows no case');
  const bad = await verify('shop.example.com');
  t.match(bad, { status: 422, body: { error: 'verification_failed', check: { reason: 'not_found' } } });
  const from = 'a@shop.verified.test';
  const sent = await call('POST', '/emails', { from, to: 'you@example.com', subject: 'Hi', text: 'Hi.' });
  t.equal(sent.status, 202);
});

t.test('what it has made is what it shows', async (t) => {
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
  const store = await openSqliteStore({ file: path.join(dataDir, 'postrider.db') });
  t.teardown(() => store.close());
  t.match(await verifyUser(told.login, store), { role: 'owner' }, 'the login is the one of a user');
  const operator = await verifyUser(told.operator_login, store);
  t.match(operator, { role: 'operator', tenantId: null }, 'and one of an operator');
  const [tenant, ...others] = await store.tenants.listTenants();
  t.match(tenant, { name: 'Sandbox', status: 'active', tier: 'uncapped', tierPinned: true });
  t.same(others, []);
  const keys = await store.keys.listApiKeys(tenant!.id);
  t.match(keys, [{ scopes: SCOPES }]);
  t.equal(keys.length, 1, 'a restart makes no second key');
});

t.test('a port that was asked for and is taken: the setting is named', async (t) => {
  const taken = createServer();
  t.teardown(() => taken.close());
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  for (const [variable, key] of [
    ['POSTRIDER_HTTP_PORT', 'http.port'],
    ['POSTRIDER_SMTP_PORT', 'smtp.port'],
    ['POSTRIDER_METRICS_PORT', 'metrics.port'],
  ] as const) {
    const refused = spawnSandboxWith(t, newDataDir(t), { [variable]: String(port) });
    t.equal(await refused.ended(), 1);
    t.match(refused.complained, new RegExp(`:${port} .*choose another ${key} \\(environment variable ${variable}\\)`));
  }
});

t.test('a lost access file costs the key, not the sandbox', async (t) => {
  rmSync(path.join(dataDir, 'sandbox.json'));
  const before = told;
  const again = spawnSandbox(t, dataDir, '--json');
  told = JSON.parse(await again.ready());
  t.not(told.api_key, before.api_key);
  t.not(told.login.password, before.login.password);
  t.not(told.operator_login.password, before.operator_login.password);
  const { body } = await call('GET', '/domains');
  t.same(
    body.domains.map(({ domain, state }) => `${domain} ${state}`),
    [
      ...['hello.verified.test verified', 'shop.verified.test verified'],
      ...['upper.verified.test verified', 'shop.example.com failed'],
    ],
    'the same tenant',
  );
  t.equal(
    (await callApi({ ...told, api_key: before.api_key }, 'GET', '/domains')).status,
    401,
    'the lost key is worth nothing',
  );
  t.equal(await again.interrupt(), 0);
});

/** What the API answers, as far as these tests look at it. */
interface Answer {
  status: number;
  body: {
    id: string;
    message_ids: string[];
    state: string;
    events: { type: string; data: { delivery?: Verdict; bounce?: Verdict } }[];
    domains: { domain: string; state: string }[];
    checks: { record: string; ok: boolean }[];
  };
}

interface Verdict {
  smtp_code: number;
  enhanced_code: string;
  type?: string;
}

async function callApi(told: Told, method: string, where: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${told.url}${where}`, {
    method,
    headers: {
      authorization: `Bearer ${told.api_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
