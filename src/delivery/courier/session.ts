// One courier task: a session with one MX group. Takes batches of messages, prepares the next
// one while the last is on the wire, keeps the connection for as long as the main thread has
// more, and reports each result as it comes.
import { Line, type LineKit } from './line.ts';
import type { CourierReport, CourierResult } from './messages.ts';
import type { OrderInbox } from './order-inbox.ts';
import type { Prepare, Prepared } from './prepare.ts';

export interface CourierTask extends LineKit {
  inbox: OrderInbox;
  report(report: CourierReport): void;
  prepare: Prepare;
  now(): number;
}

export async function runCourierSession(task: CourierTask): Promise<void> {
  const line = new Line(task);
  for (;;) {
    const messageIds = await task.inbox.nextBatch();
    if (messageIds === null) break;
    await deliverBatch(task, line, messageIds);
    task.report({ kind: 'more' });
  }
  await line.hangUp();
}

async function deliverBatch(task: CourierTask, line: Line, messageIds: string[]): Promise<void> {
  let next = prepareAt(task, messageIds, 0);
  for (const [index, messageId] of messageIds.entries()) {
    if (task.inbox.stopped) {
      task.report({ kind: 'untried', messageIds: messageIds.slice(index) });
      return;
    }
    const prepared = await next!;
    const startedAt = task.now();
    const sending: Promise<CourierResult> = prepared.kind === 'ready' ? line.send(prepared) : Promise.resolve(prepared);
    // Composing and signing the next message takes as long as the network does with this one.
    next = prepareAt(task, messageIds, index + 1);
    const result = await sending;
    task.report({ kind: 'result', messageId, startedAt, result });
    if (result.kind === 'no_connection') {
      // The others would only knock at the same doors again, and each could wait as long.
      for (const other of messageIds.slice(index + 1)) {
        task.report({ kind: 'result', messageId: other, startedAt, result });
      }
      return;
    }
  }
}

function prepareAt(task: CourierTask, messageIds: string[], index: number): Promise<Prepared> | null {
  return index >= messageIds.length || task.inbox.stopped ? null : task.prepare(messageIds, index);
}
