// Conformance: sums of DMARC reports per domain, day, source and reporter.
import type { Test } from 'tap';
import type { DmarcReportRecord, DmarcReportRow, InboundAction } from '../../../src/store/inbound.ts';
import { type Bench, T0 } from './harness.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const NOVEMBER = { firstDay: '2026-11-01', lastDay: '2026-11-30' };

export const dmarcCases = {
  'a domain is summed up by day and by source, the worst source first': async (t: Test, bench: Bench) => {
    await store(bench, [
      row({ sourceIp: '192.0.2.1', messages: 90 }),
      row({ sourceIp: '192.0.2.1', messages: 5, dkim: 'fail' }),
      row({ sourceIp: '198.51.100.7', messages: 4, dkim: 'fail', spf: 'fail', disposition: 'quarantine' }),
      row({
        sourceIp: '198.51.100.7',
        messages: 3,
        dkim: 'fail',
        spf: 'fail',
        disposition: 'reject',
        day: '2026-11-03',
      }),
      row({ sourceIp: '203.0.113.9', messages: 2, spf: 'fail', orgName: 'small', day: '2026-11-03' }),
      row({ messages: 1000, day: '2026-10-31' }),
      row({ messages: 1000, day: '2026-12-01' }),
      row({ messages: 1000, domain: 'other.test' }),
    ]);
    const report = await bench.store.sumDmarc('acme.test', NOVEMBER, 2);
    t.strictSame(
      report.total,
      sums({ messages: 104, passed: 97, dkimPassed: 92, spfPassed: 95, quarantined: 4, rejected: 3 }),
    );
    t.strictSame(report.days, [
      { day: '2026-11-02', ...sums({ messages: 99, passed: 95, dkimPassed: 90, spfPassed: 95, quarantined: 4 }) },
      { day: '2026-11-03', ...sums({ messages: 5, passed: 2, dkimPassed: 2, rejected: 3 }) },
    ]);
    t.equal(report.sourceCount, 3);
    t.strictSame(report.sources, [
      {
        ...{ sourceIp: '198.51.100.7', firstDay: '2026-11-02', lastDay: '2026-11-03' },
        ...sums({ messages: 7, quarantined: 4, rejected: 3 }),
      },
      {
        ...{ sourceIp: '192.0.2.1', firstDay: '2026-11-02', lastDay: '2026-11-02' },
        ...sums({ messages: 95, passed: 95, dkimPassed: 90, spfPassed: 95 }),
      },
    ]);
    t.strictSame(report.reporters, [
      { orgName: 'big', sender: 'big.test', messages: 102 },
      { orgName: 'small', sender: 'big.test', messages: 2 },
    ]);
    const nothing = await bench.store.sumDmarc('nowhere.test', NOVEMBER, 2);
    t.strictSame(nothing, {
      total: sums({}),
      days: [],
      sources: [],
      sourceCount: 0,
      reporters: [],
      unproven: { total: sums({}), reporters: [] },
    });
  },

  'domains are listed by name, page by page, those without reports in the period left out': async (
    t: Test,
    bench: Bench,
  ) => {
    await store(bench, [
      row({ domain: 'b.test', messages: 2, spf: 'fail', dkim: 'fail' }),
      row({ domain: 'a.test', messages: 1 }),
      row({ domain: 'a.test', messages: 1, day: '2026-11-20' }),
      row({ domain: 'aa.test', messages: 1, day: '2026-09-20' }),
      row({ domain: 'c.test', messages: 3 }),
    ]);
    const first = await bench.store.listDmarcDomains(NOVEMBER, { after: null, limit: 2 });
    t.strictSame(first, {
      domains: [
        {
          ...{ domain: 'a.test', firstDay: '2026-11-02', lastDay: '2026-11-20' },
          ...{ ...sums({ messages: 2, passed: 2, dkimPassed: 2, spfPassed: 2 }), unprovenMessages: 0 },
        },
        {
          domain: 'b.test',
          firstDay: '2026-11-02',
          lastDay: '2026-11-02',
          ...sums({ messages: 2 }),
          unprovenMessages: 0,
        },
      ],
      next: 'b.test',
    });
    const second = await bench.store.listDmarcDomains(NOVEMBER, { after: first.next, limit: 2 });
    t.same(
      second.domains.map(({ domain }) => domain),
      ['c.test'],
    );
    t.equal(second.next, null);
    t.strictSame(await bench.store.dmarcSumsOf(['b.test', 'aa.test', 'x.test'], NOVEMBER), [first.domains[1]]);
  },

  'reports without a proven sender are in no sum but their own': async (t: Test, bench: Bench) => {
    await store(bench, [
      row({ messages: 5 }),
      row({ messages: 70, sender: null, dkim: 'fail', spf: 'fail' }),
      row({ messages: 3, sender: null, domain: 'forged.test', day: '2026-11-03' }),
    ]);
    const report = await bench.store.sumDmarc('acme.test', NOVEMBER, 10);
    t.match(report, { total: { messages: 5 }, sourceCount: 1, days: [{ messages: 5 }] });
    t.strictSame(report.reporters, [{ orgName: 'big', sender: 'big.test', messages: 5 }]);
    const reporters = [{ orgName: 'big', sender: null, messages: 70 }];
    t.strictSame(report.unproven, { total: sums({ messages: 70 }), reporters });
    const { domains } = await bench.store.listDmarcDomains(NOVEMBER, { after: null, limit: 10 });
    t.match(domains, [
      { domain: 'acme.test', messages: 5, unprovenMessages: 70 },
      { domain: 'forged.test', messages: 0, unprovenMessages: 3, lastDay: '2026-11-03' },
    ]);
    t.strictSame((await bench.store.sumDmarc('forged.test', NOVEMBER, 10)).days, []);
  },

  'rows per domain and day are bounded, apart for reports without a proven sender': async (t: Test, bench: Bench) => {
    const limits = { ...LIMITS, rowsPerDomainAndDay: 3 };
    const rows = (...ends: number[]) => ends.map((end) => row({ sourceIp: `192.0.2.${end}` }));
    t.match(await report(bench, { sender: null, rows: rows(1, 2) }, limits), { effect: 'stored' });
    const refused = await report(bench, { sender: null, rows: rows(3, 4) }, limits);
    t.match(refused, {
      effect: 'none',
      reason: /^acme\.test would have 4 rows .* at most 3 .*max_rows_per_domain_and_day/,
    });
    t.match(await report(bench, { rows: rows(1, 2, 3) }, limits), { effect: 'stored' });
    t.match(await report(bench, { rows: rows(4) }, limits), { effect: 'none' });
    const other = row({ day: '2026-11-03' });
    t.match(await report(bench, { rows: [other] }, limits), { effect: 'stored' }, 'another day has its own');
    t.match((await bench.store.sumDmarc('acme.test', NOVEMBER, 10)).total, { messages: 4 });
  },

  'what comes in on one day is bounded, and half of it is for proven senders': async (t: Test, bench: Bench) => {
    const limits = { ...LIMITS, bytesPerDay: 8000 };
    const until = async (sender: string | null) => {
      for (let stored = 0; ; stored++) {
        const { effect, reason } = await report(bench, { sender }, limits);
        if (effect !== 'stored') return { stored, reason };
      }
    };
    const unproven = await until(null);
    t.match(unproven.reason, /without a proven sender have taken their 4000 bytes, half of dmarc\.max_mib_per_day/);
    const proven = await until('big.test');
    t.match(proven.reason, /have taken their 8000 bytes \(dmarc\.max_mib_per_day\)/);
    t.ok(unproven.stored > 2 && proven.stored >= unproven.stored, `${unproven.stored} and ${proven.stored}`);
    t.match(await report(bench, {}, limits, T0 + DAY_MS), { effect: 'stored' }, 'the next day');
  },

  'no sum of counts goes beyond what is believed': async (t: Test, bench: Bench) => {
    for (let n = 0; n < 3; n++) await report(bench, { rows: [row({ messages: 999_999_999 })] });
    t.match((await bench.store.sumDmarc('acme.test', NOVEMBER, 10)).total, { messages: 1_000_000_000 });
  },

  'old days are let go of with their reporters, in slices': async (t: Test, bench: Bench) => {
    const rows = Array.from({ length: 25 }, (_, end) => row({ sourceIp: `192.0.2.${end}` }));
    await store(bench, rows);
    await store(bench, [row({ day: '2026-11-20', orgName: 'small' })]);
    const before = { content: 0, records: Date.parse('2026-11-10T00:00:00Z') };
    const first = await bench.store.forgetInbound(before, 10);
    t.ok(first > 0 && first <= 40, `${first} at once`);
    t.equal((await bench.store.listDmarcDays('acme.test', { since: '2026-01-01', limit: 100 })).length, 16);
    while ((await bench.store.forgetInbound(before, 10)) > 0);
    const left = await bench.store.listDmarcDays('acme.test', { since: '2026-01-01', limit: 100 });
    t.match(left, [{ day: '2026-11-20', orgName: 'small', sender: 'big.test' }]);
    t.match(await report(bench, { rows, reportId: '1' }), { effect: 'stored' }, 'they may report again');
  },
};

interface ReportedRow extends DmarcReportRow {
  orgName: string;
  sender: string | null;
}

function row(change: Partial<ReportedRow>): ReportedRow {
  const usual = { domain: 'acme.test', day: '2026-11-02', orgName: 'big', sender: 'big.test', sourceIp: '192.0.2.1' };
  return { ...usual, disposition: 'none', dkim: 'pass', spf: 'pass', messages: 1, ...change };
}

function sums(change: object) {
  return { messages: 0, passed: 0, dkimPassed: 0, spfPassed: 0, quarantined: 0, rejected: 0, ...change };
}

const LIMITS = { rowsPerDomainAndDay: 1000, bytesPerDay: 1e9 };

/** As one report of each reporter. */
async function store(bench: Bench, rows: ReportedRow[]): Promise<void> {
  for (const of of new Set(rows.map(({ orgName, sender }) => `${orgName} ${sender}`))) {
    const own = rows.filter(({ orgName, sender }) => `${orgName} ${sender}` === of);
    const { orgName, sender } = own[0]!;
    const result = await report(bench, { orgName, sender, rows: own });
    if (result.effect !== 'stored') throw new Error(result.reason);
  }
}

async function report(bench: Bench, change: Partial<DmarcReportRecord>, limits = LIMITS, at = T0) {
  const mail = {
    ...{ id: bench.id(), receivedAt: at, remoteIp: '192.0.2.1', ehloName: 'mx.test', tls: null, mailFrom: '' },
    ...{ recipients: ['dmarc@bounces.test'], content: Buffer.from('a report') },
  };
  await bench.store.keepInbound(mail);
  const { seq } = (await bench.store.waitingInbound(0, 1000)).at(-1)!;
  const usual = {
    domain: 'acme.test',
    orgName: 'big',
    sender: 'big.test',
    reportId: mail.id,
    beginsAt: T0,
    endsAt: T0,
  };
  const verdict = {
    ...({ kind: 'dmarc', effect: 'stored', reason: 'r', digest: null, messageId: null, tenantId: null } as const),
    finding: {},
  };
  const action: InboundAction = { do: 'dmarc', report: { ...usual, policy: {}, rows: [row({})], ...change }, limits };
  return bench.store.recordInbound({ seq, at, verdict, action });
}
