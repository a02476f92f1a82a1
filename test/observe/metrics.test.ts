// Metrics over their real listener, and from a running daemon.
import t from 'tap';
import { silentLogger } from '../../src/observe/log.ts';
import { type Figures, GroupLabels, Metrics } from '../../src/observe/metrics.ts';
import { startMetricsListener } from '../../src/observe/metrics-listener.ts';
import { DoorClient, findDoorAddress } from '../support/door-client.ts';
import { findFreePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { registerSender, send, startWorld } from '../support/world.ts';

const FIGURES: Figures = {
  queueMessages: 7,
  queueOldestMs: 1500,
  intakeOpen: true,
  doubtedReceivers: 2,
  noRouteHeld: true,
  tenantsInReview: 4,
  serviceMailInTrouble: true,
  unstoredResults: 3,
  unstoredResultsMs: 2500,
  webhookLagMs: 0,
  webhooksWaiting: 2,
  submissionConnections: 5,
  residentBytes: 1,
  sharing: { nodes: 2, slots: 8, leaseLeftMs: 7500 },
  certificatesLeftMs: new Map([['mail.a.test', 90_500]]),
};

t.test('a scrape shows what was told and what is asked for', async (t) => {
  const metrics = new Metrics({ nodes: true });
  const listener = await startMetricsListener({
    ...{ host: '127.0.0.1', port: 0, metrics, log: silentLogger },
    figures: async () => FIGURES,
  });
  t.teardown(async () => {
    metrics.close();
    await listener.close();
  });
  metrics.attempted({ outcome: 'delivered', bounce: null, mxGroup: null, elapsedMs: 300 });
  metrics.attempted({ outcome: 'bounced', bounce: 'hard', mxGroup: 'a.test', elapsedMs: 300 });
  metrics.committed({ verbs: 12, elapsedMs: 3 });
  metrics.committed({ verbs: 300, elapsedMs: 3, sent: { statements: 9, roundTrips: 6, tries: 2 } });
  metrics.answered({ method: 'POST', route: '/emails', status: 202, elapsedMs: 2 });
  metrics.submission('mail', 'too_large');
  metrics.answered({ method: 'X'.repeat(1000), route: 'other', status: 404, elapsedMs: 1 });
  const url = `http://127.0.0.1:${listener.port}`;
  const text = await (await fetch(`${url}/metrics`)).text();
  for (const line of [
    'postrider_attempts_total{outcome="delivered",class="none",mx_group="other"} 1',
    'postrider_attempts_total{outcome="bounced",class="hard",mx_group="other"} 1',
    'postrider_delivery_seconds_bucket{le="0.5",mx_group="other"} 1',
    'postrider_commit_group_size_bucket{le="25"} 1',
    'postrider_database_round_trips_total 6',
    'postrider_database_statements_total 9',
    'postrider_database_tries_total 2',
    'postrider_http_requests_total{method="POST",route="/emails",status="202"} 1',
    'postrider_http_requests_total{method="other",route="other",status="404"} 1',
    'postrider_submission_mails_total{outcome="too_large"} 1',
    'postrider_submission_open_connections 5',
    'postrider_queue_messages 7',
    'postrider_certificate_expiry_seconds{names="mail.a.test"} 90.5',
    'postrider_queue_oldest_seconds 1.5',
    'postrider_intake_open 1',
    'postrider_doubted_receivers 2',
    'postrider_no_route_held 1',
    'postrider_tenants_in_review 4',
    'postrider_service_mail_in_trouble 1',
    'postrider_nodes 2',
    'postrider_slots 8',
    'postrider_lease_left_seconds 7.5',
    'postrider_results_unstored 3',
    'postrider_results_unstored_seconds 2.5',
  ]) {
    t.ok(text.split('\n').includes(line), line);
  }
  t.match(text, /^postrider_event_loop_delay_seconds\{percentile="99"\} [\d.e-]+$/m);
  t.equal((await fetch(`${url}/`)).status, 404);
  t.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 405);
});

t.test('figures that cannot be had are a 500, and the next scrape works', async (t) => {
  const metrics = new Metrics({ nodes: true });
  let broken = true;
  const figures = async () => {
    if (broken) throw new Error('no such figure');
    return FIGURES;
  };
  const listener = await startMetricsListener({ host: '127.0.0.1', port: 0, metrics, log: silentLogger, figures });
  t.teardown(async () => {
    metrics.close();
    await listener.close();
  });
  const scrape = async () => (await fetch(`http://127.0.0.1:${listener.port}/metrics`)).status;
  t.equal(await scrape(), 500);
  broken = false;
  t.equal(await scrape(), 200);
});

t.test('what is not known is missing, rather than 0 or as it was', async (t) => {
  const metrics = new Metrics({ nodes: true });
  t.teardown(() => metrics.close());
  const unknown = {
    ...FIGURES,
    ...{ queueMessages: null, queueOldestMs: null, doubtedReceivers: null, noRouteHeld: null, tenantsInReview: null },
    ...{ serviceMailInTrouble: null, webhookLagMs: null, webhooksWaiting: null },
  };
  const shownNames = (text: string) => new Set(text.match(/^postrider_\w+/gm));
  const whole = shownNames(await metrics.render(FIGURES));
  const part = shownNames(await metrics.render(unknown));
  t.strictSame([...whole].filter((name) => !part.has(name)).sort(), [
    'postrider_doubted_receivers',
    'postrider_no_route_held',
    'postrider_queue_messages',
    'postrider_queue_oldest_seconds',
    'postrider_service_mail_in_trouble',
    'postrider_tenants_in_review',
    'postrider_webhook_lag_seconds',
    'postrider_webhooks_waiting',
  ]);
  t.strictSame(shownNames(await metrics.render(FIGURES)), whole, 'they come back');
});

t.test('only large groups have a label of their own, and not very many', async (t) => {
  const labels = new GroupLabels();
  const use = (group: string, times: number) => Array.from({ length: times }, () => labels.labelOf(group)).at(-1);
  t.equal(use('small.test', 99), 'other');
  t.equal(use('small.test', 1), 'small.test');
  for (let index = 0; index < 5000; index++) use(`d${index}.test`, 1);
  t.equal(use('d1.test', 1), 'other', 'what makes up domains gets nothing');
  for (let index = 0; index < 100; index++) use(`large${index}.test`, 150);
  const shown = new Set(Array.from({ length: 100 }, (_, index) => labels.labelOf(`large${index}.test`)));
  t.equal(shown.size, 30, '29 beside the first one, and other');
  t.equal(labels.labelOf(null), 'other');
});

t.test('a daemon shows its own, on a listener of its own', async (t) => {
  const port = await findFreePort();
  const door = await findDoorAddress();
  const world = await startWorld(t, { settings: { metrics: { port }, ...door } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  await t.rejects(DoorClient.signIn(door.submission, 'pr_wrong'));
  const application = await DoorClient.signIn(door.submission, sender.key);
  const raw = Buffer.from(`From: app@${sender.domain}\r\nSubject: x\r\n\r\nHello.\r\n`);
  await application.hand({ to: ['a@receiver.test', 'b@localhost'], raw, onRefused: () => {} });
  const [id] = await send(daemon, sender, 'a@receiver.test');
  await until('both are delivered', () => daemon.find({ fact: 'delivered' }).length === 2);
  await daemon.call(sender.key, 'GET /no/such/address');
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const shown = (line: RegExp) => t.match(text, line);
  shown(/^postrider_attempts_total\{outcome="delivered",class="none",mx_group="other"\} 2$/m);
  shown(/^postrider_http_requests_total\{method="POST",route="\/emails",status="202"\} 1$/m);
  shown(/^postrider_http_requests_total\{method="POST",route="\/domains\/:id\/verify",status="200"\} 1$/m);
  shown(/^postrider_http_requests_total\{method="GET",route="other",status="404"\} 1$/m);
  for (const count of [
    'connections_total{outcome="accepted"} 2',
    'logins_total{outcome="accepted"} 1',
    'logins_total{outcome="wrong_key"} 1',
    'recipients_total{outcome="accepted"} 1',
    'recipients_total{outcome="invalid"} 1',
    'mails_total{outcome="accepted"} 1',
    'open_connections 1',
  ]) {
    t.ok(text.includes(`\npostrider_submission_${count}\n`), count);
  }
  application.close();
  shown(/^postrider_queue_messages 0$/m);
  shown(/^postrider_commit_seconds_count [1-9]\d*$/m);
  shown(/^postrider_intake_open 1$/m);
  t.notOk(/^postrider_(?:nodes|slots|lease|database)/m.test(text), 'nothing of several daemons');
  t.notOk(text.includes(id!), 'no ids');
});
