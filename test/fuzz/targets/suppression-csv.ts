// Lists of addresses that people bring along: read in turns or at once with the same outcome, quickly, and
// what was read is the same after it was written and read again.
import {
  csvLine,
  lineSentence,
  readSuppressionCsv,
  TENANT_COLUMNS,
  tenantCsvLine,
} from '../../../src/suppression/csv.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const SEEDS = [
  'address,reason,created_at\r\njo@x.test,complaint,2026-01-31T14:30:00Z\r\n"""q, r"""@x.test,,\r\n',
  'jo@x.test\nann@y.test\n=1+1@x.test\n',
  '\ufeffEmail;Reason\nJO@X.test;Complaint\n\n;\n',
  "address\n'=cmd|'/c'!a0@x.test\n''+1@x.test\n-1@x.test\n",
];
const WORDS = [
  ...[
    '"',
    '""',
    ',',
    ';',
    '\n',
    '\r',
    '\r\n',
    "'",
    "'=",
    '=',
    '+',
    '-',
    '@',
    '\t',
    ' ',
    '\0',
    '\ufeff',
    'ü',
    '\ud800',
    '\uff1d',
  ],
  ...['address', 'reason', 'created_at', 'hard_bounce', 'jo@x.test', '__proto__', '9999-12-31', '-1', 'x'.repeat(400)],
];
const LONG_WORDS = [
  ','.repeat(20_000),
  '"'.repeat(20_000),
  '\n'.repeat(20_000),
  'a'.repeat(20_000),
  "'".repeat(20_000),
];
const DEFAULTS = { reason: 'manual', now: Date.UTC(2026, 0, 31), bareLists: true } as const;
/** Of a sentence about a line. */
const MOST_CHARS = 1000;

export const suppressionCsvTarget: FuzzTarget = {
  name: 'suppression-csv',
  open() {
    const material: Material = { seeds: SEEDS, words: WORDS, longWords: LONG_WORDS };
    const reached = { entries: 0, nothing: 0 };
    return {
      mutate: (random: SeededRandom) => mutateText(material, random),
      reached,
      run(text: string) {
        const { entries, problems } = readSuppressionCsv(text, DEFAULTS);
        reached[entries.length > 0 ? 'entries' : 'nothing']++;
        const long = problems.map(lineSentence).find(({ length }) => length > MOST_CHARS);
        if (long !== undefined) return `a sentence of ${long.length} characters`;
        const written = [csvLine(TENANT_COLUMNS), ...entries.map(tenantCsvLine)];
        const formula = written.find((line) => /^"?[=+\-@\t\r]/.test(line) && !line.startsWith('"@'));
        if (formula !== undefined && !formula.startsWith('"""')) return `a formula: ${formula}`;
        return difference('written and read', readSuppressionCsv(written.join(''), DEFAULTS), {
          entries,
          problems: [],
          ignored: ['message_id'],
        });
      },
    };
  },
} as FuzzTarget;
