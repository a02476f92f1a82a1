// Twenty sessions that send 25 MiB each at the same time need little memory: each holds two pieces at most, whether the
// servers take nothing for a while or all of them read at full speed.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { MAX_PIECE_BYTES } from '../../../src/store/written-mails.ts';
import { isFinished, setOneMx, setUpFor } from '../../delivery/set-up.ts';
import type { SinkFacts } from './counting-sink.ts';

const SESSIONS = 20;
const PIECES = 100;
const MIB = 1024 * 1024;
const MAX_MORE_BYTES = 100 * MIB;
const SAMPLE_EVERY_MS = 10;

async function startSink(t: Test, sessions: number) {
  const child = fork(fileURLToPath(new URL('counting-sink.ts', import.meta.url)), [String(sessions)], {
    execArgv: [],
  });
  t.teardown(() => void child.kill());
  const bodies: NonNullable<SinkFacts['body']>[] = [];
  let within = 0;
  const listening = Promise.withResolvers<number>();
  child.on('message', (facts: SinkFacts) => {
    if (facts.port) listening.resolve(facts.port);
    if (facts.body) bodies.push(facts.body);
    within = Math.max(within, facts.within ?? 0);
  });
  return { port: await listening.promise, bodies, most: () => within };
}

/** The most memory that the process had until it is stopped. */
function watchMemory(): () => number {
  let most = process.memoryUsage.rss();
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return most;
  };
}

function piece(position: number): Buffer {
  return Buffer.alloc(MAX_PIECE_BYTES, `piece ${String(position).padStart(8)}\r\n`);
}

t.test('20 sessions with 25 MiB each stay under 100 MiB more than idle', async (t) => {
  const sink = await startSink(t, SESSIONS);
  const harness = await setUpFor(t, sink.port, {
    timeoutFactor: 1,
    threads: 2,
    limits: { sessions: SESSIONS, sessionsPerGroup: SESSIONS, messagesPerSession: 1, lingerMs: 50 },
  });
  const { store, tenantId, domainId } = harness;
  const [id, now] = [harness.newId(), Date.now()];
  const hash = createHash('sha256');
  for (let position = 0; position < PIECES; position++) {
    const bytes = piece(position);
    hash.update(bytes);
    await store.writtenMails.keepPiece({ tenantId, id, position, bytes, at: now });
  }
  const facts = { bytes: PIECES * MAX_PIECE_BYTES, pieces: PIECES, bodyHash: 'not looked at', eightBit: false };
  const to = Array.from({ length: SESSIONS }, (_, index) => `user${index}@rcpt.test`);
  const result = await store.submissions.accept({
    ...{ id, tenantId, domainId, apiKeyId: harness.newId(), idempotencyKey: null },
    ...{ from: { address: 'a@sender.test', name: null }, subject: 'Large', html: null, text: null, headers: [] },
    written: {
      source: 'smtp',
      ...facts,
      header: Buffer.from('From: a@sender.test\r\n'),
      messageId: 'large@sender.test',
    },
    recipients: to.map((address) => harness.recipient(address)),
    ...{ acceptedAt: now, expiresAt: now + 3_600_000 },
  });
  if (result.kind !== 'accepted') throw new Error(result.kind);
  setOneMx(harness);

  const idle = process.memoryUsage.rss();
  const stop = watchMemory();
  harness.delivery.notice(result.lanes);
  const messages = await harness.untilAll(result.receipt.messageIds, isFinished);
  const more = stop() - idle;
  t.same(new Set(messages.map(({ state }) => state)), new Set(['delivered']));
  t.equal(sink.most(), SESSIONS, 'all of them were within the body before the first was read');
  const sha256 = hash.digest('hex');
  t.same(
    sink.bodies.toSorted((a, b) => (a.to < b.to ? -1 : 1)),
    to.toSorted().map((address) => ({ to: address, bytes: facts.bytes, sha256 })),
  );
  t.ok(more < MAX_MORE_BYTES, `${Math.round(more / MIB)} MiB more`);
});
