// The store as the daemon opens it. What writes is done by a thread of its own, so that nobody who is
// served waits for the disk; what reads is answered at once, by a connection of this thread's own.
import type { Store } from '../store.ts';
import { driverVerbs } from './driver-verbs.ts';
import { bindVerbs } from './engine/bind-verbs.ts';
import { Writer, type WriterOptions } from './writer.ts';

/*
 * Two connections to one file. The writer's thread has the only one that writes: calls reach it as messages, it runs all
 * that came in one turn as a group with one commit, and answers after it. This thread's connection reads what is
 * committed, at once. What is cached about tenants, keys, domains and lanes is dropped on both sides before the answer of
 * a verb that changed any of it is handed out, so a caller always reads what it wrote. When the thread dies nobody can
 * know what was committed last: every waiting caller fails, and the daemon ends.
 */

export interface ThreadedStoreOptions<Extra> extends Omit<WriterOptions, 'entry'> {
  /** What the thread runs, and the verbs that it has beside the store's. The store alone when left out. */
  thread?: { entry: URL; verbs: readonly (keyof Extra & string)[] };
}

export async function openThreadedStore<Extra extends object = object>({
  thread,
  ...options
}: ThreadedStoreOptions<Extra>): Promise<Store & Extra> {
  const writer = new Writer({ ...options, ...(thread && { entry: thread.entry }) });
  const local = await writer.opened;
  const verbs = bindVerbs(driverVerbs(local), ({ name, kind, work }) => {
    if (kind === 'slices') return work;
    if (kind === 'read') return (...args) => local.read(() => work(...args));
    return (...args) => writer.call(name, args);
  });
  const beside = (thread?.verbs ?? []).map((name) => [name, (...args: unknown[]) => writer.call(name, args)] as const);
  return {
    ...(Object.fromEntries(beside) as Extra),
    ...verbs,
    watchDeliveries: (listener) => writer.watchDeliveries(listener),
    ping: () => (writer.call('ping', []) as Promise<boolean>).catch(() => false),
    proveWritable: (at) => writer.call('proveWritable', [at]) as Promise<void>,
    close: () => writer.close(),
  };
}
