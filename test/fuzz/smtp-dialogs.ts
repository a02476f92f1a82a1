// Dialogs with an SMTP listener over real sockets, for fuzzing: commands changed, lost and moved, cut anywhere.
import { connect } from 'node:net';
import { ReplyParser } from '../../src/protocol/smtp/reply.ts';
import type { SeededRandom } from './seeded-random.ts';
import { changeText, cut } from './text-mutations.ts';

const WORDS = [
  ...[
    'EHLO x\r\n',
    'HELO x\r\n',
    'EHLO [192.0.2.1]\r\n',
    'EHLO \r\n',
    'MAIL FROM:<>\r\n',
    'MAIL FROM:<a@b.test> SIZE=99999999\r\n',
  ],
  ...['RCPT TO:<@a.test:b@c.test>\r\n', 'RCPT TO:<>\r\n', 'DATA\r\n', '.\r\n', '\r\n.\r\n'],
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

export interface Dialog {
  pieces: Buffer[];
  /** Waits for the greeting; who does not is sent away. */
  isPatient: boolean;
  /** Hangs up without waiting for anything. */
  isAbrupt: boolean;
}

/** Ends the data if it comes to that, and the session in any case. */
const END = '\r\n.\r\nQUIT\r\n';

/** `ownWords`: those that mean something to this listener. */
export function dialog(seeds: readonly string[], ownWords: readonly string[], random: SeededRandom): Dialog {
  let text = random.pick(seeds);
  for (let change = random.below(5); change > 0; change--) {
    text = random.chance(0.4)
      ? moveLine(text, random)
      : changeText(text, { seeds, words: [...WORDS, ...ownWords], longWords: LONG_WORDS }, random);
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
export function talk(port: number, { pieces, isPatient, isAbrupt }: Dialog): Promise<Buffer> {
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

export function answerProblem(answered: Buffer): string | null {
  const violation = new ReplyParser().push(answered, () => {});
  return violation === null
    ? null
    : `the listener answered ${JSON.stringify(answered.toString('latin1'))}: ${violation}`;
}
