// Each alert fires on the series that it is for, and not on those that it is not for: Prometheus' own tests of rules
// (`promtool test rules`), made from a table.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ALERTS_FILE, readAlerts } from '../../observe/read-dashboard.ts';
import { prometheusMissing, promtool } from '../../support/prometheus.ts';
import { testFolder } from '../../support/test-folder.ts';

const skip = prometheusMissing();
/** Longer than any range and delay of the rules, but for those of certificates. */
const AT_MINUTE = 120;
const CERTIFICATES_AT_MINUTE = 14 * 60;
const MINUTES = CERTIFICATES_AT_MINUTE + 5;

/** The same every minute. */
const steady = (value: number) => `${value}+0x${MINUTES}`;
/** A counter that grows by so much a minute. */
const growing = (perMinute: number) => `0+${perMinute}x${MINUTES}`;
/** For so many minutes, then nothing is scraped. */
const endsAfter = (minutes: number, value: number) => `${value}+0x${minutes} _x${MINUTES}`;

interface Case {
  what: string;
  series: Record<string, string>;
  /** The labels of what fires, besides its severity; missing: nothing does. */
  fires?: Record<string, string>[];
  atMinute?: number;
}

const A = { instance: 'a' };
const B = { instance: 'b' };
const JOB = { job: 'postrider' };

function named(name: string, labels: Record<string, string>): string {
  const written = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${written.join(',')}}`;
}

/** Attempts per minute by outcome and class. */
function attempts(rates: Record<string, number>, mxGroup = 'other'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rates).map(([key, perMinute]) => {
      const [outcome = '', bounceClass = 'none'] = key.split(' ');
      const labels = { ...A, outcome, class: bounceClass, mx_group: mxGroup };
      return [named('postrider_attempts_total', labels), growing(perMinute)];
    }),
  );
}

/** A counter with the label `outcome`, by result. */
function outcomes(name: string, rates: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rates).map(([outcome, perMinute]) => [named(name, { ...A, outcome }), growing(perMinute)]),
  );
}

/** A gauge above its limit on one daemon, and at it on another. */
function above(name: string, limit: number, labels: Record<string, string> = {}): Case[] {
  const [firing, calm] = [
    { ...A, ...labels },
    { ...B, ...labels },
  ];
  const series = { [named(name, firing)]: steady(limit + 1), [named(name, calm)]: steady(limit) };
  return [{ what: 'above the limit, and at it', series, fires: [firing] }];
}

function calls(rates: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rates).map(([status, perMinute]) => [
      named('postrider_http_requests_total', { ...A, method: 'POST', route: '/emails', status }),
      growing(perMinute),
    ]),
  );
}

/** Commits per minute, so many of them within 0.25 s. */
function commits(all: number, quick: number): Record<string, string> {
  const bucket = (le: string) => named('postrider_commit_seconds_bucket', { ...A, le });
  return { [bucket('0.25')]: growing(quick), [bucket('1')]: growing(all), [bucket('+Inf')]: growing(all) };
}

const queued = (messages: number, oldest = 901) => ({
  [named('postrider_queue_messages', A)]: steady(messages),
  [named('postrider_queue_oldest_seconds', A)]: steady(oldest),
});
const MAILS = 'postrider_submission_mails_total';
const LOGINS = 'postrider_submission_logins_total';
const CONNECTIONS = 'postrider_submission_connections_total';
const STARTED = named('postrider_start_time_seconds', A);

const CASES: Record<string, Case[]> = {
  PostriderIsAway: [
    { what: 'nothing is known of it', series: { 'up{job="node"}': steady(1) }, fires: [{}] },
    {
      what: 'one of two does not answer',
      series: {
        [named('up', { ...JOB, ...A })]: steady(1),
        [named('postrider_intake_open', { ...JOB, ...A })]: steady(1),
        [named('up', { ...JOB, ...B })]: steady(0),
        [named('postrider_intake_open', { ...JOB, ...B })]: endsAfter(60, 1),
      },
      fires: [{ ...JOB, ...B }],
    },
    { what: 'the only one does not answer', series: { [named('up', JOB)]: steady(0) }, fires: [JOB] },
    {
      what: 'it answers, as a job of another name',
      series: { 'postrider_intake_open{job="mail"}': steady(1), 'up{job="mail"}': steady(1) },
    },
  ],
  PostriderRestartsOften: [
    { what: 'three restarts', series: { [STARTED]: '1+0x95 2x5 3x5 4+0x60' }, fires: [A] },
    { what: 'two', series: { [STARTED]: '1+0x95 2x5 3+0x60' } },
  ],
  PostriderTakesNoMail: [
    { what: 'closed', series: { [named('postrider_intake_open', A)]: steady(0) }, fires: [A] },
    { what: 'open', series: { [named('postrider_intake_open', A)]: steady(1) } },
  ],
  PostriderCannotStoreResults: above('postrider_results_unstored_seconds', 60),
  PostriderDeliversNothing: [
    { what: 'it delivered once', series: { ...queued(101), ...attempts({ delivered: 0, deferred: 5 }) }, fires: [A] },
    { what: 'it never delivered', series: { ...queued(101), ...attempts({ deferred: 5 }) }, fires: [A] },
    { what: 'it delivers slowly', series: { ...queued(101), ...attempts({ delivered: 1, deferred: 5 }) } },
    { what: 'little is waiting', series: { ...queued(100), ...attempts({ deferred: 5 }) } },
    { what: 'all of it is scheduled', series: queued(101, 0) },
    { what: 'it is drained', series: { ...queued(101), [named('postrider_slots', A)]: steady(0) } },
    { what: 'it has slots', series: { ...queued(101), [named('postrider_slots', A)]: steady(8) }, fires: [A] },
  ],
  PostriderQueueIsOld: above('postrider_queue_oldest_seconds', 86_400),
  PostriderIsBlocked: [
    {
      what: 'one group of two',
      series: {
        ...attempts({ delivered: 90, 'bounced block': 10 }, 'big.example'),
        ...attempts({ delivered: 95, 'bounced block': 5, 'deferred soft': 100 }, 'other'),
      },
      fires: [{ mx_group: 'big.example' }],
    },
  ],
  PostriderBouncesHard: [
    { what: '6 %', series: attempts({ delivered: 94, 'bounced hard': 6 }), fires: [A] },
    { what: '5 %', series: attempts({ delivered: 95, 'bounced hard': 5, 'bounced block': 90 }) },
  ],
  PostriderHoldsMailWithoutRoute: above('postrider_no_route_held', 0),
  PostriderCertificateIsNotRenewed: [
    {
      what: 'six days left',
      series: { [named('postrider_certificate_expiry_seconds', { names: 'a.test' })]: steady(6 * 86_400) },
      fires: [{ names: 'a.test' }],
      atMinute: CERTIFICATES_AT_MINUTE,
    },
    {
      what: 'none for an hour after the first start',
      series: { [named('postrider_certificate_expiry_seconds', { names: 'a.test' })]: `0+0x60 7776000+0x${MINUTES}` },
      atMinute: CERTIFICATES_AT_MINUTE,
    },
  ],
  PostriderServiceMailInTrouble: above('postrider_service_mail_in_trouble', 0),
  PostriderDoubtsReceivers: above('postrider_doubted_receivers', 0),
  PostriderApiFails: [
    { what: '2 %', series: calls({ 202: 98, 500: 1, 503: 1 }), fires: [A] },
    { what: '1 %, and 429', series: calls({ 202: 50, 429: 49, 500: 1 }) },
  ],
  PostriderDiskIsSlow: [
    { what: 'two in a hundred', series: commits(100, 98), fires: [A] },
    { what: 'one in a thousand', series: commits(1000, 999) },
  ],
  PostriderMainThreadIsLate: [
    ...above('postrider_event_loop_delay_seconds', 0.25, { percentile: '99' }),
    { what: 'the maximum', series: { 'postrider_event_loop_delay_seconds{percentile="100"}': steady(3) } },
  ],
  PostriderWebhooksLag: above('postrider_webhook_lag_seconds', 300),
  PostriderSubmissionFails: [
    { what: '2 %', series: outcomes(MAILS, { accepted: 98, fault: 1, no_room: 1 }), fires: [A] },
    { what: '1 %, and what applications do', series: outcomes(MAILS, { accepted: 50, malformed: 49, fault: 1 }) },
  ],
  PostriderSubmissionIsFull: [
    { what: 'refused', series: outcomes(CONNECTIONS, { accepted: 10, refused: 1 }), fires: [A] },
    { what: 'no more', series: outcomes(CONNECTIONS, { accepted: 10, refused: 0 }) },
  ],
  PostriderSubmissionLoginsFail: [
    { what: 'most', series: outcomes(LOGINS, { accepted: 4, wrong_key: 3, throttled: 3 }), fires: [A] },
    { what: 'half', series: outcomes(LOGINS, { accepted: 5, wrong_key: 5 }) },
  ],
};

const rules = readAlerts();

function filled(text: string, labels: Record<string, string>): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');
}

function testOf(alert: string, { series, fires = [], atMinute = AT_MINUTE }: Case) {
  const { labels, annotations } = rules.find((rule) => rule.alert === alert)!;
  const expected = fires.map((own) => ({
    exp_labels: { ...own, ...labels },
    exp_annotations: { summary: filled(annotations.summary, own), todo: filled(annotations.todo, own) },
  }));
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: `${atMinute}m`, alertname: alert, exp_alerts: expected }],
  };
}

t.test('the rules are in order', { skip }, async (t) => {
  t.match(promtool(['check', 'rules', ALERTS_FILE]), { status: 0, said: /SUCCESS/ });
});

t.test('each rule has series that fire, and series that do not', async (t) => {
  t.same(Object.keys(CASES), [...rules.map(({ alert }) => alert)]);
  for (const [alert, cases] of Object.entries(CASES)) {
    t.ok(
      cases.some(({ fires }) => fires),
      `${alert} fires`,
    );
    t.ok(
      cases.some(({ fires, series }) => !fires || Object.keys(series).length > fires.length),
      `${alert} rests`,
    );
  }
});

t.test('they fire when they should', { skip }, async (t) => {
  const folder = testFolder(t);
  for (const [alert, cases] of Object.entries(CASES)) {
    for (const one of cases) {
      const file = path.join(folder, 'case.yaml');
      const tests = [testOf(alert, one)];
      // JSON is YAML.
      fs.writeFileSync(file, JSON.stringify({ rule_files: [ALERTS_FILE], evaluation_interval: '1m', tests }));
      t.match(promtool(['test', 'rules', file]), { status: 0, said: /SUCCESS/ }, `${alert}: ${one.what}`);
    }
  }
});
