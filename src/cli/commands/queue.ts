// queue list | show | retry | cancel
import { toTimestamp } from '../../base/clock.ts';
import type { AttemptRecord, MessageDetail, QueuedMessage } from '../../store/queue.ts';
import type { Store } from '../../store/store.ts';
import { type Answer, done, failed, storeCommand } from '../command.ts';
import { domainName, positional, required, text, uuid, wholeNumber } from '../option.ts';
import { type Column, renderFacts, renderTable } from '../table.ts';

const DEFAULT_LIMIT = 100;
const message = required(positional(uuid('ID', 'the message')));

export const queueList = storeCommand({
  name: 'queue list',
  summary: 'Lists messages that are not finished, those that expire first on top, and how many wait where.',
  options: {
    tenant: uuid('ID', "only this tenant's"),
    domain: domainName('only mail to this domain'),
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `how many messages at most; ${DEFAULT_LIMIT} when not given`),
  },
  async run({ store }, { tenant, domain, limit }) {
    const filter = { ...(tenant && { tenantId: tenant }), ...(domain && { domain }), limit: limit ?? DEFAULT_LIMIT };
    const lanes = (await store.queueSummary()).filter(
      (lane) => (!tenant || lane.tenantId === tenant) && (!domain || lane.domain === domain),
    );
    return done({
      lanes: lanes.map((lane) => ({
        tenant_id: lane.tenantId,
        domain: lane.domain,
        waiting: lane.waiting,
        next_attempt_at: toTimestamp(lane.dueAt),
      })),
      messages: (await store.listQueue(filter)).map(showMessage),
    });
  },
  render({ lanes, messages }) {
    if (messages.length === 0) return 'Nothing waits.';
    const waiting = renderTable(lanes, LANE_COLUMNS, 'Nothing waits: all of these are being sent, or are parked.');
    return `${waiting}\n\n${renderTable(messages, MESSAGE_COLUMNS, '')}`;
  },
});

export const queueShow = storeCommand({
  name: 'queue show',
  summary: 'Shows one message with all its attempts, finished or not.',
  options: { id: message },
  async run({ store }, { id }) {
    const detail = await store.getMessage(id);
    return detail ? done(showDetail(detail)) : noSuchMessage(id);
  },
  render({ attempt_list, ...facts }) {
    const lines = Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), shown(value)] as const);
    return `${renderFacts(lines)}\n\n${renderTable(attempt_list, ATTEMPT_COLUMNS, 'Not attempted yet.')}`;
  },
});

export const queueRetry = storeCommand({
  name: 'queue retry',
  summary: 'Makes a waiting message due now; a parked one gets another chance.',
  options: { id: message },
  async run(services, { id }) {
    const verdict = await services.queue.retry(id);
    return verdict === 'done' ? done({ id, state: await stateOf(services.store, id) }) : notWaiting(services.store, id);
  },
  render: ({ id }) => `Message ${id} is due now.`,
});

export const queueCancel = storeCommand({
  name: 'queue cancel',
  summary: 'Ends a waiting message as failed; its tenant gets the event.',
  options: { id: message, reason: text('TEXT', 'why; the tenant can read it') },
  async run(services, { id, reason }) {
    const verdict = await services.queue.cancel(id, reason ?? 'cancelled by the operator');
    return verdict === 'done' ? done({ id, state: await stateOf(services.store, id) }) : notWaiting(services.store, id);
  },
  render: ({ id }) => `Message ${id} is cancelled.`,
});

async function stateOf(store: Store, id: string): Promise<string | null> {
  return (await store.getMessage(id))?.state ?? null;
}

async function notWaiting(store: Store, id: string): Promise<Answer<never>> {
  const state = await stateOf(store, id);
  if (state === null) return noSuchMessage(id);
  return failed(`the message ${id} does not wait: it is ${state === 'sending' ? 'being sent right now' : state}`);
}

function noSuchMessage(id: string): Answer<never> {
  return failed(`there is no message ${id}`);
}

function showMessage(queued: QueuedMessage) {
  return {
    id: queued.id,
    tenant_id: queued.tenantId,
    submission_id: queued.submissionId,
    to: queued.recipient,
    state: queued.state,
    parked: queued.parked,
    ambiguous: queued.ambiguous,
    attempts: queued.attempts,
    last_reason: queued.lastReason,
    next_attempt_at: optionalTimestamp(queued.dueAt),
    expires_at: toTimestamp(queued.expiresAt),
    created_at: toTimestamp(queued.createdAt),
    finished_at: optionalTimestamp(queued.finishedAt),
  };
}

function showDetail(detail: MessageDetail) {
  const { from, subject, attemptList } = detail;
  return { ...showMessage(detail), from, subject, attempt_list: attemptList.map(showAttempt) };
}

function showAttempt({ attempt, startedAt, outcome, peer }: AttemptRecord) {
  return {
    attempt,
    started_at: toTimestamp(startedAt),
    outcome,
    stage: peer.stage,
    mx: peer.mx,
    remote_ip: peer.remoteIp,
    tls: peer.tls,
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    response: peer.response,
    elapsed_ms: Math.round(peer.elapsedMs),
  };
}

type Lane = { tenant_id: string; domain: string; waiting: number; next_attempt_at: string };

const LANE_COLUMNS: Column<Lane>[] = [
  { title: 'WAITING', value: (lane) => lane.waiting },
  { title: 'DOMAIN', value: (lane) => lane.domain },
  { title: 'TENANT', value: (lane) => lane.tenant_id },
  { title: 'NEXT ATTEMPT', value: (lane) => lane.next_attempt_at },
];

const MESSAGE_COLUMNS: Column<ReturnType<typeof showMessage>>[] = [
  { title: 'MESSAGE', value: (each) => each.id },
  { title: 'STATE', value: (each) => (each.parked ? 'parked' : each.state) },
  { title: 'TRIES', value: (each) => each.attempts },
  { title: 'NEXT ATTEMPT', value: (each) => each.next_attempt_at },
  { title: 'TO', value: (each) => each.to },
  { title: 'REASON', value: (each) => each.last_reason },
];

const ATTEMPT_COLUMNS: Column<ReturnType<typeof showAttempt>>[] = [
  { title: '#', value: (each) => each.attempt },
  { title: 'STARTED', value: (each) => each.started_at },
  { title: 'OUTCOME', value: (each) => each.outcome },
  { title: 'SERVER', value: (each) => each.mx },
  { title: 'STAGE', value: (each) => each.stage },
  { title: 'MS', value: (each) => each.elapsed_ms },
  { title: 'RESPONSE', value: (each) => each.response },
];

function optionalTimestamp(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}

function shown(value: string | number | boolean | null): string | number | null {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
}
