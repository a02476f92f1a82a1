// bounce reply: what the bounce rules make of a reply of a receiving server, and which rule decided.
// bounce explain: the same for a mail that came back, with all that it says.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemWords } from '../../base/system-words.ts';
import { classifyReply } from '../../classify/classify-reply.ts';
import { type ExplainedMail, explainMail } from '../../classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../classify/load-rules.ts';
import { readReply } from '../../classify/read-reply.ts';
import { MAX_MAIL_OCTETS } from '../../protocol/mail/inbound/mail-parts.ts';
import { type Answer, done, failed, localCommand } from '../command.ts';
import { positional, required, text } from '../option.ts';
import { renderFacts } from '../table.ts';

export const bounceReply = localCommand({
  name: 'bounce reply',
  summary: 'Says what a reply of a receiving server means, and which rule decides.',
  options: {
    reply: required(positional(text('REPLY', 'the reply in quotes, with its codes: "550 5.1.1 User unknown"'))),
    mx: text('HOST', 'the server that said it, for rules about one provider'),
  },
  check: ({ reply }) => replyProblem(reply),
  run: async (_, { reply, mx }) => done(explain(reply, mx ?? null)),
  render: ({ class: bounce, label, action, rule, reason, suspend }) =>
    renderFacts([
      ['class', bounce],
      ['label', label],
      ['action', action],
      ['rule', rule],
      ['reason', reason],
      ['pause', suspend === null ? null : `${suspend.for_secs} s, of the ${suspend.scope}`],
    ]),
});

/** The rules take what they are given for a refusal. */
function replyProblem(reply: string): string | null {
  const { smtpCode, enhancedCode } = readReply(reply);
  const leading = smtpCode?.toString() ?? enhancedCode;
  if (leading !== null && leading !== undefined && /^[45]/.test(leading)) return null;
  const sample = 'a reply that refuses is expected, with its code: "550 5.1.1 User unknown"';
  if (leading?.startsWith('2') || /^\s*3\d\d\b/.test(reply)) return `REPLY: "${reply}" refuses nothing; ${sample}`;
  return `REPLY: "${reply}" is no reply of a mail server; ${sample}`;
}

function explain(reply: string, mx: string | null) {
  const { suspend, ...verdict } = classifyReply({ ...readReply(reply), mx }, loadBounceRules(SHIPPED_RULES));
  return { ...verdict, suspend: suspend && { for_secs: suspend.forMs / 1000, scope: suspend.scope } };
}

export const bounceExplain = localCommand({
  name: 'bounce explain',
  summary: 'Says what a mail that came back is: a bounce and why, a complaint, an automatic reply.',
  options: { file: required(positional(text('FILE', 'the mail as it came, headers and all; - reads standard input'))) },
  run: async (_, { file }) => explainFile(file),
  render: renderMail,
});

function explainFile(file: string): Answer<ExplainedMail> {
  let octets: Buffer;
  try {
    octets = readBounded(file);
  } catch (error) {
    return failed(`${file} cannot be read: ${systemWords(error)}`);
  }
  if (octets.length === 0) return failed(`${file} is empty`);
  if (octets.length > MAX_MAIL_OCTETS) {
    return failed(`${file} is larger than ${MAX_MAIL_OCTETS / 1024 / 1024} MiB: no report is`);
  }
  return done(explainMail(octets, loadBounceRules(SHIPPED_RULES)));
}

/** At most one octet more than a mail may have. */
function readBounded(file: string): Buffer {
  const descriptor = file === '-' ? 0 : openSync(file, 'r');
  try {
    if (fstatSync(descriptor).isDirectory()) throw new Error('it is a folder');
    const pieces: Buffer[] = [];
    let size = 0;
    while (size <= MAX_MAIL_OCTETS) {
      const piece = Buffer.alloc(Math.min(1024 * 1024, MAX_MAIL_OCTETS + 1 - size));
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
