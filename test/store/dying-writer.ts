// A writer's thread for threaded-store.test.ts that opens, and dies at the first call.
import { parentPort } from 'node:worker_threads';
import type { WriterOrder, WriterReport } from '../../src/store/sqlite/engine/writer-messages.ts';

parentPort!.on('message', (order: WriterOrder) => {
  if (order.kind === 'calls') throw new Error('out of luck');
});
parentPort!.postMessage({ kind: 'opened' } satisfies WriterReport);
