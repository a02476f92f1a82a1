// Answers whose records are not as long as they say: what a decoder makes of them is not what the server meant.
import { encode } from 'dns-packet';
import t from 'tap';
import { type DnsQuery, decodeReply } from '../../../src/protocol/dns/lookup/wire.ts';

const QUERY: DnsQuery = { id: 4711, name: 'example.com', type: 'A', recursive: true, edns: true };

function answerOf(...addresses: string[]): Buffer {
  return encode({
    type: 'response',
    id: QUERY.id,
    questions: [{ type: 'A', name: QUERY.name, class: 'IN' }],
    answers: addresses.map((data) => ({ type: 'A', name: QUERY.name, ttl: 60, data })),
  });
}

/** Of the first record: behind header, question, name, type, class and time to live. */
const NAME_BYTES = QUERY.name.length + 2;
const LENGTH_AT = 12 + NAME_BYTES + 4 + NAME_BYTES + 8;

t.test('a record says how long it is, and is so', async (t) => {
  const good = answerOf('192.0.2.1', '192.0.2.2');
  t.equal(good.readUInt16BE(LENGTH_AT), 4);
  t.match(decodeReply(good, QUERY), {
    kind: 'answer',
    answer: { answers: [{ value: '192.0.2.1' }, { value: '192.0.2.2' }] },
  });
  const wrong: [length: number, reason: RegExp][] = [
    [0xc026, /ends within a record/],
    [5, /ends within a record|not as long/],
    [0, /ends within a record|not as long/],
  ];
  for (const [length, reason] of wrong) {
    const bytes = Buffer.from(good);
    bytes.writeUInt16BE(length, LENGTH_AT);
    t.match(decodeReply(bytes, QUERY), { kind: 'malformed', reason }, `${length} instead of 4`);
  }
});

t.test('what stands behind the last record is of no matter', async (t) => {
  t.match(decodeReply(Buffer.concat([answerOf('192.0.2.1'), Buffer.from('rest')]), QUERY), { kind: 'answer' });
});
