// How the parser and the rules do on a corpus: what was right, what was not, and which kind was taken for which.
import type { BounceRules } from '../../src/classify/classify-reply.ts';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { type CorpusMail, KINDS } from './read-corpus.ts';

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

/** Everything that was wrong, as lines for a file of misses. */
export function missesOf(score: Score): string[] {
  const { kinds, recipients, statuses } = score;
  return Object.entries({ kind: kinds, recipient: recipients, status: statuses }).flatMap(([what, { wrong }]) =>
    wrong.map((miss) => `${what} of ${miss}`),
  );
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
