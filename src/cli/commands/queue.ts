// queue list | show: what waits, and why. Acting on it is in queue-actions.ts.
import { setImmediate as turn } from 'node:timers/promises';
import { toTimestamp } from '../../base/clock.ts';
import type { GroupExplanation, MessageExplanation } from '../../delivery/explain.ts';
import type { ShapingReason } from '../../delivery/shaping.ts';
import type { AttemptRecord, MessageDetail, QueuedMessage, QueueLane } from '../../store/queue.ts';
import type { LaneCursor, LanePage } from '../../store/shaping.ts';
import { type Answer, done, failed, storeCommand } from '../command.ts';
import { domainName, name, positional, required, uuid, wholeNumber } from '../option.ts';
import type { OperatorServices } from '../services.ts';
import { type Column, printable, renderFacts, renderTable } from '../table.ts';

const DEFAULT_LIMIT = 100;
const LANES_AT_ONCE = 1000;
// The daemon does this beside its own work: some 2 ms, and then it is somebody else's turn.
const EXPLAINED_AT_ONCE = 200;
const message = required(positional(uuid('ID', 'the message')));

interface Filter {
  tenant: string | undefined;
  domain: string | undefined;
  group: string | undefined;
}

export const queueList = storeCommand({
  name: 'queue list',
  summary: 'Lists what is not finished, those that expire first on top, how much waits where, and why.',
  options: {
    tenant: uuid('ID', "only this tenant's"),
    domain: domainName('only mail to this domain'),
    group: name('GROUP', 'only mail to this MX group'),
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `how many messages at most; ${DEFAULT_LIMIT} when not given`),
  },
  async run(services, { limit = DEFAULT_LIMIT, ...filter }) {
    const { explain } = services.queue;
    const ofGroup = filter.group === undefined ? null : await lanesOfGroup(services, filter.group);
    const lanes = (await services.store.queueSummary()).filter((lane) => fits(lane, filter, ofGroup));
    const shown = [];
    for (const lane of lanes) {
      shown.push(showLane(lane, await explain.lane(lane)));
      if (shown.length % EXPLAINED_AT_ONCE === 0) await turn();
    }
    const groups = filter.group === undefined ? explain.groups() : [explain.group(filter.group)];
    const messages = ofGroup ? await messagesOf(services, lanes, limit) : await listed(services, filter, limit);
    return done({ groups: groups.map(showGroup), lanes: shown, messages: messages.map(showMessage) });
  },
  render({ groups, lanes, messages }) {
    const troubled =
      groups.length === 0 ? [] : [renderTable(groups, GROUP_COLUMNS, ''), ...groups.flatMap(groupLines), ''];
    if (messages.length === 0) return [...troubled, 'Nothing waits.'].join('\n');
    const waiting = renderTable(lanes, LANE_COLUMNS, 'Nothing waits: all of these are being sent, or are parked.');
    return [...troubled, waiting, '', renderTable(messages, MESSAGE_COLUMNS, '')].join('\n');
  },
});

function fits(lane: QueueLane, { tenant, domain }: Filter, ofGroup: Set<number> | null): boolean {
  if (ofGroup && !ofGroup.has(lane.lane)) return false;
  return (!tenant || lane.tenantId === tenant) && (!domain || lane.domain === domain);
}

async function lanesOfGroup({ store }: OperatorServices, key: string): Promise<Set<number>> {
  const found = new Set<number>();
  for (let after: LaneCursor | null = null; ; ) {
    const { lanes, next }: LanePage = await store.lanesOf({ kind: 'group', key }, after, LANES_AT_ONCE);
    for (const lane of lanes) found.add(lane);
    if (next === null) return found;
    after = next;
  }
}

function listed({ store }: OperatorServices, { tenant, domain }: Filter, limit: number): Promise<QueuedMessage[]> {
  return store.listQueue({ ...(tenant && { tenantId: tenant }), ...(domain && { domain }), limit });
}

async function messagesOf({ store }: OperatorServices, lanes: QueueLane[], limit: number): Promise<QueuedMessage[]> {
  const found: QueuedMessage[] = [];
  for (const { lane } of lanes) {
    if (found.length >= limit) break;
    for (const { id } of await store.waitingOfLane(lane, limit - found.length)) {
      const waiting = await store.getMessage(id);
      if (waiting) found.push(waiting);
    }
  }
  return found.sort((a, b) => a.expiresAt - b.expiresAt);
}

export const queueShow = storeCommand({
  name: 'queue show',
  summary: 'Shows one message with all its attempts, finished or not, and everything that keeps it waiting.',
  options: { id: message },
  async run({ store, queue }, { id }) {
    const detail = await store.getMessage(id);
    return detail ? done(showDetail(detail, await queue.explain.message(detail))) : noSuchMessage(id);
  },
  render({ attempt_list, waits_for, last_reply, notes, ...facts }) {
    const lines = Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), shown(value)] as const);
    const said = last_reply && [
      ['last reply', `${last_reply.smtp_code} ${last_reply.response}`] as const,
      [
        'means',
        last_reply.rule === null ? null : `${last_reply.meaning} (${last_reply.label}, rule ${last_reply.rule})`,
      ] as const,
    ];
    return [
      renderFacts([...lines, ...(said ?? [])]),
      ...(waits_for.length === 0 ? [] : ['', 'It waits, because', ...waits_for.map(reasonLine)]),
      ...(notes.length === 0
        ? []
        : ['', ...notes.map((note) => `${note.at} ${note.action} by ${note.by}: ${note.note}`)]),
      '',
      renderTable(attempt_list, ATTEMPT_COLUMNS, 'Not attempted yet.'),
    ].join('\n');
  },
});

function noSuchMessage(id: string): Answer<never> {
  return failed(`there is no message ${id}`);
}

interface ShownReason {
  code: string;
  reason: string;
  until: string | null;
}

function showReason({ code, reason, until }: ShapingReason): ShownReason {
  return { code, reason, until: optionalTimestamp(until) };
}

function reasonLine({ reason, until }: ShownReason): string {
  return printable(`- ${reason}${until === null ? '' : ` (until ${until})`}`);
}

function showLane(
  lane: QueueLane,
  { group, reasons, until }: Awaited<ReturnType<OperatorServices['queue']['explain']['lane']>>,
) {
  return {
    tenant_id: lane.tenantId,
    domain: lane.domain,
    group,
    waiting: lane.waiting,
    next_attempt_at: toTimestamp(lane.dueAt),
    reasons: reasons.map(showReason),
    until: optionalTimestamp(until),
  };
}

function showGroup(group: GroupExplanation) {
  return {
    group: group.group,
    limits: group.provider,
    connections: group.open,
    connections_limit: group.permitted,
    connections_allowed: group.ceiling,
    messages_per_connection: group.messagesPerConnection,
    messages_per_minute: group.messagesPerMinute,
    lanes_in_line: group.lanes,
    reasons: group.reasons.map(showReason),
    until: optionalTimestamp(group.until),
    suspensions: group.suspensions.map((suspension) => ({
      scope: suspension.scope,
      tenant_id: suspension.tenantId,
      subject: suspension.subject,
      rule: suspension.rule,
      reply: suspension.reply,
      since: toTimestamp(suspension.since),
      until: toTimestamp(suspension.until),
    })),
  };
}

function groupLines({ group, reasons, suspensions }: ReturnType<typeof showGroup>): string[] {
  const others = suspensions.filter(({ scope }) => scope === 'sender_domain' || scope === 'domain');
  return [
    ...reasons.map((reason) => `${group} ${reasonLine(reason)}`),
    ...others.map(({ scope, subject, rule, until }) =>
      printable(`${group} - ${scope} ${subject} until ${until} (rule ${rule})`),
    ),
  ];
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
    source_address: queued.sourceAddress,
    next_attempt_at: optionalTimestamp(queued.dueAt),
    expires_at: toTimestamp(queued.expiresAt),
    created_at: toTimestamp(queued.createdAt),
    finished_at: optionalTimestamp(queued.finishedAt),
  };
}

function showDetail(detail: MessageDetail, { group, reasons, until, lastReply, notes }: MessageExplanation) {
  const { from, subject, attemptList } = detail;
  const isDue = detail.finishedAt === null && detail.state !== 'sending' && reasons.length === 0;
  const inTurn: ShownReason = {
    code: 'in_turn',
    reason: 'nothing keeps it back: it goes when its turn comes',
    until: null,
  };
  return {
    ...showMessage(detail),
    from,
    subject,
    group,
    earliest_at: optionalTimestamp(until),
    waits_for: isDue ? [inTurn] : reasons.map(showReason),
    last_reply: lastReply && {
      smtp_code: lastReply.smtpCode,
      enhanced_code: lastReply.enhancedCode,
      response: lastReply.response,
      rule: lastReply.rule,
      label: lastReply.label,
      meaning: lastReply.meaning,
    },
    notes: notes.map(({ at, by, action, note }) => ({ at: toTimestamp(at), by, action, note })),
    attempt_list: attemptList.map(showAttempt),
  };
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
    tls_policy: peer.tlsPolicy,
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    response: peer.response,
    elapsed_ms: Math.round(peer.elapsedMs),
  };
}

const GROUP_COLUMNS: Column<ReturnType<typeof showGroup>>[] = [
  { title: 'GROUP', value: (each) => each.group },
  { title: 'CONNECTIONS', value: (each) => `${each.connections} of ${each.connections_limit}` },
  { title: 'ALLOWED', value: (each) => each.connections_allowed },
  { title: 'IN LINE', value: (each) => each.lanes_in_line },
  { title: 'UNTIL', value: (each) => each.until },
];

const LANE_COLUMNS: Column<ReturnType<typeof showLane>>[] = [
  { title: 'WAITING', value: (lane) => lane.waiting },
  { title: 'DOMAIN', value: (lane) => lane.domain },
  { title: 'GROUP', value: (lane) => lane.group },
  { title: 'TENANT', value: (lane) => lane.tenant_id },
  { title: 'NEXT ATTEMPT', value: (lane) => lane.next_attempt_at },
  { title: 'WHY', value: (lane) => lane.reasons.map(({ code }) => code).join(', ') || null },
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
  { title: 'TLS', value: (each) => each.tls?.version ?? null },
  { title: 'MS', value: (each) => each.elapsed_ms },
  { title: 'RESPONSE', value: (each) => each.response },
];

function optionalTimestamp(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}

function shown(value: string | number | boolean | null): string | number | null {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
}
