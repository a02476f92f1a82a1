// A real Prometheus scrapes two real daemons with mail in all directions, and answers every query of the dashboard as
// Grafana would ask it: without an error, and with something to show.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { ALERTS_FILE, queriesOf, readAlerts, readDashboard } from '../../observe/read-dashboard.ts';
import { dsnFor } from '../../support/bounce-mail.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { dmarcMail, dmarcXml } from '../../support/dmarc-mail.ts';
import { DoorClient, findDoorAddress } from '../../support/door-client.ts';
import { closedUrl, findFreePort } from '../../support/free-port.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { type Prometheus, prometheusMissing, promtool, startPrometheus } from '../../support/prometheus.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { until } from '../../support/until.ts';
import { startEndpoint } from '../../support/webhook-endpoint.ts';
import {
  addReceiver,
  RECEIVER,
  registerSender,
  type Sender,
  send,
  startWorld,
  type World,
} from '../../support/world.ts';

const skip = prometheusMissing();
const dashboard = readDashboard();
const STRICT = 'strict.test';
const BOUNCES = 'bounces.mail.postrider.test';

/** Queries that show nothing here, each with what this test does not make or have. */
const NOTHING_TO_SHOW: Record<string, string> = {
  'Restarts, annotation': 'a restart within two minutes',
  ...Object.fromEntries(
    [
      'Slots and daemons, A',
      'Slots and daemons, B',
      'Lease left, A',
      'PostgreSQL per commit, A',
      'PostgreSQL per commit, B',
      'PostgreSQL per commit, C',
    ].map((where) => [where, 'these daemons have a SQLite each']),
  ),
};

/** What the receiving server says to a recipient of this name; everyone else gets mail. */
const REPLIES: Record<string, { code: number; text: string }> = {
  nobody: { code: 550, text: '5.1.1 No such user here' },
  blocked: { code: 554, text: '5.7.1 Client host blocked using Spamhaus' },
  later: { code: 452, text: '4.2.2 Mailbox full' },
};

interface Scene extends World {
  daemon: Daemon;
  sender: Sender;
  application: DoorClient;
  metrics: string;
}

async function openScene(t: Test): Promise<Scene> {
  const [port, door] = [await findFreePort(), await findDoorAddress()];
  const endpoint = await startEndpoint(t);
  const traces = { endpoint: (await startOtlpReceiver(t)).url };
  const settings = { metrics: { port }, webhooks: { allow_private: ['127.0.0.1'] }, traces, ...door };
  const onRcpt = (address: string) => REPLIES[/^[a-z]+/.exec(address)![0]] ?? null;
  const world = await startWorld(t, { settings, sink: { onRcpt } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const rights = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await world.postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
  const registered = await daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
  t.equal(registered.status, 201);
  await t.rejects(DoorClient.signIn(door.submission, 'pr_wrong'));
  const application = await DoorClient.signIn(door.submission, sender.key);
  t.teardown(() => application.close());
  return { ...world, daemon, sender, application, metrics: `127.0.0.1:${port}` };
}

/** The only certificate that it has is its own, since its directory does not answer. */
async function openWithoutCertificate(t: Test): Promise<string> {
  const port = await findFreePort();
  const acme = {
    acme: true,
    acme_terms_accepted: true,
    acme_directory: `${(await closedUrl()).replace(/^http/, 'https')}/dir`,
    acme_host: '127.0.0.1',
  };
  const tls = { ...acme, acme_http_port: await findFreePort() };
  const { postrider } = await startWorld(t, { settings: { metrics: { port }, tls } });
  await postrider.serve();
  return `127.0.0.1:${port}`;
}

/** Mail in all directions: out by HTTP and SMTP, refused, deferred, bounced later, complained about. */
async function play({ daemon, sender, application, sink }: Scene, round: number): Promise<void> {
  const people = ['ann', 'nobody', 'later'].map((name) => `${name}${round}@${RECEIVER}`);
  await send(daemon, sender, people);
  const raw = Buffer.from(`From: app@${sender.domain}\r\nSubject: x\r\n\r\nHello.\r\n`);
  await application.hand({ to: [`door${round}@${RECEIVER}`, 'b@localhost'], raw, onRefused: () => {} });
  await daemon.call(sender.key, 'GET /no/such/address');
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const mails = await sink.received(2 * round);
  const bring = async (to: string, data: Buffer | string) => {
    const client = await SmtpClient.hello(smtpPort);
    const reply = await client.send({ from: '', to, data: Buffer.from(data) });
    client.close();
    await daemon.logged({ fact: 'inbound', inbound_id: /kept as (\S+)$/.exec(reply)![1]! });
  };
  await bring(mails.at(-1)!.from, dsnFor(mails.at(-1)!));
  await bring(`dmarc@${BOUNCES}`, dmarcMail(gzipSync(dmarcXml({ id: String(round) }))));
}

/** As Grafana fills its variables in: all instances, and four times a scrape interval of fifteen seconds. */
function filledIn(expr: string): string {
  return expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m');
}

async function scraped(prometheus: Prometheus, daemon: Daemon, attempts: number): Promise<void> {
  await daemon.until(
    () => ['delivered', 'deferred', 'bounced'].flatMap((fact) => daemon.find({ fact })).length >= attempts,
    'make its attempts',
  );
  await until('a scrape after them', async () => {
    const found = await prometheus.range('sum(postrider_attempts_total)');
    return Number(found[0]?.values.at(-1)?.[1] ?? 0) >= attempts;
  });
}

t.test('Prometheus answers what the dashboard asks', { skip }, async (t) => {
  const [scene, other] = [await openScene(t), await openWithoutCertificate(t)];
  addReceiver(scene.dns, STRICT); // what it says pauses all mail to it
  await send(scene.daemon, scene.sender, `blocked@${STRICT}`);
  await play(scene, 1);
  const prometheus = await startPrometheus(t, { targets: [scene.metrics, other], ruleFiles: [ALERTS_FILE] });
  // A rate needs a counter that grew between two scrapes.
  await scraped(prometheus, scene.daemon, 5);
  await play(scene, 2);
  await scraped(prometheus, scene.daemon, 9);

  await t.test('every query has something to show', async (t) => {
    for (const { where, expr } of queriesOf(dashboard)) {
      const series = await prometheus.range(filledIn(expr));
      const numbers = series.flatMap(({ values }) => values).filter(([, value]) => value !== 'NaN');
      t.equal(numbers.length > 0, !(where in NOTHING_TO_SHOW), NOTHING_TO_SHOW[where] ?? `${where}: ${expr}`);
    }
  });

  await t.test('the variable finds both daemons', async (t) => {
    const { query } = dashboard.templating.list.find(({ name }) => name === 'instance')!;
    const [, series, label] = /^label_values\((\w+), (\w+)\)$/.exec(query)!;
    const found = await prometheus.ask(`label/${label}/values`, { 'match[]': series! });
    t.same(found, [scene.metrics, other].sort());
  });

  await t.test('it evaluates every rule', async (t) => {
    type Rule = { name: string; health: string; lastError?: string };
    const rules = await until('an evaluation of all', async () => {
      const { groups } = (await prometheus.ask('rules')) as { groups: { rules: Rule[] }[] };
      const all = groups.flatMap((group) => group.rules);
      return all.every(({ health }) => health !== 'unknown') && all;
    });
    t.same(
      rules.map(({ name, health, lastError }) => [name, health, lastError]),
      readAlerts().map(({ alert }) => [alert, 'ok', undefined]),
    );
  });

  await t.test('promtool finds nothing to complain about on the page', async (t) => {
    const page = await (await fetch(`http://${scene.metrics}/metrics`)).text();
    t.match(page, /^postrider_attempts_total\{/m);
    t.same(promtool(['check', 'metrics'], page), { status: 0, said: '' });
  });
});
