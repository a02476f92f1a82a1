// The store as the daemon opens it. A thread of its own writes, so that requests never wait for the disk; reads
// are answered at once, by this thread's own connection.

import { bindVerbs } from '../sql/bind-verbs.ts';
import { driverVerbs } from '../sql/driver-verbs.ts';
import type { Store } from '../store.ts';
import { Writer, type WriterOptions } from './writer.ts';

/*
 * Two connections to one file. Only the writer thread's connection writes: calls reach it as messages, it runs all that
 * came in one turn as a group with one commit, and answers after it. This thread's connection reads what is committed,
 * at once. Cached rows of tenants, keys, domains, webhooks and lanes are dropped on both sides before the answer of a
 * verb that changed any of them is returned, so a caller always reads what it wrote. If the thread dies, it is unknown
 * what was committed last: every waiting caller fails, and the daemon ends.
 */

export async function openThreadedStore(options: WriterOptions): Promise<Store> {
  const writer = new Writer(options);
  const local = await writer.opened;
  const verbs = bindVerbs(driverVerbs(local), (verb) => {
    if (verb.kind === 'slices') return verb.work;
    const { name, kind, work } = verb;
    if (kind === 'read') return (...args) => local.read(() => work(...args));
    return (...args) => writer.call(name, args);
  });
  return {
    ...verbs,
    notices: writer.notices,
    ping: () => (writer.call('ping', []) as Promise<boolean>).catch(() => false),
    proveWritable: (at) => writer.call('proveWritable', [at]) as Promise<void>,
    close: () => writer.close(),
  };
}
