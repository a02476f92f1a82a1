// The largest things that a call may hold: 50 recipients of 4.9 MiB each, and data of as many
// entries as 5 MiB take, with and without a template. All is accepted and delivered or refused
// with a reason, the daemon answers others meanwhile, and its memory stays within bounds.
import { createHash } from 'node:crypto';
import type { SMTPServerDataStream } from 'smtp-server';
import t, { type Test } from 'tap';
import { type ContractWorld, startContractWorld } from '../../contract/contract-world.ts';
import { inMib, memoryOf, pidByArgument } from '../../contract/process-memory.ts';
import { goodMail } from '../../contract/stage.ts';
import { patience } from '../../support/patience.ts';
import { RECEIVER } from '../../support/world.ts';

const MIB = 1024 * 1024;
const BODY_LIMIT_BYTES = 5 * MIB;
/** Above what the daemon needs when it is idle. Ten sessions, each with a message of 5 MiB composed and signed. */
const ROOM_BYTES = 700 * MIB;
/** How long others may wait at most while a body of any kind is read. */
const OTHERS_WAIT_MS = patience(400);
/** Whoever watches must not be the load. */
const WATCH_PAUSE_MS = 10;

/** Takes in mail of any size and keeps its size and its hash only. */
class CountingSink {
  readonly digests: string[] = [];
  bytes = 0;
  #onMail: () => void = () => {};

  readonly onData = (stream: SMTPServerDataStream, _session: unknown, done: () => void): void => {
    const hash = createHash('sha256');
    let inBody = false;
    let head = '';
    stream.on('data', (piece: Buffer) => {
      this.bytes += piece.length;
      if (inBody) return void hash.update(piece);
      head += piece.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      inBody = true;
      hash.update(Buffer.from(head.slice(end + 4), 'latin1'));
    });
    stream.on('end', () => {
      this.digests.push(hash.digest('hex'));
      done();
      this.#onMail();
    });
  };

  async received(count: number): Promise<void> {
    while (this.digests.length < count) await new Promise<void>((resolve) => (this.#onMail = resolve));
  }
}

/** The slowest answer to a call that asks for little, again and again until it is told to stop. */
function watchHealth(world: ContractWorld) {
  let over = false;
  let worstMs = 0;
  const watching = (async () => {
    while (!over) {
      const startedAt = performance.now();
      const { status } = await world.call('GET /healthz');
      if (status !== 200) throw new Error(`healthz answers ${status}`);
      worstMs = Math.max(worstMs, performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, WATCH_PAUSE_MS));
    }
  })();
  return async (): Promise<number> => {
    over = true;
    await watching;
    return Math.round(worstMs);
  };
}

function reportMemory(t: Test, pid: number, beforeBytes: number): void {
  const { nowBytes, peakBytes } = memoryOf(pid);
  t.comment(`memory: ${inMib(beforeBytes)} MiB before, ${inMib(peakBytes)} at most, ${inMib(nowBytes)} after`);
  t.ok(peakBytes < beforeBytes + ROOM_BYTES, `memory stays within bounds: ${inMib(peakBytes)} MiB`);
}

t.test('50 recipients of 4.9 MiB', async (t) => {
  const sink = new CountingSink();
  const world = await startContractWorld(t, { sink: { server: { onData: sink.onData } } });
  const acme = await world.addSender('acme.test');
  const pid = pidByArgument(world.postrider.configFile);
  const { nowBytes } = memoryOf(pid);
  const stopWatching = watchHealth(world);

  const to = Array.from({ length: 50 }, (_, index) => `reader-${index}@${RECEIVER}`);
  const line = 'Sixty-nine characters and a line break make seventy, all in ASCII.....\n';
  const text = line.repeat(Math.floor((4.9 * MIB) / line.length));
  const body = { ...goodMail(acme.domain), to, text };
  const { status, body: receipt } = await world.call('POST /emails', { key: acme.key, body });
  t.equal(status, 202);
  t.equal(receipt.message_ids.length, 50);
  await sink.received(50);

  t.equal(sink.digests.length, 50, 'each arrived once');
  t.equal(new Set(sink.digests).size, 1, 'with the same body');
  t.ok(sink.bytes > 50 * 4.9 * MIB, `${inMib(sink.bytes)} MiB in all`);
  for (const id of receipt.message_ids) await world.daemon.logged({ fact: 'delivered', message_id: id });
  t.comment(`healthz answered within ${await stopWatching()} ms all the time`);
  reportMemory(t, pid, nowBytes);
});

/** `{"k0":0,"k1":0,…}`: as many different names as fit. */
function manyNames(maxBytes: number): { text: string; count: number } {
  const parts: string[] = [];
  let bytes = 2;
  for (let count = 0; ; count++) {
    const part = `"${count.toString(36)}":0`;
    bytes += part.length + 1;
    if (bytes > maxBytes) return { text: `{${parts.join()}}`, count };
    parts.push(part);
  }
}

t.test('data with a million entries', async (t) => {
  const world = await startContractWorld(t);
  const acme = await world.addSender('acme.test');
  const template = { name: 'Few', text: 'The first one is {{ 0 }}{{ a }}, the empty one {{ [""] }}.' };
  const { id } = (await world.call('POST /templates', { key: acme.key, body: template })).body;
  const pid = pidByArgument(world.postrider.configFile);
  const { nowBytes } = memoryOf(pid);

  const room = BODY_LIMIT_BYTES - 300;
  const names = manyNames(room);
  const million = 1_000_000;
  const datas: Record<string, string> = {
    [`${names.count} different names`]: names.text,
    'a million times the same name': `{${Array(million).fill('"":0').join()}}`,
    'a million entries of a list': `{"a":[${'0,'.repeat(million)}0]}`,
    'a million empty lists': `{"a":[${'[],'.repeat(million)}0]}`,
    'a million levels': `{"a":${'['.repeat(million)}${']'.repeat(million)}}`,
    '370,000 prototypes': `{${Array(370_000).fill('"__proto__":0').join()}}`,
  };
  for (const [about, data] of Object.entries(datas)) {
    for (const templateId of [null, id]) {
      const mail = { ...goodMail(acme.domain), template_id: templateId };
      const body = JSON.stringify(mail).replace('{', `{"data":${data},`);
      t.ok(body.length <= BODY_LIMIT_BYTES, `${body.length} bytes`);
      const send = async () => {
        const stopWatching = watchHealth(world);
        const startedAt = performance.now();
        const answer = await world.call('POST /emails', { key: acme.key, body });
        const elapsedMs = Math.round(performance.now() - startedAt);
        return { answer, elapsedMs, worstMs: await stopWatching() };
      };
      const first = await send();
      // What holds the daemon up does so each time; what else runs on this machine does not.
      const { answer, elapsedMs, worstMs } = first.worstMs < OTHERS_WAIT_MS ? first : await send();
      const how = `${about}, ${templateId ? 'with' : 'without'} a template`;
      t.comment(`${how}: ${answer.status} after ${elapsedMs} ms, others waited ${worstMs} ms at most`);
      // A template may be refused for what it costs, in the words of the contract; nothing else may be.
      const code = answer.status === 202 ? 'accepted' : answer.body.error;
      t.ok(worstMs < OTHERS_WAIT_MS, `${how}: others waited ${worstMs} ms at most`);
      t.ok(code === 'accepted' || (templateId !== null && code === 'validation_failed'), `${how}: ${code}`);
    }
  }
  t.equal((await world.call('POST /emails', { key: acme.key, body: goodMail(acme.domain) })).status, 202, 'it goes on');
  reportMemory(t, pid, nowBytes);
});
