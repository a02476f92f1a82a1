// What servers say to our client. Where the network cuts it must not matter.
import { parseCapabilities } from '../../../src/protocol/smtp/capabilities.ts';
import { type Reply, ReplyParser } from '../../../src/protocol/smtp/reply.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget, seedLines } from '../target.ts';
import { cut, type Material, mutateText } from '../text-mutations.ts';

const WORDS = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\r\r\n',
    '250',
    '250 ',
    '250-',
    '550 ',
    '550-',
    '199 ',
    '600 ',
    '99 ',
    '2500 ',
    '25',
    ' ',
    '-',
    '\t',
  ],
  ...[
    '5.1.1',
    '5.1.1 ',
    '4.7.0 ',
    '5.9999.1 ',
    '#5.1.0 ',
    '2.0.0',
    '5.1.1.1',
    '\0',
    '\x1b[2J',
    '\x7f',
    '\u0085',
    '\u2028',
    '\ud800',
  ],
  ...[
    '\xff',
    'EHLO\r\n',
    'HTTP/1.1 400\r\n',
    '250-SIZE 99999999999999999999\r\n',
    '250-SIZE -1\r\n',
    '250-X\r\n'.repeat(12),
  ],
];
const LONG_WORDS = [
  'a'.repeat(3000),
  '250-x\r\n'.repeat(200),
  '250 x\r\n'.repeat(2000),
  `250-${'x'.repeat(1900)}\r\n`.repeat(20),
];

interface ReplyInput {
  octets: Buffer;
  pieces: Buffer[];
}

export const smtpReplyTarget: FuzzTarget = {
  name: 'smtp-reply',
  open() {
    const material: Material = { seeds: seedLines('smtp-replies.jsonl'), words: WORDS, longWords: LONG_WORDS };
    const reached = { reply: 0, 'enhanced code': 0, violation: 0, 'several replies': 0 };
    return {
      reached,
      show: ({ octets }: ReplyInput) => JSON.stringify(octets.toString('latin1')),
      mutate(random: SeededRandom): ReplyInput {
        const octets = Buffer.from(mutateText(material, random), random.chance(0.5) ? 'utf8' : 'latin1');
        return { octets, pieces: cut(octets, random) };
      },
      run({ octets, pieces }: ReplyInput) {
        const whole = heard([octets]);
        if (whole.violation !== null) reached.violation++;
        if (whole.replies.length > 0) reached.reply++;
        if (whole.replies.length > 1) reached['several replies']++;
        if (whole.replies.some(({ enhancedCode }) => enhancedCode !== null)) reached['enhanced code']++;
        return difference('whole and in pieces', whole, heard(pieces)) ?? firstProblem(whole.replies);
      },
    };
  },
};

function heard(pieces: readonly Buffer[]): { replies: Reply[]; violation: string | null } {
  const parser = new ReplyParser();
  const replies: Reply[] = [];
  for (const piece of pieces) {
    const violation = parser.push(piece, (reply) => replies.push(reply));
    if (violation !== null) return { replies, violation };
  }
  return { replies, violation: null };
}

function firstProblem(replies: readonly Reply[]): string | null {
  for (const reply of replies) {
    const { code, enhancedCode, text } = reply;
    if (!(code >= 200 && code <= 599)) return `the code is ${code}`;
    if (enhancedCode !== null && enhancedCode[0] !== String(code)[0]) return `${enhancedCode} in a reply of ${code}`;
    if (/\p{Cc}/u.test(text) || !text.isWellFormed()) return `the text is ${JSON.stringify(text)}`;
    parseCapabilities(reply.lines);
  }
  return null;
}
