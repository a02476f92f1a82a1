// The checks at the end of a chaos run: what was promised against what came to the receiver, the webhooks and into
// the store. Each returns what broke it, so that an empty list is a promise kept.
import type { FlakyEndpoint } from './endpoints.ts';
import { fateOf, type Receiver, type ToReport } from './receiver.ts';
import type { Facts, StoredMessage } from './store-under-test.ts';

/** What the world outside of the daemon knows. */
export interface Witness {
  /** Message ids out of 202 answers. */
  promised: ReadonlySet<string>;
  /** Out of 250 replies at the SMTP door: recipients by the submission that was named. */
  queued: ReadonlyMap<string, readonly string[]>;
  /** The submission ids that each idempotency key was answered with. */
  submissions: ReadonlyMap<string, ReadonlySet<string>>;
  receiver: Pick<Receiver, 'times' | 'idsByRecipient' | 'altered'>;
  /** How many kills fell while a message was in flight. */
  inFlight: ReadonlyMap<string, number>;
  /** Reports that were answered 250. */
  reports: ReadonlyMap<string, ToReport['kind']>;
  endpoints: readonly Pick<FlakyEndpoint, 'url' | 'received'>[];
}

export interface Findings {
  /** Promised, and neither arrived nor has an end state that the receiver explains. */
  lost: string[];
  /** Written mails that arrived otherwise than they were written, or whose pieces are not all there. */
  altered: string[];
  /** Answered 250, and not what became of the message. */
  withoutEffect: string[];
  /** Arrived more often than kills explain. */
  twice: string[];
  /** One idempotency key, two submissions; or one recipient of one call, two messages. */
  submittedTwice: string[];
  /** Events that did not reach a webhook, or that no store knows. */
  events: string[];
  attempts: string[];
  other: string[];
}

export function check(witness: Witness, facts: Facts): Findings {
  return {
    lost: [...lost(witness, facts), ...notQueued(witness, facts)],
    altered: [...witness.receiver.altered, ...facts.oddWrittenMails],
    withoutEffect: withoutEffect(witness, facts),
    twice: twice(witness),
    submittedTwice: submittedTwice(witness, facts),
    events: [...oddEvents(facts), ...notTold(witness, facts)],
    attempts: [...oddAttempts(witness, facts), ...facts.oddWebhookAttempts],
    other: [
      ...(facts.damage === null ? [] : [`the database is damaged: ${facts.damage}`]),
      ...(facts.leftovers === 0 ? [] : [`${facts.leftovers} pieces of mails that were not accepted stay`]),
    ],
  };
}

export function hasFailed(findings: Findings): boolean {
  return Object.values(findings).some((list: string[]) => list.length > 0);
}

function lost({ promised, receiver }: Witness, { messages, ofOthers }: Facts): string[] {
  const problems: string[] = [];
  for (const id of promised) if (!messages.has(id)) problems.push(`${id}: promised, and not in the store`);
  for (const id of receiver.times.keys()) {
    if (messages.has(id) || ofOthers.has(id)) continue;
    problems.push(`${id} (${recipientOf(id, receiver)}): arrived, and not in the store`);
  }
  // Those that came in without an answer are held to the same.
  for (const message of messages.values()) {
    const problem = problemWith(message, receiver.times.has(message.id));
    if (problem !== null) problems.push(`${message.id} (${message.recipient}): ${problem}`);
  }
  return problems;
}

function recipientOf(id: string, { idsByRecipient }: Witness['receiver']): string {
  for (const [recipient, ids] of idsByRecipient) if (ids.has(id)) return recipient;
  return 'nobody knows for whom';
}

function notQueued({ queued }: Witness, { messages }: Facts): string[] {
  const stored = new Set([...messages.values()].map(({ submissionId, recipient }) => `${submissionId} ${recipient}`));
  const due = [...queued].flatMap(([id, recipients]) => recipients.map((recipient) => `${id} ${recipient}`));
  return due.filter((one) => !stored.has(one)).map((one) => `${one}: queued, and not in the store`);
}

function problemWith({ recipient, state }: StoredMessage, hasArrived: boolean): string | null {
  const fate = fateOf(recipient);
  if (state === 'bounced' && fate === 'gone') return hasArrived ? 'refused, and it arrived' : null;
  if (!hasArrived) return `${state}, and it never arrived`;
  if (state === 'delivered' || (state === 'bounced' && fate === 'late')) return null;
  return `${state}, and it arrived`;
}

function withoutEffect({ reports }: Witness, { messages }: Facts): string[] {
  const problems: string[] = [];
  for (const [id, kind] of reports) {
    const message = messages.get(id);
    const type = kind === 'dsn' ? 'email.bounced' : 'email.complained';
    const times = message?.events.filter((event) => event === type).length ?? 0;
    const isMarked = kind === 'dsn' ? message?.state === 'bounced' : message?.complained === true;
    if (times !== 1 || !isMarked) problems.push(`${id}: ${kind}, ${times} events ${type}, state ${message?.state}`);
  }
  return problems;
}

function twice({ receiver, inFlight }: Witness): string[] {
  const problems: string[] = [];
  for (const [id, times] of receiver.times) {
    const kills = inFlight.get(id) ?? 0;
    if (times > 1 + kills) problems.push(`${id}: arrived ${times} times, in flight at ${kills} kills`);
  }
  return problems;
}

function submittedTwice({ submissions, receiver }: Witness, { submissionsByKey, messages }: Facts): string[] {
  const problems: string[] = [];
  for (const [key, ids] of submissions) {
    const stored = submissionsByKey.get(key) ?? [];
    if (ids.size !== 1 || stored.length !== 1 || !ids.has(stored[0]!))
      problems.push(`${key}: answered ${[...ids].join(', ')}, stored ${stored.join(', ')}`);
  }
  for (const [recipient, ids] of receiver.idsByRecipient)
    if (ids.size > 1) problems.push(`${recipient}: ${[...ids].join(', ')} arrived`);
  const byRecipient = new Map<string, string>();
  for (const { id, recipient } of messages.values()) {
    const other = byRecipient.get(recipient);
    if (other !== undefined) problems.push(`${recipient}: ${other} and ${id} are stored`);
    byRecipient.set(recipient, id);
  }
  return problems;
}

function oddEvents({ messages }: Facts): string[] {
  const problems: string[] = [];
  for (const { id, state, events } of messages.values()) {
    const count = (type: string) => events.filter((event) => event === type).length;
    const expected = { delivered: count('email.delivered'), bounced: count('email.bounced') };
    const isRight =
      (state !== 'delivered' || expected.delivered === 1) &&
      (state !== 'bounced' || expected.bounced === 1) &&
      expected.delivered <= 1 &&
      expected.bounced <= 1;
    if (!isRight) problems.push(`${id}: ${state}, with the events ${events.join(', ')}`);
  }
  return problems;
}

function notTold({ endpoints }: Witness, { events }: Facts): string[] {
  const problems: string[] = [];
  for (const { url, received } of endpoints) {
    for (const [id, { type, messageId }] of events)
      if (!received.has(id)) problems.push(`${type} of ${messageId} did not reach ${url}`);
    for (const id of received.keys()) if (!events.has(id)) problems.push(`${url} got ${id}, which is not in the store`);
  }
  return problems;
}

/** An attempt that a kill cut off has its number and no record; so has one during which a report ended the message. */
function oddAttempts({ inFlight }: Witness, { messages }: Facts): string[] {
  const problems: string[] = [];
  for (const { id, recipient, state, attempts, attemptNumbers } of messages.values()) {
    const missing = attempts - attemptNumbers.length;
    const isInRange = attemptNumbers.every((number) => number >= 1 && number <= attempts);
    const kills = inFlight.get(id) ?? 0;
    const endedByReport = state === 'bounced' && fateOf(recipient) === 'late' ? 1 : 0;
    if (isInRange && missing >= 0 && missing <= kills + endedByReport) continue;
    problems.push(
      `${id}: ${attempts} attempts, in flight at ${kills} kills, recorded are ${attemptNumbers.join(', ')}`,
    );
  }
  return problems;
}
