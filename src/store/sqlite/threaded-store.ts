// The store as the daemon opens it. What writes is done by a thread of its own, so that nobody who is
// served waits for the disk; what reads is answered at once, by a connection of this thread's own.
import type { Store } from '../store.ts';
import { WRITES } from './engine/local-connection.ts';
import { verbsOf } from './open.ts';
import { Writer, type WriterOptions } from './writer.ts';

/*
 * Two connections to one file. The writer's thread has the only one that writes: calls reach it as messages, it runs all
 * that came in one turn as a group with one commit, and answers after it. This thread's connection reads what is
 * committed, at once. What is cached about tenants, keys, domains and lanes is dropped on both sides before the answer of
 * a verb that changed any of it is handed out, so a caller always reads what it wrote. When the thread dies nobody can
 * know what was committed last: every waiting caller fails, and the daemon ends.
 */

export interface ThreadedStoreOptions<Company> extends Omit<WriterOptions, 'entry'> {
  /** What the thread runs, and the verbs that it has beside the store's. The store alone when left out. */
  thread?: { entry: URL; verbs: readonly (keyof Company & string)[] };
}

export async function openThreadedStore<Company extends object = object>({
  thread,
  ...options
}: ThreadedStoreOptions<Company>): Promise<Store & Company> {
  const writer = new Writer({ ...options, ...(thread && { entry: thread.entry }) });
  const local = await writer.opened;
  const verbs = Object.entries(verbsOf(local) as unknown as Record<string, Verb>).map(
    ([name, verb]) => [name, readOrHandOver(writer, name, verb)] as const,
  );
  const beside = (thread?.verbs ?? []).map((name) => [name, (...args: unknown[]) => writer.call(name, args)] as const);
  return {
    ...(Object.fromEntries(beside) as Company),
    ...(Object.fromEntries(verbs) as unknown as Store),
    watchDeliveries: (listener) => writer.watchDeliveries(listener),
    ping: () => (writer.call('ping', []) as Promise<boolean>).catch(() => false),
    proveWritable: (at) => writer.call('proveWritable', [at]) as Promise<void>,
    close: () => writer.close(),
  };
}

type Verb = (...args: unknown[]) => unknown;

/** A verb that writes says so at its first call, before it has done anything. */
function readOrHandOver(writer: Writer, name: string, verb: Verb): Verb {
  let writes = false;
  return (...args) => {
    if (!writes) {
      try {
        return verb(...args);
      } catch (error) {
        if (error !== WRITES) throw error;
        writes = true;
      }
    }
    return writer.call(name, args);
  };
}
