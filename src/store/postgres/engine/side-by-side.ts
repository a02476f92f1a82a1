// Which verbs of a group run side by side (waves.ts), and why that changes nothing.
import type { ClaimTerms } from '../../queue.ts';
import type { NewSubmission } from '../../submissions.ts';
import type { DeliveryClaim, DeliveryResult } from '../../webhooks.ts';
import type { NewPiece } from '../../written-mails.ts';

export interface Beside {
  /** Two verbs that have one of these in common do not run side by side. */
  apart: readonly string[];
  /**
   * Those beside each other begin in this order. An insert waits for a transaction of another node that has inserted the same
   * key: two that insert the same keys in different orders would wait for each other.
   */
  order: string;
}

type Rule = (...args: never[]) => Beside;

/*
 * Their transaction is SERIALIZABLE, which protects it from those of other nodes, but not its own verbs from each other:
 * each sees what those beside it have written up to then. So whatever runs side by side must answer and write as if these
 * verbs had run one after the other in some order; which order is free, since none of their callers has an answer yet. That
 * holds for the verbs below, by what they share:
 *
 *   * accept with accept: an idempotency key, which one insert with ON CONFLICT gets, behind its messages, so that whoever does
 *     not get it finds the whole receipt; lanes, which `ensured` makes once; counters, which are sums. The rest are rows of its own.
 *   * record and release with each other: a message, which the first UPDATE moves out of its claim (state and attempt are
 *     in its WHERE), so that the second one changes nothing. A hard bounce is inserted before bounces of other tenants are
 *     looked for, so of two at least one sees the other.
 *   * accept with record: suppressions, which only one of them writes, and the other reads once for each address.
 *   * endWaiting with record and release: the same, by the state in its WHERE. With claim: that UPDATE is its first statement,
 *     sent before any claim beside it has looked.
 *   * claim looks at the waiting messages of a lane and then marks them, by their IDs alone: never beside another claim of
 *     that lane, nor one that counts the same source addresses. Beside accept and record a message may wait in the lane only
 *     after it was looked at; then it is what `nextDueAt` says.
 *   * claims and results of webhooks look and then write as well: one at a time for each webhook. What events add to its
 *     deliveries meanwhile is due later, and is announced.
 *   * pieces of a written mail, and its accept: one at a time for each mail.
 *
 * Any other verb runs alone, in its place among them.
 */
const RULES: Readonly<Record<string, Rule>> = {
  'submissions.accept': ({ tenantId, id, idempotencyKey, written }: NewSubmission) => ({
    apart: written ? [mailOf(tenantId, id)] : [],
    order: idempotencyKey === null ? '' : `${tenantId} ${idempotencyKey}`,
  }),
  'queue.record': () => ({ apart: [], order: '' }),
  'queue.release': () => ({ apart: [], order: '' }),
  'queue.endWaiting': () => ({ apart: [], order: '' }),
  'queue.claim': (lane: number, _limit: number, { from }: ClaimTerms) => ({
    apart: [`lane ${lane}`, ...(from ? [`sources towards ${from.facts.mxGroup}`] : [])],
    order: '',
  }),
  'webhooks.claimDeliveries': (claims: DeliveryClaim[]) => ({
    apart: claims.map(({ webhookId }) => `webhook ${webhookId}`),
    order: '',
  }),
  'webhooks.recordDeliveries': (results: DeliveryResult[]) => ({
    apart: results.map(({ delivery }) => `webhook ${delivery.webhookId}`),
    order: '',
  }),
  'writtenMails.keepPiece': ({ tenantId, id }: NewPiece) => ({ apart: [mailOf(tenantId, id)], order: '' }),
};

function mailOf(tenantId: string, submissionId: string): string {
  return `written mail ${tenantId} ${submissionId}`;
}

/** Null: the verb runs alone. */
export function besideOf(verb: string, args: readonly unknown[]): Beside | null {
  return RULES[verb]?.(...(args as never[])) ?? null;
}

/**
 * These run alone in a group that takes its turn, as those above do. Contents are numbered in turn, so that the order of their
 * numbers is that of their commits, and the count of tags, which goes on behind the last one that it has seen, misses none.
 * The nodes queue the same scheduled mail: behind the turn of another one, nothing of it is left to do.
 */
const ALONE_IN_TURN: ReadonlySet<string> = new Set(['submissions.acceptBatch', 'queue.queueScheduled']);

/** Whether its group takes turns with those of other nodes. */
export function takesTurn(verb: string): boolean {
  return verb in RULES || ALONE_IN_TURN.has(verb);
}

/** Verbs of one round run side by side, the rounds one after the other. */
export function inRounds<Verb extends { beside: Beside | null }>(verbs: readonly Verb[]): Verb[][] {
  const done: Verb[][] = [];
  let open: Verb[][] = [];
  let lastRoundOf = new Map<string, number>();
  const close = () => {
    for (const round of open) done.push(round.sort((one, other) => compare(one.beside!.order, other.beside!.order)));
    open = [];
    lastRoundOf = new Map();
  };
  for (const verb of verbs) {
    if (!verb.beside) {
      close();
      done.push([verb]);
      continue;
    }
    const { apart } = verb.beside;
    const round = apart.reduce((latest, name) => Math.max(latest, (lastRoundOf.get(name) ?? -1) + 1), 0);
    for (const name of apart) lastRoundOf.set(name, round);
    if (open[round]) open[round].push(verb);
    else open[round] = [verb];
  }
  close();
  return done;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
