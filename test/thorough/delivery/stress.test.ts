// Everything at once: many domains on few servers that refuse, hang up, and dawdle as they like.
// Whatever they do, each message is delivered, and only those twice that may have arrived before.
import t from 'tap';
import { isFinished, setMx, setUp } from '../../delivery/set-up.ts';
import type { SinkReply } from '../../support/mail-sink.ts';
import { within } from '../../support/patience.ts';

const DOMAINS = 300;
const PER_DOMAIN = 10;
const TROUBLE = 0.05;

/** The same trouble in every run: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const soon = () => new Promise<null>((resolve) => setTimeout(resolve, 30, null));

t.test('three thousand messages to three hundred domains on three moody servers', async (t) => {
  const random = seeded(7);
  const ambiguous = new Set<string>();
  const onRcpt = (): SinkReply | null | Promise<null> => {
    const lot = random();
    if (lot < TROUBLE) return { code: 451, text: '4.7.1 greylisted' };
    if (lot < 2 * TROUBLE) return 'drop';
    return lot < 3 * TROUBLE ? soon() : null;
  };
  const onMail = ({ to }: { to: string }): SinkReply | null | Promise<null> => {
    const lot = random();
    if (lot < TROUBLE) return { code: 452, text: '4.3.1 out of space' };
    if (lot < 1.2 * TROUBLE) {
      ambiguous.add(to);
      return 'keep and drop';
    }
    return lot < 2 * TROUBLE ? soon() : null;
  };
  const { sink, harness } = await setUp(t, {
    sink: { onRcpt, onMail },
    retryStepsMs: [100, 200, 300],
    threads: 2,
    limits: { sessions: 20, sessionsPerGroup: 8, messagesPerSession: 40, lingerMs: 20 },
  });
  const domains = Array.from({ length: DOMAINS }, (_, index) => `d${index}.test`);
  for (const [index, domain] of domains.entries()) {
    setMx(harness, domain, { [`mx.group${index % 3}.test`]: { ip: '127.0.0.1' } });
  }
  const ids: string[] = [];
  for (let round = 0; round < PER_DOMAIN; round++) {
    for (let from = 0; from < DOMAINS; from += 50) {
      ids.push(...(await harness.send(domains.slice(from, from + 50).map((domain) => `user${round}@${domain}`))));
    }
  }
  const messages = await harness.untilAll(ids, isFinished);

  t.equal(messages.filter(({ state }) => state === 'delivered').length, DOMAINS * PER_DOMAIN);
  const counts = Map.groupBy(sink.mails, ({ to }) => to);
  t.equal(counts.size, DOMAINS * PER_DOMAIN);
  const twice = [...counts].filter(([, mails]) => mails.length > 1).map(([to]) => to);
  t.same(
    twice.filter((to) => !ambiguous.has(to)),
    [],
    'nobody got it twice whose server had not hung up after the final dot',
  );
  t.ok(ambiguous.size > 0, `${ambiguous.size} ambiguous losses, ${twice.length} duplicates`);
  t.ok(sink.connections.most <= 20, `${sink.connections.most} connections at one time`);
  t.comment(`${sink.connections.total} connections`);
  await within(10_000, 'no session and no slot was left over', harness.stopDelivery(86_400_000));
});
