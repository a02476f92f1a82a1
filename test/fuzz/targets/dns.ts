// Answers of DNS servers as bytes. What follows the message in memory must not be read, and nothing
// but names of the form that names have may come out where people are shown them.
import { type Answer, encode } from 'dns-packet';
import { type DnsQuery, type DnsReply, decodeReply, encodeQuery } from '../../../src/protocol/dns/lookup/wire.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget, seedLines } from '../target.ts';

const QUERY: DnsQuery = { id: 4711, name: 'mail.example.com', type: 'MX', recursive: true, edns: true };
const TYPES = ['MX', 'A', 'AAAA', 'TXT', 'CNAME', 'NS', 'SOA', 'PTR'] as const;

interface DnsInput {
  message: Buffer;
  query: DnsQuery;
}

export const dnsTarget: FuzzTarget = {
  name: 'dns',
  open() {
    const seeds = seedLines('dns-answers.jsonl').map((text) => JSON.parse(text) as Answer[]);
    const messages = TYPES.flatMap((type) =>
      seeds.map((answers) => ({ query: { ...QUERY, type }, message: answer(type, answers) })),
    );
    const reached = { answer: 0, truncated: 0, malformed: 0, unrelated: 0 };
    return {
      reached,
      show: ({ message, query }: DnsInput) => `${query.type} ${message.toString('hex')}`,
      mutate(random: SeededRandom): DnsInput {
        const { query, message } = random.pick(messages);
        return { query, message: changeMessage(message, random) };
      },
      run({ message, query }: DnsInput) {
        const inZeros = decodeReply(surrounded(message, 0), query);
        reached[inZeros.kind]++;
        const inOnes = decodeReply(surrounded(message, 0xff), query);
        return (
          difference('with other memory behind it', inZeros, inOnes) ??
          lengthProblem(message, inZeros) ??
          recordProblem(inZeros)
        );
      },
    };
  },
};

function answer(type: (typeof TYPES)[number], answers: Answer[]): Buffer {
  return encode({
    type: 'response',
    id: QUERY.id,
    flags: 0x0100,
    questions: [{ type, name: QUERY.name, class: 'IN' }],
    answers,
    authorities: answers.slice(0, 1),
    additionals: answers.slice(1, 2),
  });
}

const TRUNCATED_BIT = 0x02;
const PADDING_OCTETS = 300;

/** As in the pool that datagrams are read into. */
function surrounded(message: Buffer, filling: number): Buffer {
  const memory = Buffer.alloc(message.length + 2 * PADDING_OCTETS, filling);
  message.copy(memory, PADDING_OCTETS);
  return memory.subarray(PADDING_OCTETS, PADDING_OCTETS + message.length);
}

/** Behind id and flags, mostly. */
function changeMessage(message: Buffer, random: SeededRandom): Buffer {
  const changed = Buffer.from(message);
  if (random.chance(0.01)) changed[2] = changed[2]! | TRUNCATED_BIT;
  const first = random.chance(0.9) ? Math.min(4, changed.length) : 0;
  for (let change = 1 + random.below(3); change > 0; change--) {
    const at = first + random.below(changed.length - first);
    switch (random.below(5)) {
      case 0:
        changed[at] = random.below(256);
        break;
      case 1:
        // A pointer of a compressed name, to anywhere near: itself, forward, the header.
        if (at + 2 <= changed.length) changed.writeUInt16BE(0xc000 | random.below(changed.length + 20), at);
        break;
      case 2:
        if (at + 2 <= changed.length) changed.writeUInt16BE(random.pick([0, 1, 255, 256, 0x7fff, 0xffff]), at);
        break;
      case 3:
        changed[at] = changed[at]! ^ (1 << random.below(8));
        break;
      default:
        changed.copyWithin(at, first + random.below(changed.length - first));
    }
  }
  const length = random.chance(0.2) ? random.below(changed.length + 1) : changed.length;
  return random.chance(0.1) ? Buffer.concat([changed, changed.subarray(12)]) : changed.subarray(0, length);
}

/** By counting alone (RFC 1035 section 4.1): what was read as an answer ends within the message. */
function lengthProblem(message: Buffer, { kind }: DnsReply): string | null {
  if (kind !== 'answer') return null;
  const [questions, ...records] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  let at = 12;
  for (let question = 0; question < questions!; question++) at = afterName(message, at) + 4;
  for (let record = records.reduce((sum, count) => sum + count, 0); record > 0; record--) {
    const dataLength = afterName(message, at) + 8;
    if (dataLength + 2 > message.length) return 'a record begins behind the end of the message';
    at = dataLength + 2 + message.readUInt16BE(dataLength);
  }
  return at > message.length ? `the records end at ${at}, the message at ${message.length}` : null;
}

function afterName(message: Buffer, start: number): number {
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
  }
  return at + 1;
}

function recordProblem(reply: DnsReply): string | null {
  if (reply.kind !== 'answer') return null;
  const { answers, authorities, additionals } = reply.answer;
  for (const record of [...answers, ...authorities, ...additionals]) {
    if (record.name !== record.name.toLowerCase()) return `the name ${record.name} is not in lower case`;
    if (record.type === 'PTR' && !/^[\x21-\x7e]{1,253}$/.test(record.value))
      return `a PTR to ${JSON.stringify(record.value)}`;
    if (record.type === 'MX' && !(record.value.preference >= 0 && record.value.preference <= 0xffff)) {
      return `a preference of ${record.value.preference}`;
    }
  }
  // What a record says goes into a question of its own: it must be refused or go.
  for (const record of answers) if (record.type === 'CNAME') askFor(record.value);
  return null;
}

function askFor(name: string): void {
  if (/^[\x21-\x7e]{1,253}$/.test(name) && name.split('.').every((label) => label.length >= 1 && label.length <= 63)) {
    encodeQuery({ ...QUERY, name });
  }
}
