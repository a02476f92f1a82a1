// What others publish in DNS and over HTTPS about their domains, as text: SPF, DKIM, DMARC, MTA-STS.
import { checkDkimRecord } from '../../../src/protocol/dns/published/dkim-record.ts';
import { dmarcProblem, isMeantAsDmarc } from '../../../src/protocol/dns/published/dmarc-record.ts';
import { announcedPolicyId, namesMxHost, parsePolicy } from '../../../src/protocol/dns/published/mta-sts.ts';
import { isSpfRecord, parseSpfRecord } from '../../../src/protocol/dns/published/spf-record.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzTarget, seedLines } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const WORDS = [
  ...[
    ';',
    '; ',
    '=',
    ' ',
    '  ',
    '\t',
    '\r\n',
    '\n',
    '\0',
    'v=spf1',
    'v=DMARC1',
    'v=DKIM1',
    'v=STSv1',
    'version: STSv1\n',
    ':',
    ',',
  ],
  ...[
    'include:',
    'redirect=',
    '-all',
    '%{i}',
    '/24',
    '//64',
    'p=',
    'p=;',
    'k=ed25519',
    't=y',
    'mx: *.',
    'mx: *\n',
    'max_age: -1\n',
  ],
  ...[
    'max_age: 1e9\n',
    'mode: enforce\n',
    'sp=',
    'pct=101',
    'rua=mailto:',
    '__proto__=1',
    '*',
    '\u0130',
    '\ud800',
    '\xff',
  ],
];
const LONG_WORDS = [
  ' '.repeat(20_000),
  ';'.repeat(20_000),
  'include:a '.repeat(5_000),
  'a='.repeat(20_000),
  'mx: a\n'.repeat(5_000),
];

export const publishedRecordsTarget: FuzzTarget = {
  name: 'published-records',
  open() {
    const material: Material = { seeds: seedLines('published-records.jsonl'), words: WORDS, longWords: LONG_WORDS };
    const reached = { spf: 0, dmarc: 0, 'dkim key': 0, 'mta-sts policy': 0, 'mta-sts id': 0 };
    return {
      reached,
      mutate: (random: SeededRandom) => mutateText(material, random),
      run(text: string) {
        if (isSpfRecord(text)) {
          reached.spf++;
          parseSpfRecord(text);
        }
        if (checkDkimRecord(text, 'MIIBIjANBgkqhkiG9w0B').kind === 'ok') reached['dkim key']++;
        if (isMeantAsDmarc(text)) reached.dmarc++;
        if (isMeantAsDmarc(text) && dmarcProblem(text) === '') return 'a problem without words';
        if (announcedPolicyId([text]) !== null) reached['mta-sts id']++;
        const read = parsePolicy(text);
        if (!read.ok) return read.reason === '' ? 'refused without a reason' : null;
        reached['mta-sts policy']++;
        namesMxHost(read.policy.mx, 'mx.example.com');
        return null;
      },
    };
  },
};
