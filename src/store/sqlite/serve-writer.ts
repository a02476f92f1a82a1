// The writer's thread: the store as any other process opens it, called by messages; and beside it what
// else is better done where the writing is. Ends when it has closed the store.
import { parentPort, workerData } from 'node:worker_threads';
import type { Logger } from '../../observe/log.ts';
import type { Store } from '../store.ts';
import { type Run, verbsByName } from './engine/bind-verbs.ts';
import {
  sendable,
  type VerbCall,
  type WriterNews,
  type WriterOrder,
  type WriterReport,
  type WriterTask,
  withBuffers,
} from './engine/writer-messages.ts';
import { openSqliteStore } from './open.ts';

/** Verbs that are called as the store's are, and work with it without a message in between. */
export type WriterExtension = (store: Store, log: WriterLog) => object;

/** What the operator is told goes into the one log of the process. */
export type WriterLog = Pick<Logger, 'warn' | 'error'>;

const port = parentPort!;

function tell(report: WriterReport): void {
  port.postMessage(report);
}

const log: WriterLog = {
  warn: (facts, message) => tell({ kind: 'log', level: 'warn', facts, message }),
  error: (facts, message) => tell({ kind: 'log', level: 'error', facts, message }),
};

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

export function serveWriter(makeExtraVerbs: WriterExtension = () => ({})): void {
  serve(workerData as WriterTask, makeExtraVerbs).catch((error: unknown) => {
    tell({ kind: 'not_opened', fault: sendable(error) });
    port.close();
  });
}

async function serve({ file, checkpointLimits: limits }: WriterTask, makeExtraVerbs: WriterExtension): Promise<void> {
  const news = new News();
  const fault = (of: 'commit' | 'checkpoint', error: unknown) =>
    news.untold.faults.push({ of, fault: sendable(error) });
  const store = await openSqliteStore({
    file,
    onGroup: (group) => news.untold.groups.push(group),
    onFailedCommit: (error) => fault('commit', error),
    onCachedChanged() {
      news.untold.forget = true;
    },
    checkpointThread: { limits, onFault: (error) => fault('checkpoint', error) },
  });
  const verbs = new Map<string, Run>([
    ...verbsByName(store),
    ...Object.entries(await extend(store, makeExtraVerbs)),
    ['ping', () => store.ping()],
    ['proveWritable', (at) => store.proveWritable(at as number)],
  ]);
  const answer = async ([number, verb, args]: VerbCall) => {
    try {
      const value = await verbs.get(verb)!(...(withBuffers(args) as unknown[]));
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

/** Without its extra verbs the thread does not serve, and leaves nothing open. */
async function extend(store: Store, makeExtraVerbs: WriterExtension): Promise<object> {
  try {
    return makeExtraVerbs(store, log);
  } catch (error) {
    await store.close();
    throw error;
  }
}
