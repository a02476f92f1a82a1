// The inbound listener over real sockets: dialogs with commands changed, lost and moved, cut anywhere.
// Whatever comes, its answers are SMTP, only mail for addresses of ours is kept, and none that smuggles.
import { connect } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { bareLineEndAt } from '../../../src/inbound/line-ends.ts';
import { startInboundListener } from '../../../src/inbound/listener.ts';
import { recognise } from '../../../src/inbound/recipients.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { makeReturnPath } from '../../../src/protocol/mail/return-path.ts';
import { ReplyParser } from '../../../src/protocol/smtp/reply.ts';
import type { NewInboundMail } from '../../../src/store/inbound.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzTarget, type OpenTarget, seedFiles } from '../target.ts';
import { changeText, cut } from '../text-mutations.ts';

const BOUNCES = 'bounces.postrider.test';
const KEY = { id: 'a', key: Buffer.alloc(32, 5) };
const BOOK = {
  bouncesDomain: BOUNCES,
  ehloName: 'mail.postrider.test',
  dmarcReportAddress: `reports@${BOUNCES}`,
  tokenKeys: (id: string) => (id === KEY.id ? KEY.key : undefined),
};
const MAX_OCTETS = 20_000;
/** Nobody is to be sent away for being many. */
const NO_LIMIT = 1_000_000_000;

const WORDS = [
  ...[
    'EHLO x\r\n',
    'HELO x\r\n',
    'EHLO [192.0.2.1]\r\n',
    'EHLO \r\n',
    'MAIL FROM:<>\r\n',
    'MAIL FROM:<a@b.test> SIZE=99999999\r\n',
  ],
  ...[
    `RCPT TO:<postmaster@${BOUNCES}>\r\n`,
    'RCPT TO:<@a.test:b@c.test>\r\n',
    'RCPT TO:<>\r\n',
    'DATA\r\n',
    '.\r\n',
    '\r\n.\r\n',
  ],
  ...[
    'QUIT\r\n',
    'RSET\r\n',
    'NOOP\r\n',
    'VRFY x\r\n',
    'STARTTLS\r\n',
    'AUTH PLAIN AGEAYg==\r\n',
    'BDAT 10 LAST\r\n',
    'XCLIENT ADDR=1\r\n',
  ],
  ...[
    '\n',
    '\r',
    '\n.\n',
    '\n.\r\n',
    '\r.\r',
    '\r\n.\n',
    '\0',
    '\xff\xfe',
    '<',
    '>',
    ' ',
    '\t',
    ':',
    '=',
    'BODY=8BITMIME ',
    'SMTPUTF8 ',
  ],
  ...['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\x02\x00', 'PROXY TCP4 1 2 3 4\r\n', 'x'.repeat(600)],
];
const LONG_WORDS = [
  'x'.repeat(30_000),
  'NOOP\r\n'.repeat(300),
  'RCPT TO:<jo@a.test>\r\n'.repeat(150),
  '\r\n'.repeat(2_000),
];

export const smtpDialogTarget: FuzzTarget = {
  name: 'smtp-dialog',
  async open() {
    const kept: NewInboundMail[] = [];
    const ids = new IdSource();
    const listener = await startInboundListener({
      ...{ host: '127.0.0.1', port: 0, name: 'mail.postrider.test', recipients: BOOK },
      limits: {
        ...{
          maxBytes: MAX_OCTETS,
          maxRoleBytes: MAX_OCTETS,
          maxUnaskedBytes: NO_LIMIT,
          maxReturnedBytes: NO_LIMIT,
        },
        ...{ connections: NO_LIMIT, connectionsPerPeer: NO_LIMIT, connectionsPerMinute: NO_LIMIT },
        ...{ mailsPerMinute: NO_LIMIT, refusalsPerMinute: NO_LIMIT },
      },
      store: {
        inbound: {
          async keepInbound(mail) {
            kept.push(mail);
            return 'kept';
          },
          findReported: async () => null,
          noteRefusedInbound: async () => {},
        },
      },
      refusal: () => null,
      onKept: () => {},
      ...{ clock: systemClock, ids, log: silentLogger },
    });
    const seeds = seedFiles('smtp-dialog').map((text) =>
      text.replaceAll('[return path]', `${makeReturnPath(ids.next(), KEY)}@${BOUNCES}`).replaceAll('\n', '\r\n'),
    );
    const reached = { kept: 0, refused: 0, 'several mails': 0 };
    const target: OpenTarget<Dialog> = {
      reached,
      // Each waits for a tenth of a second: the listener listens for those that talk before they are greeted.
      atOnce: 128,
      show: ({ pieces }) => JSON.stringify(Buffer.concat(pieces).toString('latin1')),
      mutate: (random) => dialog(seeds, random),
      async run(input) {
        const answered = await talk(listener.port, input);
        const thanks = answered.toString('latin1').split('Ok: kept as').length - 1;
        if (thanks > 0) reached.kept++;
        if (thanks > 1) reached['several mails']++;
        if (/^[45]\d\d/m.test(answered.toString('latin1'))) reached.refused++;
        // Others may have kept some of these: each is looked at once.
        return answerProblem(answered) ?? firstKeptProblem(kept.splice(0));
      },
      close: () => listener.close(),
    };
    return target as OpenTarget<unknown>;
  },
};

interface Dialog {
  pieces: Buffer[];
  /** Waits for the greeting; who does not is sent away. */
  isPatient: boolean;
  /** Hangs up without waiting for anything. */
  isAbrupt: boolean;
}

/** Ends the data if it comes to that, and the session in any case. */
const END = '\r\n.\r\nQUIT\r\n';

function dialog(seeds: readonly string[], random: SeededRandom): Dialog {
  let text = random.pick(seeds);
  for (let change = random.below(5); change > 0; change--) {
    text = random.chance(0.4)
      ? moveLine(text, random)
      : changeText(text, { seeds, words: WORDS, longWords: LONG_WORDS }, random);
  }
  const octets = Buffer.from(text + END, random.chance(0.7) ? 'utf8' : 'latin1');
  const pieces = random.chance(0.7) ? [octets] : cut(octets, random);
  return { pieces, isPatient: random.chance(0.97), isAbrupt: random.chance(0.03) };
}

function moveLine(text: string, random: SeededRandom): string {
  const lines = text.split('\r\n');
  const [line] = lines.splice(random.below(lines.length), 1);
  if (random.chance(0.7)) lines.splice(random.below(lines.length + 1), 0, line!);
  return lines.join('\r\n');
}

/** All that was answered until the end; a listener that does not end a session after QUIT hangs, and counts as slow. */
function talk(port: number, { pieces, isPatient, isAbrupt }: Dialog): Promise<Buffer> {
  return new Promise((resolve) => {
    const answered: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (part) => answered.push(part));
    // Cut off in the middle of what it says: that is the listener's right.
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(answered)));
    const say = () => {
      for (const piece of pieces) socket.write(piece);
      if (isAbrupt) socket.end();
    };
    if (isPatient) socket.once('data', say);
    else say();
  });
}

function answerProblem(answered: Buffer): string | null {
  const violation = new ReplyParser().push(answered, () => {});
  return violation === null
    ? null
    : `the listener answered ${JSON.stringify(answered.toString('latin1'))}: ${violation}`;
}

function firstKeptProblem(mails: readonly NewInboundMail[]): string | null {
  for (const { content, recipients, ehloName, mailFrom } of mails) {
    if (content.length > MAX_OCTETS) return `a mail of ${content.length} octets was kept`;
    if (bareLineEndAt(content) >= 0) return 'a mail with a lone CR or LF was kept';
    if (recipients.length === 0) return 'a mail without a recipient was kept';
    const stranger = recipients.find((recipient) => recognise(recipient, BOOK).kind === 'unknown');
    if (stranger !== undefined) return `a mail for ${stranger} was kept`;
    if (/[\r\n]/.test(ehloName + mailFrom)) return 'a line end in the envelope';
  }
  return null;
}
