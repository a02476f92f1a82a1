// Notices between nodes, by LISTEN and NOTIFY on a connection of their own: a NOTIFY takes one lock of the whole server at
// COMMIT, so it is never sent inside a group, and at most one every 20 ms. Listeners of this process are told directly.
// A notice may be lost with the connection. Behind them the version of the configuration is asked for every second, which
// also finds out soon that the connection is dead.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { NoticeListener, Notices } from '../../notices.ts';
import type { ConfigCache } from './config-cache.ts';
import type { PostgresConnection } from './connection.ts';
import { READ_VERSION } from './read-pool.ts';
import type { Session } from './session.ts';
import type { Statement } from './statements.ts';

const CHANNEL = 'postrider';
const NOTIFY: Statement = { name: 'notify', text: `SELECT pg_notify('${CHANNEL}', $1)`, names: [] };
const NOTIFY_EVERY_MS = 20;
const POLL_MS = 1000;
/** PostgreSQL allows 8,000 bytes; an ID takes 39, a slot at most 11. */
const MAX_IDS = 150;
const MAX_SLOTS = 150;

interface Notice {
  from: string;
  webhooksDue?: string[];
  lanesDue?: number[];
  inboundWaits?: true;
  /** What caches hold may have changed. */
  configChanged?: true;
}

export interface NoticesOptions {
  session: Session;
  cache: ConfigCache;
  onFault?(error: unknown): void;
}

export class PostgresNotices implements Notices {
  readonly #options: NoticesOptions;
  readonly #self = randomUUID();
  readonly #listeners: NoticeListener[] = [];
  readonly #webhooksDue = new Set<string>();
  readonly #lanesDue = new Set<number>();
  readonly #closing = new AbortController();
  #configChanged = false;
  #inboundWaits = false;
  /** That listeners know of. */
  #version: number | null = null;
  #sending: Promise<void> | null = null;
  #listening: Promise<void> | null = null;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Only who listens needs what other nodes say, so a command has no connection for it. */
  listen(listener: NoticeListener): void {
    this.#listeners.push(listener);
    this.#listening ??= this.#keepListening();
  }

  /** After a commit. */
  tell({ webhooksDue, configChanged }: { webhooksDue: ReadonlySet<string>; configChanged: boolean }): void {
    if (this.#closing.signal.aborted || (webhooksDue.size === 0 && !configChanged)) return;
    if (webhooksDue.size > 0) setImmediate(() => this.#webhooksAreDue([...webhooksDue]));
    for (const id of webhooksDue) this.#webhooksDue.add(id);
    this.#configChanged ||= configChanged;
    this.#sending ??= this.#sendAll();
  }

  tellLanes(slots: Iterable<number>): void {
    if (this.#closing.signal.aborted) return;
    for (const slot of slots) this.#lanesDue.add(slot);
    this.#sending ??= this.#sendAll();
  }

  tellInbound(): void {
    if (this.#closing.signal.aborted) return;
    this.#inboundWaits = true;
    this.#sending ??= this.#sendAll();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
    await this.#options.session.close();
    await this.#listening;
  }

  #webhooksAreDue(webhookIds: string[]): void {
    for (const listener of this.#listeners) listener.webhooksDue?.(webhookIds);
  }

  get #hasNews(): boolean {
    return this.#webhooksDue.size > 0 || this.#lanesDue.size > 0 || this.#inboundWaits || this.#configChanged;
  }

  /** What could not be sent is sent later; at the close it is tried once. */
  async #sendAll(): Promise<void> {
    while (this.#hasNews) {
      const notice = this.#takeNews();
      const isSent = await this.#send(notice);
      if (!isSent) {
        if (this.#closing.signal.aborted) break;
        this.#putBack(notice);
      }
      await this.#pause(isSent ? NOTIFY_EVERY_MS : POLL_MS);
    }
    this.#sending = null;
  }

  #takeNews(): Notice {
    const notice: Notice = { from: this.#self };
    if (this.#webhooksDue.size > 0) notice.webhooksDue = takeSome(this.#webhooksDue, MAX_IDS);
    if (this.#lanesDue.size > 0) notice.lanesDue = takeSome(this.#lanesDue, MAX_SLOTS);
    if (this.#inboundWaits) notice.inboundWaits = true;
    if (this.#configChanged) notice.configChanged = true;
    this.#inboundWaits = false;
    this.#configChanged = false;
    return notice;
  }

  #putBack({ webhooksDue = [], lanesDue = [], inboundWaits, configChanged }: Notice): void {
    for (const id of webhooksDue) this.#webhooksDue.add(id);
    for (const slot of lanesDue) this.#lanesDue.add(slot);
    this.#inboundWaits ||= inboundWaits === true;
    this.#configChanged ||= configChanged === true;
  }

  async #send(notice: Notice): Promise<boolean> {
    try {
      const connection = await this.#options.session.connection();
      await connection.send(NOTIFY, [JSON.stringify(notice)], 'arrays');
      return true;
    } catch (error) {
      this.#options.onFault?.(error);
      return false;
    }
  }

  async #keepListening(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#listenUntilLost(await this.#options.session.connection());
      } catch (error) {
        if (!this.#closing.signal.aborted) this.#options.onFault?.(error);
      }
      await this.#pause(POLL_MS);
    }
  }

  async #listenUntilLost(connection: PostgresConnection): Promise<void> {
    connection.onNotice((payload) => this.#hear(payload));
    await connection.sendText(`LISTEN ${CHANNEL}`);
    // Nobody has heard what was told before, also not before the first time: listeners have looked earlier.
    for (const listener of this.#listeners) listener.missed?.();
    this.#version = null;
    while (!this.#closing.signal.aborted && !connection.isLost) {
      const askedAt = performance.now();
      const { rows } = await connection.send(READ_VERSION, [], 'arrays');
      const version = (rows as number[][])[0]![0]!;
      this.#options.cache.see(version, askedAt);
      if (version !== this.#version) for (const listener of this.#listeners) listener.changed?.();
      this.#version = version;
      await this.#pause(POLL_MS);
    }
  }

  #hear(payload: string): void {
    const notice = parseNotice(payload);
    if (!notice || notice.from === this.#self) return;
    if (notice.configChanged) this.#options.cache.doubt();
    if (notice.inboundWaits) for (const listener of this.#listeners) listener.inboundWaits?.();
    if (notice.lanesDue) for (const listener of this.#listeners) listener.lanesDue?.(notice.lanesDue);
    if (notice.webhooksDue) this.#webhooksAreDue(notice.webhooksDue);
  }

  /** Ends early at the close, and keeps no process alive. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
  }
}

function takeSome<T>(from: Set<T>, most: number): T[] {
  const some = [...from].slice(0, most);
  for (const one of some) from.delete(one);
  return some;
}

function isListOf(list: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne);
}

/** Any client of the database can send on the channel. */
function parseNotice(payload: string): Notice | null {
  try {
    const notice = JSON.parse(payload) as Partial<Notice> | null;
    if (typeof notice !== 'object' || typeof notice?.from !== 'string') return null;
    const { webhooksDue: ids = [], lanesDue: slots = [] } = notice;
    const isValid = isListOf(ids, (one) => typeof one === 'string') && isListOf(slots, Number.isInteger);
    return isValid ? (notice as Notice) : null;
  } catch {
    return null;
  }
}
