// The corpus of real bounces, auto-replies and complaints (bounces/README.md), and how the parser
// does on it: what was right, what was not, and which kind was taken for which.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BounceRules } from '../../src/classify/classify-reply.ts';
import { explainMail } from '../../src/classify/explain-mail.ts';

const FOLDER = new URL('./bounces/', import.meta.url);
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

export function readCorpus(): CorpusMail[] {
  const lines = fs.readFileSync(new URL('expected.jsonl', FOLDER), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { file, expected } = JSON.parse(line);
    return { file, expected, octets: fs.readFileSync(fileURLToPath(new URL(file, FOLDER))) };
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

export function percent({ right, of }: Share): number {
  return (100 * right) / of;
}

/** Rows are what is expected, columns what was found. */
export function tableOf({ confusion }: Score): string[] {
  const width = 17;
  const row = (cells: string[]) => cells.map((cell) => cell.padStart(width)).join('');
  const rows = KINDS.map((kind) =>
    row([kind, ...KINDS.map((found) => String(confusion.get(kind)?.get(found) ?? '.'))]),
  );
  return [row(['expected \\ found', ...KINDS]), ...rows];
}
