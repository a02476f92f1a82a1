// queue list: what waits where, and why. One message is in queue-show.ts, acting on it in queue-actions.ts.
import { setImmediate as turn } from 'node:timers/promises';
import { toTimestamp } from '../../base/clock.ts';
import type { GroupExplanation } from '../../delivery/actions/explain.ts';
import { done } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import type { QueuedMessage, QueueLane } from '../../store/queue.ts';
import { HELD_AFTER_RESTORE } from '../../store/restored.ts';
import type { LaneCursor, LanePage } from '../../store/shaping.ts';
import { storeCommand } from '../command.ts';
import { domainName, name, tenantName, wholeNumber } from '../option.ts';
import { type Column, printable, renderTable } from '../table.ts';
import {
  optionalTimestamp,
  pauseText,
  reasonLine,
  type ShownMessage,
  showMessage,
  showReason,
} from './queued-message.ts';

const DEFAULT_LIMIT = 100;
const LANES_AT_ONCE = 1000;
// The daemon does this beside its own work: some 2 ms, and then it is somebody else's turn.
const EXPLAINED_AT_ONCE = 200;

interface Filter {
  tenant: string | undefined;
  domain: string | undefined;
  group: string | undefined;
}

export const queueList = storeCommand({
  name: 'queue list',
  summary: 'Lists unfinished messages (those that expire first on top), how many wait per destination, and why.',
  options: {
    tenant: tenantName("only this tenant's"),
    domain: domainName('only mail to this domain'),
    group: name('GROUP', 'only mail to this MX group'),
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `maximum number of messages; default: ${DEFAULT_LIMIT}`),
  },
  async run(services, { limit = DEFAULT_LIMIT, ...filter }) {
    const { explain } = services.queue;
    const isKnown = filter.group === undefined ? null : await explain.isKnownGroup(filter.group);
    const ofGroup = filter.group === undefined ? null : await lanesOfGroup(services, filter.group);
    const lanes = (await services.store.queue.queueSummary()).filter((lane) => fits(lane, filter, ofGroup));
    const names = await tenantNames(services);
    const shown = [];
    for (const lane of lanes) {
      shown.push(showLane(lane, names.get(lane.tenantId) ?? null, await explain.lane(lane)));
      if (shown.length % EXPLAINED_AT_ONCE === 0) await turn();
    }
    const groups = filter.group === undefined ? explain.groups() : isKnown ? [explain.group(filter.group)] : [];
    const messages = await listed(services, filter, limit);
    const shownMessages = [];
    for (const each of messages) shownMessages.push(await showMessage(services.store, each));
    return done({
      groups: groups.map(showGroup),
      lanes: shown,
      messages: shownMessages,
      group: filter.group ?? null,
      group_known: isKnown,
    });
  },
  render({ groups, lanes, messages, group, group_known }) {
    if (group_known === false && messages.length === 0) {
      return `No mail is waiting for ${group}, and no MX group of that name is known. postrider queue list shows the groups.`;
    }
    const troubled =
      groups.length === 0 ? [] : [renderTable(groups, GROUP_COLUMNS, ''), ...groups.flatMap(groupLines), ''];
    if (messages.length === 0) return [...troubled, 'The queue is empty.'].join('\n');
    const waiting = renderTable(
      lanes,
      LANE_COLUMNS,
      'Nothing is waiting: these messages are scheduled for later, held, being sent, paused or parked.',
    );
    return [...troubled, waiting, '', renderTable(messages, MESSAGE_COLUMNS, '')].join('\n');
  },
});

async function tenantNames({ store }: OperatorServices): Promise<Map<string, string>> {
  return new Map((await store.tenants.listTenants()).map(({ id, name }) => [id, name]));
}

function fits(lane: QueueLane, { tenant, domain }: Filter, ofGroup: Set<number> | null): boolean {
  if (ofGroup && !ofGroup.has(lane.lane)) return false;
  return (!tenant || lane.tenantId === tenant) && (!domain || lane.domain === domain);
}

async function lanesOfGroup({ store }: OperatorServices, key: string): Promise<Set<number>> {
  const found = new Set<number>();
  for (let after: LaneCursor | null = null; ; ) {
    const { lanes, next }: LanePage = await store.shaping.lanesOf({ kind: 'group', key }, after, LANES_AT_ONCE);
    for (const lane of lanes) found.add(lane);
    if (next === null) return found;
    after = next;
  }
}

function listed({ store }: OperatorServices, filter: Filter, limit: number): Promise<QueuedMessage[]> {
  const { tenant, domain, group } = filter;
  return store.queue.listQueue({
    ...(tenant && { tenantId: tenant }),
    ...(domain && { domain }),
    ...(group && { group }),
    limit,
  });
}

function showLane(
  lane: QueueLane,
  tenant: string | null,
  { group, reasons, until }: Awaited<ReturnType<OperatorServices['queue']['explain']['lane']>>,
) {
  return {
    tenant_id: lane.tenantId,
    tenant,
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
    connections_of_this_daemon: group.share,
    messages_per_connection: group.messagesPerConnection,
    messages_per_minute: group.messagesPerMinute,
    per: group.perService ? 'service' : 'address',
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

const GROUP_COLUMNS: Column<ReturnType<typeof showGroup>>[] = [
  { title: 'GROUP', value: (each) => each.group },
  { title: 'CONNECTIONS', value: (each) => `${each.connections} of ${each.connections_limit}` },
  { title: 'ALLOWED', value: (each) => each.connections_allowed },
  { title: 'LANES DUE', value: (each) => each.lanes_in_line },
  { title: 'UNTIL', value: (each) => each.until },
];

const LANE_COLUMNS: Column<ReturnType<typeof showLane>>[] = [
  { title: 'WAITING', value: (lane) => lane.waiting },
  { title: 'DOMAIN', value: (lane) => lane.domain },
  { title: 'GROUP', value: (lane) => lane.group },
  { title: 'TENANT', value: (lane) => lane.tenant ?? lane.tenant_id },
  { title: 'NEXT ATTEMPT', value: (lane) => lane.next_attempt_at },
  { title: 'WHY', value: (lane) => lane.reasons.map(({ code }) => code).join(', ') || null },
];

function stateText({ paused, parked, state, last_reason: reason }: ShownMessage): string {
  if (paused) return 'paused';
  if (!parked) return state;
  return reason === HELD_AFTER_RESTORE ? 'held' : 'parked';
}

const MESSAGE_COLUMNS: Column<ShownMessage>[] = [
  { title: 'MESSAGE', value: (each) => each.id },
  { title: 'STATE', value: stateText },
  { title: 'TRIES', value: (each) => each.attempts },
  { title: 'NEXT ATTEMPT', value: (each) => each.next_attempt_at },
  { title: 'TO', value: (each) => each.to },
  { title: 'REASON', value: (each) => (each.paused ? `paused ${pauseText(each.paused)}` : each.last_reason) },
];
