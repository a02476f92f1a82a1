// Mails that come back: real reports, auto-replies and complaints, mutated, through parser and rules.
import { explainMail } from '../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../src/classify/load-rules.ts';
import { readInboundMail } from '../../../src/protocol/mail/inbound/read-inbound-mail.ts';
import { composeArf } from '../../../src/protocol/mail/reports/arf.ts';
import { KINDS, readCorpus } from '../../corpus/read-corpus.ts';
import { mutateMail } from '../mail-mutations.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzTarget, seedLines } from '../target.ts';

const show = (mail: Buffer) => JSON.stringify(mail.toString('latin1'));

/** The seeds are the corpus of test/corpus/bounces. */
export const inboundMailTarget: FuzzTarget = {
  name: 'inbound-mail',
  open() {
    const rules = loadBounceRules(SHIPPED_RULES);
    const mails = readCorpus('bounces').map(({ octets }) => octets);
    const kinds = new Set<string>(KINDS);
    const reached: Record<string, number> = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
    return {
      show,
      reached,
      mutate: (random: SeededRandom) => mutateMail(mails, random),
      run(mail: Buffer) {
        const { kind, reason } = explainMail(mail, rules);
        reached[kind] = (reached[kind] ?? 0) + 1;
        if (!kinds.has(kind)) return `is ${kind}`;
        const known = readInboundMail(mail, { hasNullSender: true, returnPath: { recipient: 'jo@rcpt.test' } });
        if (known.kind === 'human' || known.kind === 'unreadable') return `without a sender it is ${known.kind}`;
        return reason === '' ? 'no reason' : null;
      },
    };
  },
};

/** What an address in a complaint never has, for it goes into logs and comparisons. */
const WRONG_IN_ADDRESS = /[\s<>]/;
const MOST_RECIPIENTS = 100;

export const arfTarget: FuzzTarget = {
  name: 'arf',
  open() {
    const complaints = readCorpus('bounces').filter(({ expected }) => expected.kind === 'complaint');
    const mails = [...complaints.map(({ octets }) => octets), ...seedLines('arf-types.txt').map(ownReport)];
    const reached = { complaint: 0, abuse: 0, 'with recipients': 0, other: 0 };
    return {
      show,
      reached,
      mutate: (random: SeededRandom) => mutateMail(mails, random, ARF_WORDS),
      run(octets: Buffer) {
        const mail = readInboundMail(octets);
        reached[mail.kind === 'complaint' ? 'complaint' : 'other']++;
        if (mail.kind !== 'complaint') return null;
        if (mail.feedbackType === 'abuse') reached.abuse++;
        if (mail.recipients.length > 0) reached['with recipients']++;
        if (mail.recipients.length > MOST_RECIPIENTS) return `${mail.recipients.length} recipients`;
        if (!/^[\w-]{1,40}$/.test(mail.feedbackType))
          return `the feedback type is ${JSON.stringify(mail.feedbackType)}`;
        const wrong = mail.recipients.find((recipient) => WRONG_IN_ADDRESS.test(recipient));
        return wrong === undefined ? null : `the recipient is ${JSON.stringify(wrong)}`;
      },
    };
  },
};

const ARF_WORDS = [
  Array.from({ length: 150 }, (_, at) => `Original-Rcpt-To: <jo${at}@a.test>\r\n`).join(''),
  ...['Feedback-Type: abuse\r\n', 'Feedback-Type:\r\n', 'Feedback-Type: auth failure\r\n', 'Feedback-Type: \xff\r\n'],
  ...[
    'Original-Rcpt-To: <jo@a.test>\r\n',
    'Removal-Recipient: rfc822; [redacted]\r\n',
    'Original-Rcpt-To: <<a@b>>\r\n',
  ],
  ...['CFBL-Feedback-ID: x:y\r\n', 'Arrival-Date: never\r\n', 'Content-Type: message/rfc822\r\n\r\n', '\r\n\r\n'],
  ...[
    'Content-Type: multipart/report; report-type=feedback-report; boundary=a\r\n',
    'Source-IP: ::\r\n',
    '\r\n--a--\r\n',
  ],
];

function ownReport(feedbackType: string): Buffer {
  const date = new Date(Date.UTC(2026, 10, 22));
  return composeArf({
    feedbackType,
    from: 'fbl@receiver.test',
    to: 'fbl@bounces.postrider.test',
    originalMessage: Buffer.from(
      'From: app@acme.test\r\nTo: jo@receiver.test\r\nCFBL-Feedback-ID: x:y\r\n\r\nHello.\r\n',
    ),
    sourceIp: '192.0.2.1',
    arrivalDate: date,
    reportedDomain: 'acme.test',
    originalMailFrom: 'b1@bounces.postrider.test',
    originalRcptTo: 'jo@receiver.test',
    reportingMta: 'mx.receiver.test',
    date,
  });
}
