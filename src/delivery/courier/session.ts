// One courier task: a session with one MX group. Takes batches of messages, prepares the next
// one while the last is on the wire, keeps the connection for as long as the main thread has
// more, and reports each result as it comes.
import { describeError } from '../../base/errors.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { SmtpSession } from '../../protocol/smtp/session.ts';
import { connectToAny, type DoorKnocker } from './connect.ts';
import type { CourierReport, CourierResult } from './messages.ts';
import type { OrderInbox } from './order-inbox.ts';
import type { Prepare, Prepared } from './prepare.ts';

export interface CourierTask {
  hosts: MailHost[];
  inbox: OrderInbox;
  report(report: CourierReport): void;
  prepare: Prepare;
  knocker: DoorKnocker;
  now(): number;
}

type Ready = Extract<Prepared, { kind: 'ready' }>;

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
    task.report({ kind: 'result', messageId, startedAt, result, tlsFailure: line.tlsFailure });
    if (result.kind === 'no_connection') {
      // The others would only knock at the same doors again, and each could wait as long.
      for (const other of messageIds.slice(index + 1)) {
        task.report({ kind: 'result', messageId: other, startedAt, result, tlsFailure: line.tlsFailure });
      }
      return;
    }
  }
}

function prepareAt(task: CourierTask, messageIds: string[], index: number): Promise<Prepared> | null {
  const messageId = messageIds[index];
  return messageId === undefined || task.inbox.stopped ? null : task.prepare(messageId);
}

/** The connection, opened when it is first needed and again when it is gone. */
class Line {
  readonly #task: CourierTask;
  #session: SmtpSession | null = null;
  #messagesOnSession = 0;

  constructor(task: CourierTask) {
    this.#task = task;
  }

  get tlsFailure(): string | null {
    return this.#session?.tlsFailure ?? null;
  }

  async send(message: Ready): Promise<CourierResult> {
    const reused = this.#messagesOnSession > 0;
    const result = await this.#sendOnce(message);
    // A server may end an idle connection at any time. That says nothing about this message,
    // as long as it was not on its way: a fresh connection, once.
    const stale = reused && isGoodbye(result);
    return stale ? await this.#sendOnce(message) : result;
  }

  async hangUp(): Promise<void> {
    await this.#session?.close();
    this.#session = null;
  }

  async #sendOnce(message: Ready): Promise<CourierResult> {
    const session = await this.#open();
    if ('kind' in session) return session;
    this.#messagesOnSession++;
    try {
      return await session.send(message);
    } catch (error) {
      // Refused by our own side before anything was said, such as an address that no command
      // can carry: it must not end the session for the messages behind it.
      return { kind: 'unreadable', reason: `the message cannot be sent: ${describeError(error)}` };
    }
  }

  async #open(): Promise<SmtpSession | Extract<CourierResult, { kind: 'no_connection' }>> {
    if (this.#session?.usable) return this.#session;
    await this.hangUp();
    const connected = await connectToAny(this.#task.hosts, this.#task.knocker);
    if (connected.kind === 'none') return { kind: 'no_connection', peer: connected.peer };
    this.#session = connected.session;
    this.#messagesOnSession = 0;
    return this.#session;
  }
}

/** The server was gone, or said that it is going (421), before this message was on its way. */
function isGoodbye(result: CourierResult): boolean {
  if (result.kind === 'lost') return !result.afterDot && result.peer.stage === 'mail';
  return result.kind === 'refused' && result.peer.smtpCode === 421 && result.peer.stage === 'mail';
}
