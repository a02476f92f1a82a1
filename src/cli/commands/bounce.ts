// bounce reply: what the bounce rules make of a reply of a receiving server, and which rule decided.
// bounce explain: the same for mails that came back, with all that they say.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemWords } from '../../base/text/system-words.ts';
import type { SuspensionRule } from '../../classify/bounce-rule.ts';
import type { ServerReply } from '../../classify/classify-reply.ts';
import type { ExplainedMail } from '../../classify/explain-mail.ts';
import { type Answer, done, ended, wrongUsage } from '../../operator/answer.ts';
import { EXIT_SOMETHING_WRONG, type LocalContext, localCommand } from '../command.ts';
import { positional, required, several, text } from '../option.ts';
import { printable, renderFacts } from '../table.ts';

export const bounceReply = localCommand({
  name: 'bounce reply',
  summary: "Explains a receiving server's reply: what it means and which rule decides.",
  options: {
    reply: required(positional(text('REPLY', 'the reply in quotes, with its codes: "550 5.1.1 User unknown"'))),
    mx: text('HOST', 'the server that sent it, for rules about one provider'),
  },
  run: async (_, { reply, mx }) => explain(reply, mx ?? null),
  render: ({ class: bounce, label, action, rule, reason, suspend }) =>
    renderFacts([
      ['class', bounce],
      ['label', label],
      ['action', action],
      ['rule', rule],
      ['reason', reason],
      ['pause', suspend === null ? null : `${pauseRange(suspend)} s, of the ${suspend.scope}`],
    ]),
});

/** A temporary refusal's pause begins short, and grows while it repeats. */
function pauseRange({ first_secs: first, for_secs: longest }: { first_secs: number; for_secs: number }): string {
  return first === longest ? `${longest}` : `${first} to ${longest}`;
}

/** The rules take what they are given for a refusal. */
function replyProblem(reply: string, { smtpCode, enhancedCode }: ServerReply): string | null {
  const leading = smtpCode?.toString() ?? enhancedCode;
  if (leading !== null && leading !== undefined && /^[45]/.test(leading)) return null;
  const sample = 'expected a 4xx or 5xx reply, such as "550 5.1.1 User unknown"';
  if (leading?.startsWith('2') || /^\s*3\d\d\b/.test(reply))
    return `REPLY: "${reply}" does not reject anything; ${sample}`;
  return `REPLY: "${reply}" is not an SMTP reply; ${sample}`;
}

async function explain(reply: string, mx: string | null) {
  const { readReply } = await import('../../classify/read-reply.ts');
  const said = readReply(reply);
  const problem = replyProblem(reply, said);
  if (problem !== null) return wrongUsage(problem);
  const { classifyReply } = await import('../../classify/classify-reply.ts');
  const { loadBounceRules, SHIPPED_RULES } = await import('../../classify/load-rules.ts');
  const { pauseBounds } = await import('../../delivery/outcome/suspension-length.ts');
  const { suspend, ...verdict } = classifyReply({ ...said, mx }, loadBounceRules(SHIPPED_RULES));
  // Without a reply code the enhanced code says whether it is for good (RFC 3463 section 2).
  const isFinal = said.smtpCode === null && said.enhancedCode?.startsWith('5');
  return done({
    ...verdict,
    suspend: suspend && shownPause(suspend, pauseBounds(suspend, isFinal ? 500 : said.smtpCode)),
  });
}

function shownPause({ scope }: SuspensionRule, { first, longest }: { first: number; longest: number }) {
  return { first_secs: first / 1000, for_secs: longest / 1000, scope };
}

export const bounceExplain = localCommand({
  name: 'bounce explain',
  summary: 'Explains mail that came back: a bounce and its reason, a complaint, or an automatic reply.',
  jsonSummary: 'print one line of JSON for each file',
  options: {
    files: required(positional(several(text('FILE', 'the raw mails with their headers; - reads standard input')))),
    mx: text('HOST', 'the MX host or MX group that the message was sent to, for rules about one provider'),
  },
  run: async (context, { files, mx }) => explainFiles(context, files, mx ?? null),
  render: () => null,
});

/** Says each at once: there may be thousands. A file that cannot be read stops none of the others. */
async function explainFiles(
  { json, print, complain }: LocalContext,
  files: readonly string[],
  mx: string | null,
): Promise<Answer<never>> {
  const explain = await mailExplainer(mx);
  let [printed, exit] = [0, 0];
  for (const file of files) {
    const found = explain(file);
    if ('error' in found) {
      complain(found.error);
      exit = EXIT_SOMETHING_WRONG;
    }
    if (json) print(JSON.stringify({ file, ...found }));
    else if (!('error' in found)) {
      const heading = files.length === 1 ? '' : `${printed++ === 0 ? '' : '\n'}==> ${printable(file)} <==\n`;
      print(heading + renderMail(found));
    }
  }
  return ended(exit);
}

/** The rules are read once, for all files. */
async function mailExplainer(mx: string | null): Promise<(file: string) => ExplainedMail | { error: string }> {
  const { explainMail } = await import('../../classify/explain-mail.ts');
  const { loadBounceRules, SHIPPED_RULES } = await import('../../classify/load-rules.ts');
  const { MAX_MAIL_BYTES } = await import('../../protocol/mail/inbound/mail-parts.ts');
  const rules = loadBounceRules(SHIPPED_RULES);
  return (file) => {
    let octets: Buffer;
    try {
      octets = readBounded(file, MAX_MAIL_BYTES);
    } catch (error) {
      return { error: `${file} cannot be read: ${systemWords(error)}` };
    }
    if (octets.length === 0) return { error: `${file} is empty` };
    if (octets.length > MAX_MAIL_BYTES) {
      return { error: `${file} is larger than ${MAX_MAIL_BYTES / 1024 / 1024} MiB, too large for a report` };
    }
    return explainMail(octets, rules, mx);
  };
}

const PIECE_BYTES = 64 * 1024;

/** At most one byte more than a mail may have. */
function readBounded(file: string, maxBytes: number): Buffer {
  const descriptor = file === '-' ? 0 : openSync(file, 'r');
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw new Error('it is a folder');
    const pieces: Buffer[] = [];
    let size = 0;
    while (size <= maxBytes) {
      // Of a file mostly all at once; a pipe does not say how much comes.
      const expected = Math.max(stats.size - size + 1, PIECE_BYTES);
      const piece = Buffer.allocUnsafe(Math.min(expected, maxBytes + 1 - size));
      const read = readSync(descriptor, piece, 0, piece.length, null);
      if (read === 0) break;
      pieces.push(piece.subarray(0, read));
      size += read;
    }
    return Buffer.concat(pieces);
  } finally {
    if (descriptor !== 0) closeSync(descriptor);
  }
}

function renderMail(mail: ExplainedMail): string {
  const whole = renderFacts([
    ['kind', mail.kind],
    ['recipient', mail.recipient],
    ['original recipient', mail.original_recipient],
    ['status', mail.status],
    ['action', mail.action],
    ['label', mail.label],
    ['rule', mail.rule],
    ['reason', mail.reason],
    ['reporting MTA', mail.reporting_mta],
    ['remote MTA', mail.remote_mta],
    ['diagnostic', mail.diagnostic],
    ['feedback type', mail.feedback_type],
    ['original message id', mail.original_message_id],
  ]);
  const others = mail.recipients.slice(1);
  const rest = others.map(
    ({ recipient, kind, status, reason }) => `${recipient ?? '-'}: ${kind} ${status ?? '-'}, ${reason}`,
  );
  return [whole, ...rest.map((line) => renderFacts([['also', line]]))].join('\n');
}
