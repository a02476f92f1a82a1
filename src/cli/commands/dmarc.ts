// dmarc list | show: what receivers' aggregate reports say about domains, summed up.
import { DAY_MS } from '../../base/clock.ts';
import { done } from '../../operator/answer.ts';
import type { DmarcPeriod, DmarcReporterSum, DmarcSums } from '../../store/dmarc.ts';
import { storeCommand } from '../command.ts';
import { domainName, positional, required, wholeNumber } from '../option.ts';
import { type Column, renderFacts, renderTable } from '../table.ts';

const DEFAULT_DAYS = 30;
const DEFAULT_LIMIT = 100;
const days = wholeNumber('N', { min: 1, max: 400 }, `of the last N days; default: ${DEFAULT_DAYS}`);

export const dmarcList = storeCommand({
  name: 'dmarc list',
  summary: 'Lists domains with DMARC reports: how many messages passed, failed, were quarantined or rejected.',
  options: {
    days,
    after: domainName('start after this domain'),
    limit: wholeNumber('N', { min: 1, max: 1000 }, `maximum number of entries; default: ${DEFAULT_LIMIT}`),
  },
  async run({ store, clock }, { days: span, after, limit = DEFAULT_LIMIT }) {
    const period = periodOf(clock.now(), span);
    const { domains, next } = await store.dmarc.listDmarcDomains(period, { after: after ?? null, limit });
    return done({
      ...shownPeriod(period),
      domains: domains.map(({ domain, unprovenMessages, ...sums }) => ({
        domain,
        ...shown(sums),
        unverified_messages: unprovenMessages,
      })),
      next,
    });
  },
  render({ domains, next }) {
    const more = next === null ? [] : ['', `More follow: --after ${next}`];
    return [renderTable(domains, DOMAIN_COLUMNS, 'No reports.'), ...more].join('\n');
  },
});

export const dmarcShow = storeCommand({
  name: 'dmarc show',
  summary: 'Shows what DMARC reports say about a domain: its sources (most failures first) and the figures per day.',
  options: {
    domain: required(positional(domainName('the domain of the From field'))),
    days,
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `maximum number of sources; default: ${DEFAULT_LIMIT}`),
  },
  async run({ store, clock }, { domain, days: span, limit = DEFAULT_LIMIT }) {
    const period = periodOf(clock.now(), span);
    const report = await store.dmarc.sumDmarc(domain, period, limit);
    return done({
      domain,
      ...shownPeriod(period),
      ...shown(report.total),
      reporters: report.reporters.map(shownReporter),
      unverified: { ...shown(report.unproven.total), reporters: report.unproven.reporters.map(shownReporter) },
      sources: report.sources.map(({ sourceIp, ...sums }) => ({ source_ip: sourceIp, ...shown(sums) })),
      source_count: report.sourceCount,
      days: report.days.map(({ day, ...sums }) => ({ day, ...shown(sums) })),
    });
  },
  render({
    domain,
    first_day,
    last_day,
    messages,
    passed,
    reporters,
    unverified,
    sources,
    source_count: all,
    days: each,
  }) {
    const left = all > sources.length ? ['', `Showing ${sources.length} of ${all} sources.`] : [];
    return [
      renderFacts([
        ['domain', domain],
        ['days', `${first_day} to ${last_day}`],
        ['messages', messages],
        ['passed', passed],
        ['reported by', reporters.map(({ org_name, sender }) => `${org_name} (${sender})`).join(', ') || null],
        [
          'unverified',
          unverified.messages > 0 ? `${unverified.messages} messages in reports whose sender is not proven` : null,
        ],
      ]),
      '',
      renderTable(sources, SOURCE_COLUMNS, 'No reports.'),
      ...left,
      '',
      renderTable(each, DAY_COLUMNS, ''),
    ].join('\n');
  },
});

function periodOf(now: number, span = DEFAULT_DAYS): DmarcPeriod {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { firstDay: dayOf(now - (span - 1) * DAY_MS), lastDay: dayOf(now) };
}

function shownPeriod({ firstDay, lastDay }: DmarcPeriod) {
  return { first_day: firstDay, last_day: lastDay };
}

function shownReporter({ orgName, sender, messages }: DmarcReporterSum) {
  return { org_name: orgName, sender, messages };
}

function shown({ messages, passed, dkimPassed, spfPassed, quarantined, rejected }: DmarcSums) {
  const failed = messages - passed;
  return { messages, passed, failed, dkim_passed: dkimPassed, spf_passed: spfPassed, quarantined, rejected };
}

type Sums = ReturnType<typeof shown>;

const SUM_COLUMNS: Column<Sums>[] = [
  { title: 'MESSAGES', value: (each) => each.messages },
  { title: 'PASSED', value: (each) => each.passed },
  { title: 'FAILED', value: (each) => each.failed },
  { title: 'DKIM', value: (each) => each.dkim_passed },
  { title: 'SPF', value: (each) => each.spf_passed },
  { title: 'QUARANTINED', value: (each) => each.quarantined },
  { title: 'REJECTED', value: (each) => each.rejected },
];

const DOMAIN_COLUMNS: Column<Sums & { domain: string; unverified_messages: number }>[] = [
  { title: 'DOMAIN', value: (each) => each.domain },
  ...SUM_COLUMNS,
  { title: 'UNVERIFIED', value: (each) => each.unverified_messages },
];

const SOURCE_COLUMNS: Column<Sums & { source_ip: string }>[] = [
  { title: 'SOURCE', value: (each) => each.source_ip },
  ...SUM_COLUMNS,
];

const DAY_COLUMNS: Column<Sums & { day: string }>[] = [{ title: 'DAY', value: (each) => each.day }, ...SUM_COLUMNS];
