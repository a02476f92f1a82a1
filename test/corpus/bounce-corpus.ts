// Folders of bounces, auto-replies and complaints with their labels: real ones (bounces/README.md) and
// some that were made up whole (made/README.md); and how the parser does on them: what was right, what
// was not, and which kind was taken for which.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { BounceRules } from '../../src/classify/classify-reply.ts';
import { explainMail } from '../../src/classify/explain-mail.ts';

export const KINDS = ['hard', 'soft', 'block', 'auto_reply', 'complaint', 'delivered_notice', 'unknown'] as const;

export interface CorpusMail {
  file: string;
  octets: Buffer;
  expected: {
    kind: (typeof KINDS)[number];
    kind_ok: string[];
    label: 'exact' | 'coarse';
    recipient: string | null;
    recipient_ok?: string[];
    status: string | null;
    status_ok?: string[];
  };
}

export function readCorpus(folder: 'bounces' | 'made'): CorpusMail[] {
  const base = new URL(`./${folder}/`, import.meta.url);
  const lines = fs.readFileSync(new URL('expected.jsonl', base), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { file, expected } = JSON.parse(line);
    return { file, expected, octets: fs.readFileSync(fileURLToPath(new URL(file, base))) };
  });
}

export interface Share {
  right: number;
  of: number;
  wrong: string[];
}

export interface Score {
  exactKinds: Share;
  kinds: Share;
  recipients: Share;
  statuses: Share;
  /** Mails that are no hard bounces; wrong are those that were called hard. */
  notHard: Share;
  /** Expected kind, then found kind. */
  confusion: Map<string, Map<string, number>>;
}

export function scoreOf(mails: readonly CorpusMail[], rules: BounceRules): Score {
  const share = (): Share => ({ right: 0, of: 0, wrong: [] });
  const score: Score = {
    exactKinds: share(),
    kinds: share(),
    recipients: share(),
    statuses: share(),
    notHard: share(),
    confusion: new Map(),
  };
  for (const { file, octets, expected } of mails) {
    const { kind, recipient, status, rule } = explainMail(octets, rules);
    const count = (into: Share, isRight: boolean, what: string) => {
      into.of++;
      if (isRight) into.right++;
      else into.wrong.push(`${file}: ${what}`);
    };
    const isRight = expected.kind_ok.includes(kind);
    const found = `${kind} by ${rule}, not ${expected.kind_ok.join(' or ')}`;
    count(score.kinds, isRight, found);
    if (expected.label === 'exact') count(score.exactKinds, isRight, found);
    if (!expected.kind_ok.includes('hard')) count(score.notHard, kind !== 'hard', found);
    if (expected.recipient !== null) {
      const good = [expected.recipient, ...(expected.recipient_ok ?? [])].map((one) => one.toLowerCase());
      count(score.recipients, good.includes(recipient?.toLowerCase() ?? ''), `${recipient}, not ${good[0]}`);
    }
    if (expected.status !== null) {
      const good = [expected.status, ...(expected.status_ok ?? [])];
      count(score.statuses, good.includes(status ?? ''), `${status}, not ${good.join(' or ')}`);
    }
    const row = score.confusion.get(expected.kind) ?? new Map<string, number>();
    score.confusion.set(expected.kind, row.set(kind, (row.get(kind) ?? 0) + 1));
  }
  return score;
}

/** At least so many percent. */
export interface Wanted {
  kinds: number;
  recipients: number;
  statuses: number;
  notHard: number;
}

/** Prints the table, and says of each share whether it is large enough. */
export function checkScore(t: Test, score: Score, wanted: Wanted): void {
  for (const line of tableOf(score)) t.pass(`note: ${line}`);
  const shares: [name: string, share: Share, least: number][] = [
    ['exact kinds', score.exactKinds, wanted.kinds],
    ['kinds, coarse ones included', score.kinds, wanted.kinds],
    ['recipients', score.recipients, wanted.recipients],
    ['statuses', score.statuses, wanted.statuses],
    ['not hard and not called hard', score.notHard, wanted.notHard],
  ];
  for (const [name, { right, of, wrong }, least] of shares) {
    const found = (100 * right) / of;
    t.ok(found >= least, `note: ${name}: ${right} of ${of}, ${found.toFixed(1)} %`, { wrong });
  }
}

/** Rows are what is expected, columns what was found. */
function tableOf({ confusion }: Score): string[] {
  const width = 17;
  const row = (cells: string[]) => cells.map((cell) => cell.padStart(width)).join('');
  const rows = KINDS.map((kind) =>
    row([kind, ...KINDS.map((found) => String(confusion.get(kind)?.get(found) ?? '.'))]),
  );
  return [row(['expected \\ found', ...KINDS]), ...rows];
}
