// TLS reports: whatever the JSON holds, what is said of it is short, and its numbers are counts.
import { readTlsReport } from '../../../src/protocol/mail/reports/tls-report.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const SUMMARY = '{"total-successful-session-count":12,"total-failure-session-count":3}';
const POLICY = `{"policy":{"policy-type":"sts","policy-domain":"acme.test"},"summary":${SUMMARY}}`;
const SEEDS = [
  `{"organization-name":"Big","report-id":"1","policies":[${POLICY},${POLICY.replace('acme', 'other')}]}`,
  `\ufeff{"report-id":"2","policies":[{"policy":{},"summary":{}},null,[],1]}`,
];
const WORDS = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', '\0', '\ud800', 'null', '-1', '1e400', '9007199254740993'],
  ...['"policies":{}', '"__proto__":{}', '"policy":5', '"report-id":', '"policy-domain":"', 'x'.repeat(300)],
];
const LONG_WORDS = ['['.repeat(50_000), `${POLICY},`.repeat(500), '"'.repeat(20_000)];
const MOST_CHARACTERS = 200;
const MOST_DOMAINS = 20;

export const tlsReportTarget: FuzzTarget = {
  name: 'tls-report',
  open() {
    const material: Material = { seeds: SEEDS, words: WORDS, longWords: LONG_WORDS };
    const reached = { read: 0, 'none of the kind': 0 };
    return {
      mutate: (random: SeededRandom) => mutateText(material, random),
      reached,
      run(text: string) {
        const report = readTlsReport(text);
        reached[report ? 'read' : 'none of the kind']++;
        if (report === null) return null;
        const { orgName, domains, succeeded, failed } = report;
        if (domains.length > MOST_DOMAINS) return `${domains.length} domains`;
        const long = [orgName, ...domains].find((name) => name.length > MOST_CHARACTERS);
        if (long !== undefined) return `a name of ${long.length} characters`;
        return [succeeded, failed].every((count) => Number.isFinite(count) && count >= 0) ? null : 'no count';
      },
    };
  },
};
