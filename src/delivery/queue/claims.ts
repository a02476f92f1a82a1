// Claims messages from the queue to be sent, and releases those that were not: counts the limits, and
// puts off the mail of sender domains that are paused until the pause ends.

import { type Clock, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { attemptStarted } from '../../observe/mail-log.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { Ownership } from '../../store/ownership.ts';
import {
  type ClaimedMessage,
  type ClaimTerms,
  claimOf,
  type MessageUpdate,
  type UntriedMessage,
} from '../../store/queue.ts';
import { type ClaimSource, chooseSource } from '../../store/source-addresses.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { SessionSource } from '../courier/messages.ts';
import { hostsFor, type SourceAddresses } from '../route/source-addresses.ts';
import { whatPauses } from '../shaping/shaping.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import type { Lane } from './lane.ts';

export interface ClaimsKit {
  store: StoreVerbs<{ queue: 'claim' | 'release' | 'record'; shaping: 'makeLaneDue' }>;
  ownership: Ownership;
  shaping: Shaping;
  results: { readonly isFull: boolean };
  clock: Clock;
  log: Logger;
  /** The pause after each attempt, from the first; a claim stores the next one in case the attempt vanishes. */
  pausesMs(): number[];
}

const AFTER_STORE_FAULT_MS = SECOND_MS;
const TAKEN = 'another process has taken over this slot: mail in it is no longer sent from here';

type Claimed =
  /** When the lane's next mail is due; null: it has no more. */
  | { messages: ClaimedMessage[]; nextDueAt: number | null }
  /** The store was not asked, or failed: nobody knows what the lane has. */
  | { messages: []; retryAt: number };

export class Claims {
  readonly #kit: ClaimsKit;

  constructor(kit: ClaimsKit) {
    this.#kit = kit;
  }

  /**
   * Never rejects: if the store fails, the lane is due again a moment later. `group` is null without a route. A lane whose
   * slot another node has taken has no more mail here.
   */
  async claim(
    lane: Lane,
    limit: number,
    { group, from }: { group: string | null; from: ClaimSource | undefined },
  ): Promise<Claimed> {
    const { store, ownership, clock, shaping, results, log } = this.#kit;
    const now = clock.now();
    const owner = ownership.of(lane.slot);
    if (owner === null) return { messages: [], nextDueAt: null };
    if (results.isFull) return { messages: [], retryAt: now + AFTER_STORE_FAULT_MS };
    if (group !== null) shaping.reservations.reserve(group, lane.tenantId, limit);
    let claimed: ClaimedMessage[] = [];
    try {
      const terms = this.#terms({ owner, now, dueFrom: lane.dueFrom }, from);
      const { messages, nextDueAt, isOver } = await store.queue.claim(lane.id, limit, terms);
      claimed = messages;
      if (isOver) log.error({ slot: lane.slot }, TAKEN);
      const { free, putOffUntil } =
        group === null ? { free: messages, putOffUntil: null } : await this.#putOff(group, messages);
      claimed = free;
      for (const message of free) attemptStarted(log, message, { attempt: message.attempt });
      return { messages: free, nextDueAt: earlier(nextDueAt, putOffUntil) };
    } catch (error) {
      log.error({ error, domain: lane.domain }, `the queue could not be claimed: ${describeError(error)}`);
      // Only this call knows them: without this they would stay marked as being sent, and count as in flight.
      if (claimed.length > 0) await this.giveBack(claimed, null);
      claimed = [];
      return { messages: [], retryAt: clock.now() + AFTER_STORE_FAULT_MS };
    } finally {
      if (group !== null) shaping.reservations.settle(group, lane.tenantId, { reserved: limit, claimed });
    }
  }

  async giveBack(
    messages: readonly ClaimedMessage[],
    group: string | null,
    dueAt = this.#kit.clock.now(),
  ): Promise<LaneNotice[]> {
    try {
      this.#kit.shaping.reservations.givenBack(group, idsOf(messages));
      const { lanes } = await this.#kit.store.queue.release(messages.map(untried), dueAt);
      return lanes;
    } catch (error) {
      // They stay marked as being sent until the next sweep for orphans, or the next start.
      const messageIds = idsOf(messages);
      this.#kit.log.error({ error, messageIds }, `claimed messages could not be released: ${describeError(error)}`);
      return [];
    }
  }

  /** Ends claimed messages that were not tried; returns those. If the store fails, they go back to the queue. */
  async end(
    messages: readonly ClaimedMessage[],
    end: (message: ClaimedMessage) => MessageUpdate,
  ): Promise<ClaimedMessage[]> {
    this.#kit.shaping.reservations.givenBack(null, idsOf(messages));
    const updates = messages.map((message) => Object.assign(end(message), { claim: claimOf(message) }));
    try {
      const { over } = await this.#kit.store.queue.record(updates);
      return messages.filter(({ id }) => !over.includes(id));
    } catch (error) {
      await this.giveBack(messages, null);
      throw error;
    }
  }

  #terms(lane: Pick<ClaimTerms, 'owner' | 'now' | 'dueFrom'>, from: ClaimSource | undefined): ClaimTerms {
    const terms = Object.assign(lane, { dueAgainAt: this.#kit.pausesMs().map((ms) => lane.now + ms) });
    return from ? Object.assign(terms, { from }) : terms;
  }

  /** Only the message shows its sender's domain: a lane contains the mail of all of a tenant's domains. */
  async #putOff(
    group: string,
    messages: ClaimedMessage[],
  ): Promise<{ free: ClaimedMessage[]; putOffUntil: number | null }> {
    const { store, shaping, clock, log } = this.#kit;
    const free: ClaimedMessage[] = [];
    const byEnd = new Map<number, UntriedMessage[]>();
    for (const message of messages) {
      const suspension = shaping.senderSuspension(group, message.tenantId, message.fromDomain);
      if (!suspension) free.push(message);
      else {
        const { until } = suspension;
        byEnd.set(until, [...(byEnd.get(until) ?? []), untried(message)]);
        log.debug({ group, message_id: message.id, until }, `kept back: ${whatPauses(suspension)}`);
      }
    }
    if (byEnd.size === 0) return { free, putOffUntil: null };
    await Promise.all([...byEnd].map(([until, held]) => store.queue.release(held, until, true)));
    // A pause that an operator ended meanwhile has made its messages due again, but not these.
    const stillPaused = (message: ClaimedMessage) =>
      shaping.senderSuspension(group, message.tenantId, message.fromDomain) !== null;
    if (!messages.every((message) => free.includes(message) || stillPaused(message))) {
      const at = clock.now();
      await store.shaping.makeLaneDue(messages[0]!.lane, { at, limit: messages.length, putOff: true });
      return { free, putOffUntil: at };
    }
    return { free, putOffUntil: Math.min(...byEnd.keys()) };
  }
}

function untried({ id, owner, attempt }: ClaimedMessage): UntriedMessage {
  return { id, claim: claimOf({ owner, attempt }) };
}

function idsOf(messages: readonly ClaimedMessage[]): string[] {
  return messages.map(({ id }) => id);
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

// Chooses the source address of a lane's next mail. Each message has its own; a lane queues for the
// address of its first due message, and again for the others.

interface FindSourceKit {
  store: StoreVerbs<{ sources: 'peekDue' }>;
  sources: SourceAddresses;
  clock: Clock;
  log: Pick<Logger, 'debug'>;
}

// Messages that must wait are put off in batches of hundreds; this only looks for the first that need not.
const MAX_PEEKED = 50;

/** Null: all examined messages must wait, and should be put off. */
export async function findSource(
  kit: FindSourceKit,
  lane: Lane,
  { group, hosts }: { group: string; hosts: MailHost[] },
): Promise<SessionSource | null> {
  const { store, sources, clock, log } = kit;
  const now = clock.now();
  const { due, usages } = await store.sources.peekDue(lane.id, {
    now,
    dueFrom: lane.dueFrom,
    mxGroup: group,
    limit: MAX_PEEKED,
  });
  const facts = sources.facts(group, hosts);
  for (const message of due) {
    const choice = chooseSource(message, usages, facts, now);
    if (choice.decision === 'wait') continue;
    const source = sources.source(choice.address);
    logSkipped(log, source, hosts);
    return source;
  }
  return null;
}

function logSkipped(log: FindSourceKit['log'], source: SessionSource, hosts: MailHost[]): void {
  const usable = new Set(hostsFor(source, hosts).map(({ name }) => name));
  for (const { name: mx } of hosts) {
    if (usable.has(mx)) continue;
    log.debug({ mx, source_address: source.ip }, `${mx} is skipped: it has no address of the kind of ${source.ip}`);
  }
}
