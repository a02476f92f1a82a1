// What an operator does to move a service that has run for a while: stop, migrate --to, look, go back, move again. The output is
// what docs/operate.md shows, and PostgreSQL answers what SQLite did.
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { openPostgresPortalReads } from '../../../src/store/postgres/portal-reads.ts';
import type { PortalReads } from '../../../src/store/reads.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { Examples } from '../../docs/examples.ts';
import { openPage } from '../../docs/walk-page.ts';
import { openReads } from '../../store/open-reads.ts';
import { dsnFor } from '../../support/bounce-mail.ts';
import type { Daemon, Json } from '../../support/daemon-process.ts';
import { dmarcMail, dmarcXml } from '../../support/dmarc-mail.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../support/postgres-server.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { startEndpoint } from '../../support/webhook-endpoint.ts';
import { RECEIVER, registerSender, type Sender, send, startWorld, type World } from '../../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const ALL_DAYS = { firstDay: '2000-01-01', lastDay: '2999-12-31' };
const HOUR_MS = 3_600_000;
/** None on a machine that has nothing else to do. */
const PROGRESS = /^(postrider migrate: \w+: (copied|compared) \d+ of \d+ rows?\n)*$/;
const busy = { code: 452, text: '4.2.2 mailbox full' };
const gone = { code: 550, text: '5.1.1 no such user' };

/** Mail in every state, and what belongs to it. */
async function runForAWhile(t: Test, world: World): Promise<Sender> {
  const { postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const tenant = ['--tenant', sender.tenantId];
  const rights = ['--name', 'all', '--scopes', 'webhooks:write,templates:write'];
  const key = String((await postrider.json('key', 'create', ...tenant, ...rights)).key);
  const endpoint = await startEndpoint(t);
  await answered(daemon, key, 'POST /webhooks', { url: endpoint.url });
  await answered(daemon, key, 'POST /templates', { name: 'Order', subject: 'Order {{ n }}', text: 'Dear {{ name }}' });
  const delivered = await send(daemon, sender, [`ann@${RECEIVER}`, `bob@${RECEIVER}`], {
    html: '<p>Grüße 😀</p>',
    attachments: [
      { filename: 'leer', content: '' },
      { filename: 'ü.bin', content: 'AP+A' },
    ],
    ...{ tags: { kind: 'invoice' }, metadata: { Käufer: 'ﷺ' } },
  });
  const [waiting] = await send(daemon, sender, `full@${RECEIVER}`);
  const [bounced] = await send(daemon, sender, `gone@${RECEIVER}`);
  await send(daemon, sender, `later@${RECEIVER}`, { send_at: new Date(Date.now() + 5 * HOUR_MS).toISOString() });
  for (const id of delivered) await daemon.logged({ fact: 'delivered', message_id: id });
  await daemon.logged({ fact: 'deferred', message_id: waiting! });
  await daemon.logged({ fact: 'bounced', message_id: bounced! });
  await endpoint.until(4);
  await receive(daemon, `postmaster@${BOUNCES}`, 'From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\nWho are you?');
  await receive(daemon, `dmarc@${BOUNCES}`, dmarcMail(gzipSync(dmarcXml({ records: [{ count: 3 }, {}] }))));
  const [first] = world.sink.mails;
  await receive(daemon, first!.from, dsnFor(first!));
  await postrider.json('user', 'create', ...tenant, '--email', 'jo@people.test');
  await postrider.json('suppression', 'add', ...tenant, '--address', 'never@other.test');
  await postrider.json('queue', 'pause', '--group', `mx.${RECEIVER}`, '--reason', 'a test', '--by', 'jo');
  await daemon.stop();
  return sender;
}

/** Returns when the daemon has acted on it. */
async function receive(daemon: Daemon, to: string, data: string | Buffer): Promise<void> {
  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  const reply = await client.send({ from: '', to, data: Buffer.from(data) });
  client.close();
  await daemon.logged({ fact: 'inbound', inbound_id: /kept as (\S+)$/.exec(reply)![1]! });
}

async function answered(daemon: Daemon, key: string, what: string, body: Json): Promise<void> {
  const { status, body: answer } = await daemon.call(key, what, { body });
  if (status >= 300) throw new Error(`${what}: ${status} ${JSON.stringify(answer)}`);
}

/** What API and portal would show of a tenant. */
async function answersOf(store: Store, reads: PortalReads, { tenantId }: Sender): Promise<Json> {
  const found = await reads.searchMessages(tenantId, { limit: 100, budgetMs: 60_000 });
  const messages = found.kind === 'found' ? found.value.messages : [];
  return {
    found,
    details: await Promise.all(messages.map(({ id }) => store.queue.findMessage(tenantId, id))),
    feed: await store.events.listEvents(tenantId, { after: null, limit: 1000 }),
    tenants: await store.tenants.listTenants(),
    domains: await store.domains.listDomains(tenantId),
    keys: await store.keys.listApiKeys(tenantId),
    webhooks: await store.webhooks.listWebhookHealth(tenantId),
    templates: await store.templates.listTemplates(tenantId),
    suppressions: await store.suppressions.listSuppressions(tenantId, { after: null, limit: 100 }),
    queue: await store.queue.queueSummary(),
    waiting: await reads.waitingMail(tenantId, 100),
    tags: await reads.tagFigures(tenantId, { fromHour: 0, untilHour: 1_000_000, limit: 10 }),
    inbound: await store.inbound.listInbound({ limit: 100 }),
    reports: await store.dmarc.listDmarcDomains(ALL_DAYS, { after: null, limit: 10 }),
    audit: await store.audit.listAllAudit({ before: null, limit: 100 }),
    latest: await reads.latestEvents(tenantId, 100),
  };
}

async function answersOfSqlite(t: Test, file: string, sender: Sender): Promise<Json> {
  const store = await openSqliteStore({ file });
  try {
    return await answersOf(store, openReads(t, file), sender);
  } finally {
    await store.close();
  }
}

async function answersOfPostgres(t: Test, url: string, sender: Sender): Promise<Json> {
  const store = await openPostgresStore({ url });
  const limits = { queryMs: 60_000, waitMs: 60_000 };
  const reading = openPostgresPortalReads({ url, onTrouble: (reason) => t.fail(reason), limits });
  try {
    return await answersOf(store, reading.reads, sender);
  } finally {
    await reading.close();
    await store.close();
  }
}

/** What docs/operate.md shows below a command of this section. */
function shownBelow(command: string, differences: Record<string, string>): string {
  const snippet = openPage('docs/operate.md').snippets.find(({ code }) => code.includes(command));
  let text = snippet!.expected!.text;
  for (const [shown, real] of Object.entries(differences)) text = text.replaceAll(shown, real);
  return text.trim();
}

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const onRcpt = (address: string) => (address.startsWith('full') ? busy : address.startsWith('gone') ? gone : null);
  const world = await startWorld(t, {
    sink: { onRcpt },
    settings: { webhooks: { allow_private: ['127.0.0.0/8'] } },
  });
  const { postrider } = world;
  const sender = await runForAWhile(t, world);
  const { url, urlFile, database } = await emptyDatabase(server, postrider.folder);
  const before = await answersOfSqlite(t, postrider.databaseFile, sender);
  t.match(before, {
    found: { value: { messages: { length: 5 } } },
    inbound: [{ effect: 'bounced' }, { kind: 'dmarc', effect: 'stored' }, { kind: 'human' }],
    reports: { domains: [{}] },
  });

  await t.test('not beside a daemon', async (t) => {
    const daemon = await postrider.serve();
    const refused = await postrider.run('migrate', '--to', `@${urlFile}`);
    t.match(refused, { code: 1, stdout: '', stderr: /another Postrider process uses .*: stop it first/ });
    await daemon.stop();
  });

  await t.test('there and back', async (t) => {
    const differences = {
      'db1.example.com:5432/postrider': `127.0.0.1:${server.port}/${database}`,
      'postrider at db1.example.com:5432': `${database} at 127.0.0.1:${server.port}`,
      'postrider:PASSWORD': 'owner:PASSWORD',
      '/var/lib/postrider/postrider.db': postrider.databaseFile,
    };
    const moved = await postrider.run('migrate', '--to', `@${urlFile}`);
    t.match(moved, { code: 0, stderr: PROGRESS });
    const shown = shownBelow('migrate --to @', differences);
    t.ok(new Examples().match(shown, moved.stdout.trim()), moved.stdout);
    t.match(moved.stdout, `postrider migrate --back --to @${urlFile}\n`);
    t.notMatch(moved.stdout, /secret/);
    const refused = await postrider.run('serve');
    const typed = `postrider migrate --back --to ${url.replace('secret', 'PASSWORD')}`;
    t.match(refused, { code: 1, stderr: /was moved to PostgreSQL on / });
    t.match(refused.stderr, typed);
    t.match(await postrider.run('migrate', '--back'), { code: 1, stderr: typed });
    t.match(await postrider.runHere('tenant', 'list'), { code: 1, stderr: /was moved to PostgreSQL on / });
    const back = await postrider.run('migrate', '--back', '--to', `@${urlFile}`);
    t.match(back, { code: 0, stderr: '' });
    t.ok(new Examples().match(shownBelow('migrate --back', differences), back.stdout.trim()), back.stdout);
    const two = `${url}?sslmode=disable&port=${server.port}`;
    const again = await postrider.run('migrate', '--to', two);
    t.match(again.stdout, `postrider migrate --back --to '${two.replace('secret', 'PASSWORD')}'\n`);
    t.match(await postrider.run('migrate', '--back', '--to', two), { code: 0, stderr: '' });
    const daemon = await postrider.serve();
    await daemon.stop();
  });

  await t.test('moved again: PostgreSQL answers as SQLite did, and nothing leads back', async (t) => {
    const last = await answersOfSqlite(t, postrider.databaseFile, sender);
    t.match(await postrider.run('migrate', '--to', `@${urlFile}`, '--json'), { code: 0, stdout: /"before":false/ });
    t.same(await answersOfPostgres(t, url, sender), last);
    const back = await postrider.run('migrate', '--back', '--to', `@${urlFile}`);
    t.match(back, { code: 1, stderr: /there is no way back: PostgreSQL's database has been in use since / });
  });
});

async function emptyDatabase(server: PostgresServer, folder: string) {
  const database = await server.createDatabase();
  const url = server.url(database).replace('owner@', 'owner:secret@');
  const urlFile = path.join(folder, 'store-url');
  fs.writeFileSync(urlFile, `${url}\n`, { mode: 0o600 });
  return { database, url, urlFile };
}
