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
    const report = await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 2);
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
    const nothing = await bench.store.dmarc.sumDmarc('nowhere.test', NOVEMBER, 2);
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
    const first = await bench.store.dmarc.listDmarcDomains(NOVEMBER, { after: null, limit: 2 });
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
    const second = await bench.store.dmarc.listDmarcDomains(NOVEMBER, { after: first.next, limit: 2 });
    t.same(
      second.domains.map(({ domain }) => domain),
      ['c.test'],
    );
    t.equal(second.next, null);
    t.strictSame(await bench.store.dmarc.dmarcSumsOf(['b.test', 'aa.test', 'x.test'], NOVEMBER), [first.domains[1]]);
  },

  'reports without a proven sender are in no sum but their own': async (t: Test, bench: Bench) => {
    await store(bench, [
      row({ messages: 5 }),
      row({ messages: 70, sender: null, dkim: 'fail', spf: 'fail' }),
      row({ messages: 3, sender: null, domain: 'forged.test', day: '2026-11-03' }),
    ]);
    const report = await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 10);
    t.match(report, { total: { messages: 5 }, sourceCount: 1, days: [{ messages: 5 }] });
    t.strictSame(report.reporters, [{ orgName: 'big', sender: 'big.test', messages: 5 }]);
    const reporters = [{ orgName: 'big', sender: null, messages: 70 }];
    t.strictSame(report.unproven, { total: sums({ messages: 70 }), reporters });
    const { domains } = await bench.store.dmarc.listDmarcDomains(NOVEMBER, { after: null, limit: 10 });
    t.match(domains, [
      { domain: 'acme.test', messages: 5, unprovenMessages: 70 },
      { domain: 'forged.test', messages: 0, unprovenMessages: 3, lastDay: '2026-11-03' },
    ]);
    t.strictSame((await bench.store.dmarc.sumDmarc('forged.test', NOVEMBER, 10)).days, []);
  },

  'rows per domain and day are bounded, apart for reports without a proven sender': async (t: Test, bench: Bench) => {
    const limits = { ...LIMITS, rowsPerDomainAndDay: 8, largeReporters: ['big.test'] };
    const rows = (...ends: number[]) => ends.map((end) => row({ sourceIp: `192.0.2.${end}` }));
    t.strictSame(await report(bench, { sender: null, rows: rows(1, 2, 3) }, limits), { effect: 'stored', reason: 'r' });
    const folded = await report(bench, { sender: null, rows: rows(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) }, limits);
    t.match(folded, {
      effect: 'stored',
      reason: /^r; 3 sources are summed up, since the 8 rows for .*without a proven sender on acme\.test .*used up/,
    });
    t.match(await report(bench, { sender: null, rows: rows(11) }, limits), { effect: 'stored' }, 'into the sum');
    const stranger = await report(bench, { sender: null, orgName: 'another', rows: rows(12) }, limits);
    t.match(stranger, { effect: 'none', reason: /^the 8 rows .* are used up \(dmarc\.max_rows_per_domain_and_day\)/ });
    t.match(await report(bench, { rows: rows(1, 2, 3, 4, 5, 6, 7) }, limits), { effect: 'stored', reason: 'r' });
    t.match(await report(bench, { rows: rows(7, 8, 9) }, limits), {
      effect: 'stored',
      reason: /^r; 2 sources are summed/,
    });
    const other = row({ day: '2026-11-03' });
    t.match(
      await report(bench, { rows: [other] }, limits),
      { effect: 'stored', reason: 'r' },
      'another day has its own',
    );
    const { total, unproven } = await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 10);
    t.match([total, unproven.total], [{ messages: 11 }, { messages: 14 }], 'no message is lost');
    t.equal(
      (await bench.store.inbound.listDmarcDays('acme.test', { since: '2026-11-02', limit: 100 })).length,
      8 + 8 + 1,
    );
  },

  'one proven sender has a quarter of the rows, and three quarters are for all but the large ones': async (
    t: Test,
    bench: Bench,
  ) => {
    const limits = { ...LIMITS, rowsPerDomainAndDay: 80, largeReporters: ['big.test'] };
    const rows = Array.from({ length: 40 }, (_, end) => row({ sourceIp: `192.0.2.${end}` }));
    const from = (name: string) =>
      report(bench, { rows, sender: `a.${name}`, organization: name, orgName: name }, limits);
    for (const name of ['one.test', 'two.test', 'three.test']) {
      const { effect, reason } = await from(name);
      t.equal(effect, 'stored');
      t.match(reason, /^r; 2[34] sources are summed up, since the 20 rows for reports by \w+\.test on acme\.test /);
    }
    t.match(await from('four.test'), { effect: 'stored', reason: /since the 60 rows for reports by senders that/ });
    t.match(await from('big.test'), { effect: 'stored', reason: 'r' });
    t.equal((await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 10)).total.messages, 200, 'no message is lost');
    const another = { sender: 'b.one.test', organization: 'one.test', orgName: 'x' };
    for (let count = 0; count < 3; count++) await report(bench, { ...another, rows, orgName: `x${count}` }, limits);
    const last = await report(bench, { ...another, rows }, limits);
    t.match(last, { effect: 'none', reason: /rows for reports by .*one\.test/ }, 'by whatever name');
  },

  'what comes in on one day is bounded: half for unproven senders, an eighth for one that is': async (
    t: Test,
    bench: Bench,
  ) => {
    const limits = { ...LIMITS, bytesPerDay: 40_000, largeReporters: ['big.test'] };
    const until = async (sender: string | null) => {
      for (let stored = 0; ; stored++) {
        const rows = Array.from({ length: 4 }, (_, end) => row({ sourceIp: `192.0.2.${end}` }));
        const { effect, reason } = await report(bench, { sender, organization: sender, rows }, limits);
        if (effect !== 'stored') return { stored, reason };
      }
    };
    const unproven = await until(null);
    t.match(unproven.reason, /^reports without a proven sender have taken their 20000 bytes .*dmarc\.max_mib_per_day/);
    const small = await until('small.test');
    t.match(small.reason, /^reports by small\.test have taken their 5000 bytes of this day/);
    await until('second.test');
    const third = await until('third.test');
    t.match(third.reason, /^reports by senders that are not in dmarc\.large_reporters have taken their 30000 bytes/);
    const large = await until('big.test');
    t.match(large.reason, /^all reports have taken their 40000 bytes of this day \(dmarc\.max_mib_per_day\)/);
    t.ok(unproven.stored > 10 && small.stored > 2 && large.stored > small.stored);
    t.match(await report(bench, {}, limits, T0 + DAY_MS), { effect: 'stored' }, 'the next day');
  },

  'when the bytes of a sender are used up, its sources are summed up at first': async (t: Test, bench: Bench) => {
    const limits = { ...LIMITS, bytesPerDay: 80_000 };
    const rows = Array.from({ length: 60 }, (_, end) => row({ sourceIp: `192.0.2.${end}` }));
    t.match(await report(bench, { rows }, limits), { effect: 'stored', reason: 'r' });
    const reason = /^r; 60 sources are summed up, since reports by big\.test have taken their 10000 bytes/;
    t.match(await report(bench, { rows }, limits), { effect: 'stored', reason });
    t.equal((await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 100)).total.messages, 120);
  },

  'no sum of counts goes beyond what is believed': async (t: Test, bench: Bench) => {
    for (let n = 0; n < 3; n++) await report(bench, { rows: [row({ messages: 999_999_999 })] });
    t.match((await bench.store.dmarc.sumDmarc('acme.test', NOVEMBER, 10)).total, { messages: 1_000_000_000 });
  },

  'old days are let go of with their reporters, in slices': async (t: Test, bench: Bench) => {
    const rows = Array.from({ length: 25 }, (_, end) => row({ sourceIp: `192.0.2.${end}` }));
    await store(bench, rows);
    await store(bench, [row({ day: '2026-11-20', orgName: 'small' })]);
    const before = { content: 0, records: Date.parse('2026-11-10T00:00:00Z') };
    const first = await bench.store.inbound.forgetInbound(before, 10);
    t.ok(first > 0 && first <= 40, `${first} at once`);
    t.equal((await bench.store.inbound.listDmarcDays('acme.test', { since: '2026-01-01', limit: 100 })).length, 16);
    while ((await bench.store.inbound.forgetInbound(before, 10)) > 0);
    const left = await bench.store.inbound.listDmarcDays('acme.test', { since: '2026-01-01', limit: 100 });
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

const LIMITS = { rowsPerDomainAndDay: 1000, bytesPerDay: 1e9, largeReporters: [] as string[] };

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
  await bench.store.inbound.keepInbound(mail);
  const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 1000)).at(-1)!;
  const { sender = 'big.test' } = change;
  const usual = {
    organization: sender,
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
  const result = await bench.recordInbound({ seq, at, verdict, action });
  if (result.kind !== 'recorded') throw new Error(`it was not recorded: ${result.why}`);
  const { effect, reason } = result;
  return { effect, reason };
}
