// One MX group: its queue of lanes, and the sessions open to it. Open sessions are counted as connections,
// whatever thread they run in. Shaping decides which lanes may send; a session serves lanes whose mail
// goes to its hosts.
import { MINUTE_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { SessionSource } from '../courier/messages.ts';
import type { AttemptResult } from '../outcome/recorder.ts';
import type { Route } from '../route/routes.ts';
import { SessionHost } from '../session/session-host.ts';
import { latestEnd, type ShapingVerdict } from '../shaping/shaping.ts';
import type { ShapingOutcome } from '../shaping/shaping-state.ts';
import type { GroupKit, GroupPort } from './group-port.ts';
import { GroupSessions } from './group-sessions.ts';
import type { Lane } from './lane.ts';
import { hostsKeyOf, LaneRotation, type SessionTarget, shuffleEquals, type WaitingLane } from './lane-rotation.ts';
import { batchSize, notePace } from './pace.ts';

// The size of a session's first batch; it asks for more while it runs.
const FIRST_BATCH = 20;
/** The longest timer, so that a change of the system clock delays mail by a minute at most. */
const MAX_SLEEP_MS = MINUTE_MS;

/*
 * A group has lanes that wait for their turn, and sessions: starting (messages are being claimed), running, or
 * lingering (connected, waiting for more mail). `pump` is called whenever that may have changed: a lane was added, a
 * session began to linger or ended, a slot became free, a pause ended. It takes the next lane and asks shaping; the
 * lane goes to a lingering session that is connected to its hosts, else to a new session, else everything waits. If
 * shaping says wait, reasons of the lane's own hold this lane, and those about the whole group stop the group until
 * they end. Running sessions ask for their next batch themselves, so the next tenant's turn comes after each batch. A
 * lane that has waited until its route is stale is looked up as it is claimed, and leaves if it goes elsewhere by now.
 * `halt` ends all sessions after the message on the wire: the receiver wants nothing more.
 */
export class Group {
  readonly name: string;
  readonly #kit: GroupKit;
  readonly #port: GroupPort;
  readonly #turns = new LaneRotation();
  readonly #sessions = new GroupSessions();
  #starting = 0;
  /** How many claims of waiting lanes the store has not answered. */
  #claims = 0;
  #stopped = false;
  #alarm: NodeJS.Timeout | null = null;

  constructor(name: string, kit: GroupKit, port: GroupPort) {
    this.name = name;
    this.#kit = kit;
    this.#port = port;
  }

  get idle(): boolean {
    return this.#turns.empty && this.#sessions.size === 0 && this.#starting === 0;
  }

  /** Whether mail waits for its turn, or is being claimed for it. */
  get hasLine(): boolean {
    return !this.#turns.empty || this.#claims > 0;
  }

  /** Connections that are open or being opened. */
  get open(): number {
    return this.#sessions.size + this.#starting;
  }

  /** Lanes in the queue. */
  get lanes(): number {
    return this.#turns.size;
  }

  add(lane: Lane, { hosts, staleAt }: Extract<Route, { kind: 'group' }>, source: SessionSource | null): void {
    // A session has one source address.
    const hostsKey = source ? `${hostsKeyOf(hosts)} from ${source.ip}` : hostsKeyOf(hosts);
    this.#turns.add({ lane, hosts, staleAt, source, hostsKey });
    this.pump();
  }

  /** Gives waiting lanes to lingering sessions, then to new ones. */
  pump(): void {
    for (let next = this.#turns.first(); next && !this.#stopped; next = this.#turns.first()) {
      const lingering = this.#sessions.lingeringTo(next.hostsKey);
      const verdict = this.#verdictFor(next.lane, lingering ? 'open' : 'new');
      if (verdict.decision === 'wait') {
        if (!this.#holdBack(next, verdict)) return;
      } else if (lingering) {
        lingering.wake();
        return;
      } else if (this.#kit.slots.take(this)) this.#start(next);
      else return;
    }
  }

  /** A session waits for a message that is being accepted; the answer takes it, or nothing. Null: it must wait in line. */
  waitFor(mail: Pick<Lane, 'tenantId' | 'domain'>, hosts: MailHost[]): ((messages: ClaimedMessage[]) => void) | null {
    if (this.#stopped || this.hasLine) return null;
    const hostsKey = hostsKeyOf(hosts);
    const lingering = this.#sessions.lingeringTo(hostsKey);
    if (this.#verdictFor(mail, lingering ? 'open' : 'new').decision === 'wait' || this.#allowance(mail) < 1)
      return null;
    if (!lingering && !this.#kit.slots.take(this)) return null;
    const { promise, resolve } = Promise.withResolvers<ClaimedMessage[]>();
    if (lingering) lingering.wake(promise);
    else void this.#startSession({ hosts, source: null, hostsKey, staleAt: Number.POSITIVE_INFINITY }, promise);
    return resolve;
  }

  /** Takes messages back of which no command has been sent. */
  async withdraw(messageIds: readonly string[]): Promise<ClaimedMessage[]> {
    return (await Promise.all(this.#sessions.all().map((host) => host.withdraw(messageIds)))).flat();
  }

  /** Finishes what is on the wire; nothing more is sent until shaping allows it. */
  halt(): void {
    this.#sessions.stopAll();
    this.pump();
  }

  /** The same for those of its connections that are more than that. */
  keepAtMost(most: number): void {
    this.#sessions.stopAllBut(most - this.#starting);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#alarm) clearTimeout(this.#alarm);
    this.#sessions.stopAll();
  }

  /** Whether the queue moves on to the next lane: not when this one waits only for what the whole group waits for. */
  #holdBack(next: WaitingLane, verdict: ShapingVerdict): boolean {
    const own = verdict.reasons.filter(({ reach }) => reach !== 'group');
    if (own.length > 0) {
      // Until its own reasons end: it asks again then, and the lanes behind it wait for the group's alone.
      this.#turns.remove(next);
      this.#port.hold(next.lane, { reasons: own, until: latestEnd(own) });
      return true;
    }
    this.#logWaiting(verdict);
    const timed = verdict.reasons.flatMap(({ until }) => until ?? []);
    if (timed.length > 0) this.#sleepUntil(Math.max(...timed));
    // A lingering connection is closed, so that mail for other hosts of the group can have its slot.
    else this.#sessions.stopOneLingering();
    return false;
  }

  #logWaiting({ reasons, until }: ShapingVerdict): void {
    const { slots, log } = this.#kit;
    if (reasons.some(({ code }) => code === 'all_connections_full')) slots.waitFor(this);
    log.debug({ group: this.name, lanes: this.lanes, until, reasons }, `waits: ${reasons[0]?.reason}`);
  }

  #sleepUntil(at: number): void {
    if (this.#alarm) clearTimeout(this.#alarm);
    const ms = Math.min(Math.max(1, at - this.#kit.clock.now()), MAX_SLEEP_MS);
    this.#alarm = setTimeout(() => this.pump(), ms);
  }

  #start(next: WaitingLane): void {
    const limit = Math.min(batchSize(this.#kit.pace, this.#firstBatch), this.#allowance(next.lane));
    void this.#startSession(next, this.#take(next, limit));
  }

  async #startSession(next: SessionTarget, claiming: Promise<ClaimedMessage[]>): Promise<void> {
    this.#starting++;
    try {
      let first = await claiming;
      // The hosts of a lane that has left the group are nobody's.
      const isLeft = this.#kit.clock.now() >= next.staleAt;
      if (first.length === 0 && !isLeft) first = await this.#nextBatch(next.hostsKey, this.#firstBatch);
      this.#starting--;
      if (this.#stopped) await this.#port.giveBack(this, first);
      else if (first.length > 0) await this.#runSession(next, first);
    } catch (error) {
      this.#kit.log.error({ group: this.name }, `a session with ${this.name} failed: ${describeError(error)}`);
    } finally {
      this.#kit.slots.release();
      this.pump();
      this.#port.onSessionEnd(this);
    }
  }

  async #runSession({ hosts, source, hostsKey }: SessionTarget, first: ClaimedMessage[]): Promise<void> {
    const host: SessionHost = new SessionHost(this.name, this.#kit.session, {
      nextBatch: (limit) => this.#nextBatch(hostsKey, limit),
      giveBack: (messages, dueAt) => this.#port.giveBack(this, messages, dueAt),
      learn: (finding) => this.#learn(finding, this.#sessions.connectedBeside(host, hostsKey)),
      onConnected: () => this.#kit.shaping.connected(this.name, this.#sessions.connectedBeside(null, hostsKey).working),
      onWaiting: (waitingHost, waiting) => this.#onWaiting(waitingHost, waiting),
    });
    this.#sessions.add(host, hostsKey);
    // There may be more lanes than one session can serve.
    this.pump();
    try {
      await host.run({ hosts: shuffleEquals(hosts, this.#kit.random), source }, first);
    } finally {
      this.#sessions.delete(host);
    }
  }

  #learn(finding: AttemptResult, others: ShapingOutcome['others']): boolean {
    const { judgement } = finding;
    const tried = this.#port.learn(this, finding, others);
    if (tried && judgement.kind !== 'unreadable') notePace(this.#kit.pace, judgement.peer.elapsedMs);
    return tried;
  }

  #onWaiting(host: SessionHost, waiting: boolean): void {
    this.#sessions.noteLingering(host, waiting);
    if (waiting) this.pump();
  }

  /** The next batch for a session to these hosts; empty also if another tenant's turn comes first. */
  async #nextBatch(hostsKey: string, limit: number): Promise<ClaimedMessage[]> {
    for (let next = this.#turns.firstTo(hostsKey); next && !this.#stopped; next = this.#turns.firstTo(hostsKey)) {
      if (this.#mustYield(hostsKey)) return [];
      const verdict = this.#verdictFor(next.lane, 'open');
      if (verdict.decision === 'wait') {
        if (!this.#holdBack(next, verdict)) return [];
        continue;
      }
      const messages = await this.#take(next, Math.min(batchSize(this.#kit.pace, limit), this.#allowance(next.lane)));
      if (messages.length > 0) return messages;
    }
    return [];
  }

  /** The next tenant in turn has no mail for these hosts, and no connection is left for its mail. */
  #mustYield(hostsKey: string): boolean {
    const first = this.#turns.first();
    if (!first || this.#turns.isTurnOf(hostsKey)) return false;
    return this.#verdictFor(first.lane, 'new').reasons.some(
      ({ code }) => code === 'connections_full' || code === 'all_connections_full',
    );
  }

  async #take(next: WaitingLane, limit: number): Promise<ClaimedMessage[]> {
    const granted = this.#turns.take(next, limit);
    this.#claims++;
    const messages = await this.#port.claim(this, next, granted).finally(() => this.#claims--);
    this.#turns.refund(next.lane.tenantId, granted - messages.length);
    return messages;
  }

  /** Shaping's verdict on the lane's mail over a new connection, or over an open one. */
  #verdictFor({ tenantId, domain }: Pick<Lane, 'tenantId' | 'domain'>, connection: 'new' | 'open'): ShapingVerdict {
    const { shaping, slots } = this.#kit;
    const connections = connection === 'new' ? { open: slots.open, limit: slots.limit } : null;
    const verdict = shaping.verdict({ tenantId, domain, group: this, connections });
    // What waits for anything else as well takes no connection from other daemons.
    if (connections && verdict.reasons.every(({ code }) => code === 'connections_full'))
      shaping.memory.needConnection(this);
    return verdict;
  }

  get #firstBatch(): number {
    return Math.min(FIRST_BATCH, this.#kit.session.messagesPerSession);
  }

  /** The number of messages that may be claimed at once. */
  #allowance({ tenantId }: Pick<Lane, 'tenantId'>): number {
    return this.#kit.shaping.reservations.room(this.name, tenantId);
  }
}
