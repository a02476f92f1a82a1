// Entry of the writer's thread: the store as any other process opens it, called by messages. Ends when
// it has closed the store.
import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from './open.ts';
import {
  type Call,
  sendable,
  type WriterNews,
  type WriterOrder,
  type WriterReport,
  type WriterTask,
  withBuffers,
} from './writer-messages.ts';

const port = parentPort!;
const { file, checkpointLimits: limits } = workerData as WriterTask;

function tell(report: WriterReport): void {
  port.postMessage(report);
}

/** What happens in one turn of the event loop is told together: mostly all of one group. */
class News {
  #untold: WriterNews | null = null;

  get untold(): WriterNews {
    if (this.#untold) return this.#untold;
    setImmediate(() => this.tell());
    this.#untold = { answers: [], forget: false, groups: [], faults: [] };
    return this.#untold;
  }

  tell(): void {
    if (!this.#untold) return;
    const news = this.#untold;
    this.#untold = null;
    tell({ kind: 'news', news });
  }
}

async function serve(): Promise<void> {
  const news = new News();
  const fault = (of: 'commit' | 'checkpoint', error: unknown) =>
    news.untold.faults.push({ of, fault: sendable(error) });
  const store = await openSqliteStore({
    file,
    onGroup: (group) => news.untold.groups.push(group),
    onFailedCommit: (error) => fault('commit', error),
    onRecalledChanged() {
      news.untold.forget = true;
    },
    checkpointThread: { limits, onFault: (error) => fault('checkpoint', error) },
  });
  const verbs = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const answer = async ([number, verb, args]: Call) => {
    try {
      const value = await verbs[verb]!(...(withBuffers(args) as unknown[]));
      news.untold.answers.push([number, true, value]);
    } catch (error) {
      news.untold.answers.push([number, false, sendable(error)]);
    }
  };
  port.on('message', async (order: WriterOrder) => {
    if (order.kind === 'calls') for (const call of order.calls) void answer(call);
    else if (order.kind === 'watch_deliveries')
      store.watchDeliveries((webhookIds) => tell({ kind: 'due', webhookIds }));
    else {
      // Everything that was called is answered: the other side waits for that first.
      await store.close();
      news.tell();
      port.close();
    }
  });
  tell({ kind: 'opened' });
}

serve().catch((error: unknown) => {
  tell({ kind: 'not_opened', fault: sendable(error) });
  port.close();
});
