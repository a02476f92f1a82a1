// Entry of the writer thread: opens the store as any other process does, and is called by messages. Ends when it has
// closed the store.
import { parentPort, workerData } from 'node:worker_threads';
import { freeBytes } from '../../base/free-bytes.ts';
import { type Run, verbsByName } from '../sql/bind-verbs.ts';
import type { NewPiece } from '../written-mails.ts';
import {
  sendable,
  type VerbCall,
  type WriterBatch,
  type WriterOrder,
  type WriterReport,
  type WriterTask,
  withBuffers,
} from './engine/writer-messages.ts';
import { openSqliteStore } from './open.ts';

const KEEP_PIECE = 'writtenMails.keepPiece';

const port = parentPort!;

function send(report: WriterReport): void {
  port.postMessage(report);
}

/** Collects what happens in one turn of the event loop, mostly one group, and sends it in one message. */
class Outbox {
  #pending: WriterBatch | null = null;

  get pending(): WriterBatch {
    if (this.#pending) return this.#pending;
    setImmediate(() => this.flush());
    this.#pending = { answers: [], forget: false, webhooksDue: [], groups: [], faults: [] };
    return this.#pending;
  }

  flush(): void {
    if (!this.#pending) return;
    const batch = this.#pending;
    this.#pending = null;
    send({ kind: 'batch', batch });
  }
}

serve(workerData as WriterTask).catch((error: unknown) => {
  send({ kind: 'not_opened', fault: sendable(error) });
  port.close();
});

async function serve({ file, checkpointLimits: limits }: WriterTask): Promise<void> {
  const outbox = new Outbox();
  const fault = (of: 'commit' | 'checkpoint', error: unknown) =>
    outbox.pending.faults.push({ of, fault: sendable(error) });
  const store = await openSqliteStore({
    file,
    onGroup: (group) => outbox.pending.groups.push(group),
    onFailedCommit: (error) => fault('commit', error),
    onCacheStale() {
      outbox.pending.forget = true;
    },
    checkpointThread: { limits, onFault: (error) => fault('checkpoint', error) },
  });
  store.notices.listen({ webhooksDue: (webhookIds) => outbox.pending.webhooksDue.push(...webhookIds) });
  const verbs = new Map<string, Run>([
    ...verbsByName(store),
    ['ping', () => store.ping()],
    ['proveWritable', (at) => store.proveWritable(at as number)],
  ]);
  const answer = async ([number, verb, args]: VerbCall) => {
    try {
      const value = await verbs.get(verb)!(...(withBuffers(args) as unknown[]));
      outbox.pending.answers.push([number, true, value]);
    } catch (error) {
      outbox.pending.answers.push([number, false, sendable(error)]);
    }
  };
  port.on('message', async (order: WriterOrder) => {
    if (order.kind === 'calls') void Promise.all(order.calls.map(answer)).then(() => releasePieces(order.calls));
    else {
      // Every call gets an answer: the other side waits for that before it sends `close`.
      await store.close();
      outbox.flush();
      port.close();
    }
  });
  send({ kind: 'opened' });
}

/**
 * Frees the bytes of pieces that are stored: the collector of a thread with few objects runs only when 64 MiB of such bytes
 * have piled up. Calls of one message may share bytes, so all of them must have been answered.
 */
function releasePieces(calls: readonly VerbCall[]): void {
  for (const [, verb, args] of calls) {
    if (verb === KEEP_PIECE) freeBytes((args[0] as NewPiece).bytes);
  }
}
