// Conformance: sums of DMARC reports per domain, day, source and reporter.
import type { Test } from 'tap';
import type { DmarcDayRow } from '../../../src/store/inbound.ts';
import { type Bench, T0 } from './harness.ts';

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
      { orgName: 'big', messages: 102 },
      { orgName: 'small', messages: 2 },
    ]);
    const nothing = await bench.store.sumDmarc('nowhere.test', NOVEMBER, 2);
    t.strictSame(nothing, { total: sums({}), days: [], sources: [], sourceCount: 0, reporters: [] });
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
          ...sums({ messages: 2, passed: 2, dkimPassed: 2, spfPassed: 2 }),
        },
        { domain: 'b.test', firstDay: '2026-11-02', lastDay: '2026-11-02', ...sums({ messages: 2 }) },
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
};

function row(change: Partial<DmarcDayRow>): DmarcDayRow {
  const usual = { domain: 'acme.test', day: '2026-11-02', orgName: 'big', sourceIp: '192.0.2.1' };
  return { ...usual, disposition: 'none', dkim: 'pass', spf: 'pass', messages: 1, ...change };
}

function sums(change: object) {
  return { messages: 0, passed: 0, dkimPassed: 0, spfPassed: 0, quarantined: 0, rejected: 0, ...change };
}

async function store(bench: Bench, rows: DmarcDayRow[]): Promise<void> {
  const mail = {
    ...{ id: bench.id(), receivedAt: T0, remoteIp: '192.0.2.1', ehloName: 'mx.test', tls: null, mailFrom: '' },
    ...{ recipients: ['dmarc@bounces.test'], content: Buffer.from('a report') },
  };
  await bench.store.keepInbound(mail);
  const { seq } = (await bench.store.waitingInbound(0, 100)).at(-1)!;
  const report = { domain: 'acme.test', orgName: 'big', reportId: mail.id, beginsAt: T0, endsAt: T0, policy: {}, rows };
  const verdict = {
    kind: 'dmarc',
    effect: 'stored',
    reason: 'r',
    digest: null,
    messageId: null,
    tenantId: null,
  } as const;
  await bench.store.recordInbound({
    seq,
    at: T0,
    verdict: { ...verdict, finding: {} },
    action: { do: 'dmarc', report },
  });
}
