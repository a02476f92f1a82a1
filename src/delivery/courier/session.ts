// One courier session with one MX group: receives batches of messages, prepares the next message while
// the last is on the wire, keeps the connection open while the main thread has more, and reports each
// result at once.
import { MailConnection, type MailConnectionKit, type Sendable, type Sent, withPolicy } from './mail-connection.ts';
import type { Batch, CourierReport } from './messages.ts';
import type { Prepare, Prepared } from './prepare.ts';
import type { OrderInbox, StageTimes } from './session-port.ts';

export interface CourierTask extends MailConnectionKit {
  inbox: OrderInbox;
  report(report: CourierReport): void;
  prepare: Prepare;
  now(): number;
  /** Null: nobody asks for the times of stages. */
  stages: StageTimes | null;
  /** Called for each batch; the answer says before each final dot whether its messages may still be sent. */
  fence?(): (() => boolean) | undefined;
}

export async function runCourierSession(task: CourierTask): Promise<void> {
  const connection = new MailConnection(task);
  for (;;) {
    const batch = await task.inbox.nextBatch();
    if (batch === null) break;
    await deliverBatch(task, connection, batch);
    task.report({ kind: 'more' });
  }
  await connection.close();
}

async function deliverBatch(task: CourierTask, connection: MailConnection, batch: Batch): Promise<void> {
  const { messageIds } = batch;
  const preparations = new Preparations(task, batch);
  for (const [index, messageId] of messageIds.entries()) {
    // An announced message is as good as on the wire: it is finished.
    if (task.inbox.stopped && !connection.hasAnnounced) {
      task.report({ kind: 'untried', messageIds: untouched(task, messageIds.slice(index)) });
      return;
    }
    if (!task.inbox.holds(messageId)) continue;
    const prepared = await preparations.take(index);
    const startedAt = task.now();
    const sending = send(task, connection, { messageId, prepared, next: () => preparations.readyAt(index + 1) });
    // Composing and signing the next message takes about as long as sending this one.
    preparations.begin(index + 1);
    const result = await sending;
    if (result.kind === 'withdrawn') continue;
    if (result.kind === 'unavailable') {
      task.report({ kind: 'untried', messageIds: [messageId], reason: result.reason });
      // The others may only wait for the database as well.
      task.report({ kind: 'untried', messageIds: untouched(task, messageIds.slice(index + 1)) });
      return;
    }
    reportResult(task, { messageId, startedAt, result });
    if (result.kind === 'no_connection') {
      // The others would only try the same hosts again, and each could wait as long.
      for (const other of untouched(task, messageIds.slice(index + 1))) {
        task.report({ kind: 'result', messageId: other, startedAt, result });
      }
      return;
    }
  }
}

/** The message may have been given back meanwhile, until its first command is sent. */
async function send(
  { inbox }: CourierTask,
  connection: MailConnection,
  { messageId, prepared, next }: { messageId: string; prepared: Begun; next: () => Sendable | null },
): Promise<Sent> {
  if (prepared.kind === 'unreadable' || prepared.kind === 'unavailable')
    return inbox.begin(messageId) ? prepared : { kind: 'withdrawn' };
  return await connection.send(prepared, { next, begin: () => inbox.begin(messageId) });
}

/** Takes those that are still here, to report what becomes of them. */
function untouched({ inbox }: CourierTask, messageIds: string[]): string[] {
  return messageIds.filter((id) => inbox.begin(id));
}

type Reported = Omit<Extract<CourierReport, { kind: 'result' }>, 'kind' | 'stages'>;

function reportResult({ report, stages }: CourierTask, { messageId, startedAt, result }: Reported): void {
  if (stages === null) report({ kind: 'result', messageId, startedAt, result });
  else report({ kind: 'result', messageId, startedAt, result, stages: stages.take() });
}

type Begun = Sendable | Exclude<Prepared, { kind: 'ready' }>;

/** Prepares the messages of a batch one ahead of the one on the wire; two ahead when the next is announced. */
class Preparations {
  readonly #task: CourierTask;
  readonly #batch: Batch;
  /** One for all of them, also for what is announced: a batch is from one moment, and so are its claims. */
  readonly #mayEnd: Sendable['mayEnd'];
  readonly #begun = new Map<number, { prepared: Promise<Begun>; ready: Sendable | null }>();

  constructor(task: CourierTask, batch: Batch) {
    this.#task = task;
    this.#batch = batch;
    this.#mayEnd = task.fence?.();
  }

  begin(index: number): void {
    if (index >= this.#batch.messageIds.length || this.#begun.has(index) || this.#task.inbox.stopped) return;
    this.#begin(index);
  }

  take(index: number): Promise<Begun> {
    const { prepared } = this.#begun.get(index) ?? this.#begin(index);
    this.#begun.delete(index);
    return prepared;
  }

  /** The message if it is prepared and the session not stopped. The caller may announce it, and soon needs the next. */
  readyAt(index: number): Sendable | null {
    if (this.#task.inbox.stopped) return null;
    const ready = this.#begun.get(index)?.ready ?? null;
    // Announced, it is as good as on the wire.
    if (!ready || !this.#task.inbox.begin(this.#batch.messageIds[index]!)) return null;
    this.begin(index + 1);
    return ready;
  }

  #begin(index: number) {
    const begun = { prepared: this.#prepare(index), ready: null as Sendable | null };
    this.#begun.set(index, begun);
    void begun.prepared.then((prepared) => {
      if (prepared.kind === 'ready') begun.ready = prepared;
    });
    return begun;
  }

  async #prepare(index: number): Promise<Begun> {
    const prepared = await this.#task.prepare(this.#batch, index);
    if (prepared.kind !== 'ready') return prepared;
    return Object.assign(await withPolicy(prepared, this.#task.security), { mayEnd: this.#mayEnd });
  }
}
