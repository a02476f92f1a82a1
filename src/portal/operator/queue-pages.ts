// The queue as operators see it: by MX group with every reason for waiting, and one part of it (a group, a
// tenant, a recipient domain) with its lanes and messages.
import { isUuid } from '../../base/ids.ts';
import type { GroupExplanation } from '../../delivery/actions/explain.ts';
import type { SourceAddressState } from '../../delivery/route/source-addresses.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import type { QueueGroupSums, QueueMessageView, QueueOverview, QueueSliceView } from '../../store/reads.ts';
import type { OperatorNote, QueuePause, QueueTarget } from '../../store/shaping.ts';
import { badge, emptyState, facts, heading, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { ageText, orRefusal, reasonList } from './explained.ts';
import type { OperatorServices, QueueOperations } from './operator-services.ts';
import { actionForms, findForm, pauseName, pausePath, QUEUE_PATH, readTarget } from './queue-targets.ts';

const MOST = { groups: 100, lanes: 50, messages: 50, pauses: 50, notes: 20, parked: 50 };
/** In place of a group's name: of domains to which nothing has gone yet. */
const UNKNOWN_GROUP = '';

export function queuePages(services: OperatorServices): PortalRoute[] {
  return [page({ path: QUEUE_PATH, access: 'operator', show: (visit) => show(services, visit) })];
}

async function show(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { query } = visit;
  const find = (query.get('find') ?? '').trim();
  if (find !== '') {
    const path = await findPath(services, find);
    return path === null ? showAll(services, visit, `Nothing found for “${find.slice(0, 100)}”.`) : redirect(path);
  }
  for (const kind of ['group', 'tenant', 'domain'] as const) {
    const key = query.get(kind);
    if (key === UNKNOWN_GROUP && kind === 'group') return showSlice(services, visit, null);
    const target = readTarget(kind, key);
    if (target) return showSlice(services, visit, target);
  }
  return showAll(services, visit, null);
}

async function findPath({ store }: OperatorServices, find: string): Promise<string | null> {
  const name = find.toLowerCase();
  if (isUuid(name)) {
    if (await store.queue.getMessage(name)) return pausePath({ kind: 'message', key: name });
    return (await store.tenants.getTenant(name)) ? pausePath({ kind: 'tenant', key: name }) : null;
  }
  if (await store.shaping.isKnownGroup(name)) return pausePath({ kind: 'group', key: name });
  return /^[a-z0-9.-]+\.[a-z0-9-]+$/.test(name) ? pausePath({ kind: 'domain', key: name }) : null;
}

async function showAll(
  services: OperatorServices,
  visit: VisitOf<'operator'>,
  problem: string | null,
): Promise<PageResult> {
  const { store, reads, queue } = services;
  const [overview, parked, pauses, notes] = await Promise.all([
    reads.queueOverview(null),
    reads.parkedMessages(null, MOST.parked),
    store.shaping.listPauses(MOST.pauses),
    store.shaping.listOperatorNotes({ limit: MOST.notes }),
  ]);
  const body = html`${heading('Queue')}
${findForm(problem)}
${orRefusal(
  overview,
  (found) => html`${cards(found, visit.now)}
<h2>By receiver</h2>
${groupsTable(found.groups, queue.explain)}`,
)}
${pauses.length > 0 && html`<h2>Paused by operators</h2>${pausesTable(pauses)}`}
${orRefusal(parked, (messages) => (messages.length === 0 ? html`` : html`<h2>Parked messages</h2><p class="quiet">They are paused individually, or can’t be sent as they are. They wait until an operator decides.</p>${messagesTable(messages)}`))}
${sourcesPart(queue.sources?.() ?? [])}
${notes.length > 0 && html`<h2>Operator actions</h2>${notesTable(notes)}`}`;
  return view({ title: 'Queue', body, status: problem === null ? 200 : 404 });
}

function cards({ groups, parked, sending, oldestCreatedAt }: QueueOverview, now: number): Html {
  const waiting = groups.reduce((sum, group) => sum + group.waiting, 0);
  const one = (name: string, figure: string, note: string) =>
    html`<div class="card"><p class="quiet">${name}</p><p class="big">${figure}</p><p class="hint">${note}</p></div>`;
  return html`<div class="cards">
${one('Waiting', waiting.toLocaleString('en'), `for ${groups.length} receiver${groups.length === 1 ? '' : 's'}`)}
${one('Sending', sending.toLocaleString('en'), 'being sent right now')}
${one('Parked', parked.toLocaleString('en'), 'until an operator decides')}
${one('Oldest', oldestCreatedAt === null ? '–' : ageText(now - oldestCreatedAt), 'since it was accepted')}
</div>`;
}

interface GroupRow {
  mxGroup: string | null;
  sums: QueueGroupSums | null;
  explained: GroupExplanation | null;
}

/** Those where something waits, and those where something is out of the ordinary, once each. */
function groupRows(sums: readonly QueueGroupSums[], explained: readonly GroupExplanation[]): GroupRow[] {
  const byName = new Map(explained.map((one) => [one.group, one]));
  const rows = sums.map((one): GroupRow => {
    const found = one.mxGroup === null ? null : (byName.get(one.mxGroup) ?? null);
    return { mxGroup: one.mxGroup, sums: one, explained: found };
  });
  const waiting = new Set(sums.map(({ mxGroup }) => mxGroup));
  const others = explained.filter(({ group }) => !waiting.has(group));
  return [...rows, ...others.map((one): GroupRow => ({ mxGroup: one.group, sums: null, explained: one }))];
}

function groupsTable(sums: readonly QueueGroupSums[], explain: QueueOperations['explain']): Html {
  const all = groupRows(sums, explain.groups());
  if (all.length === 0)
    return emptyState('No mail is waiting', 'Mail that is scheduled for later, held or being sent is not listed here.');
  const rows = all.slice(0, MOST.groups).map(({ mxGroup, sums: one, explained }): HtmlPart[] => {
    const why = explained ?? (mxGroup === null ? null : explain.group(mxGroup));
    const query = new URLSearchParams({ group: mxGroup ?? UNKNOWN_GROUP });
    return [
      html`<a href="${QUEUE_PATH}?${query.toString()}">${mxGroup ?? 'not known yet'}</a>`,
      html`${(one?.waiting ?? 0).toLocaleString('en')}${one && html`<br><span class="quiet whole">${counted(one.lanes, 'lane')}, ${counted(one.tenants, 'tenant')}</span>`}`,
      why ? limitText(why) : '–',
      one ? time(one.nextDueAt) : '–',
      html`${whyText(why, one)}${one?.lastReason && html`<p class="quiet">Last error: ${one.lastReason}</p>`}`,
    ];
  });
  const more =
    all.length > MOST.groups && html`<p class="quiet">Showing the first ${MOST.groups} of ${all.length} receivers.</p>`;
  return html`${table({ caption: 'By receiver', heads: ['MX group', 'Waiting', 'Connections', 'Next attempt', 'Why it is waiting'] }, rows)}${more}`;
}

function counted(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
}

function limitText({ open, permitted, ceiling, share }: GroupExplanation): string {
  const lowered = permitted < ceiling ? [`lowered to ${permitted} from ${ceiling}`] : [];
  const shared = share === null ? [] : [`this daemon has ${share} of the ${ceiling} that all daemons share`];
  const notes = [...lowered, ...shared];
  const of = `${open} of ${Math.min(permitted, share ?? permitted)}`;
  return notes.length > 0 ? `${of} (${notes.join('; ')})` : of;
}

function whyText(why: GroupExplanation | null, sums: QueueGroupSums | null): HtmlPart {
  const reasons = [...(why?.reasons ?? [])];
  const others = (why?.suspensions ?? []).filter(({ scope }) => scope === 'sender_domain' || scope === 'domain');
  if (reasons.length > 0 || others.length > 0) {
    return html`${reasonList(reasons)}${others.length > 0 && html`<p class="quiet">Paused domains: ${others.length}.</p>`}`;
  }
  return sums ? 'Nothing holds it back; each message is sent when it is due.' : 'Nothing is waiting.';
}

async function showSlice(
  services: OperatorServices,
  visit: VisitOf<'operator'>,
  target: (QueueTarget & { kind: 'group' | 'tenant' | 'domain' | 'message' }) | null,
): Promise<PageResult> {
  const { store, reads, queue } = services;
  const asked = {
    ...(target === null && { mxGroup: null }),
    ...(target?.kind === 'group' && { mxGroup: target.key }),
    ...(target?.kind === 'tenant' && { tenantId: target.key }),
    ...(target?.kind === 'domain' && { domain: target.key }),
  };
  const [slice, pause, notes] = await Promise.all([
    reads.queueSlice(null, { ...asked, lanes: MOST.lanes, messages: MOST.messages }),
    target && store.shaping.findPause(target),
    target ? store.shaping.listOperatorNotes({ target, limit: MOST.notes }) : [],
  ]);
  const title = target ? pauseName(target) : 'Unknown receivers';
  const body = html`<p class="crumb"><a href="${QUEUE_PATH}">Queue</a></p>${heading(title)}
${pause && html`<p class="notice warn">Paused by ${pause.by} since ${time(pause.at)}: ${pause.note}</p>`}
${target === null && html`<p>Nothing has been sent to these domains yet, so their mail servers aren’t known.</p>`}
${target?.kind === 'group' && groupPart(queue.explain.group(target.key))}
${target?.kind === 'tenant' && html`<p><a href="/portal/operator/tenants/${target.key}">View tenant</a></p>`}
${target && actionForms(target, visit.formField)}
${orRefusal(slice, slicePart)}
${notes.length > 0 && html`<h2>Operator actions</h2>${notesTable(notes)}`}`;
  return view({ title, body });
}

function groupPart(group: GroupExplanation): Html {
  const { reasons, provider, lanes, messagesPerConnection, until, suspensions } = group;
  const rows = suspensions.map(({ scope, subject, rule, reply, since, until: end }) => [
    { group: 'everything', source: 'our address', sender_domain: 'sender domain', domain: 'recipient domain' }[scope],
    subject || '–',
    html`<code>${reply}</code><br><span class="quiet">rule ${rule}</span>`,
    time(since),
    time(end),
  ]);
  // Without a reason, only the messages say when: the tables below have their next attempts.
  const held = reasons.length === 0 ? [] : [['Earliest attempt', time(until, 'not known')] as const];
  return html`<div class="card">${reasons.length === 0 ? html`<p>Nothing holds back this receiver’s mail as a whole.</p>` : html`<p><strong>It is waiting because</strong></p>${reasonList(reasons)}`}
${facts([
  ['Connections', `${limitText(group)} open`],
  ['Messages per connection', messagesPerConnection],
  ['Messages per minute', perMinuteText(group)],
  ['Lanes due now', lanes],
  ...held,
  ['Limits from', provider ?? 'the defaults'],
])}</div>
${rows.length > 0 && html`<h2>Pauses caused by its replies</h2>${table({ caption: 'Pauses caused by its replies', heads: ['Scope', 'Subject', 'Reply', 'Since', 'Until'] }, rows)}`}`;
}

function perMinuteText({ messagesPerMinute: limit, perService }: GroupExplanation): string {
  if (limit === null) return 'no limit';
  return perService ? `${limit} from all daemons together` : String(limit);
}

function slicePart({ lanes, laneCount, waiting, messages }: QueueSliceView): Html {
  if (laneCount === 0)
    return emptyState('Nothing is waiting here', 'Messages that are being sent or are parked don’t count as waiting.');
  const rows = lanes.map((lane) => [
    lane.waiting.toLocaleString('en'),
    html`<a href="${pausePath({ kind: 'domain', key: lane.domain })}">${lane.domain}</a>`,
    html`<a href="${pausePath({ kind: 'tenant', key: lane.tenantId })}">${lane.tenantName}</a>`,
    lane.mxGroup === null
      ? '–'
      : html`<a href="${pausePath({ kind: 'group', key: lane.mxGroup })}">${lane.mxGroup}</a>`,
    time(lane.nextDueAt),
  ]);
  const more = laneCount > lanes.length ? ` Showing the ${lanes.length} fullest of ${laneCount}.` : '';
  return html`<h2>Lanes</h2><p class="quiet">${counted(waiting, 'message')} ${waiting === 1 ? 'is' : 'are'} waiting. A lane is one tenant’s mail to one domain.${more}</p>
${table({ caption: 'Lanes', heads: ['Waiting', 'To', 'Tenant', 'MX group', 'Next attempt'] }, rows)}
<h2>Messages</h2><p class="quiet">Next due first.</p>${messagesTable(messages)}`;
}

function messagesTable(messages: readonly QueueMessageView[]): Html {
  const rows = messages.map((one) => [
    html`<a class="roomy" href="${QUEUE_PATH}/${one.id}">${one.recipient}</a>`,
    one.parked ? badge('parked', 'warn') : badge(one.attempts === 0 ? 'queued' : 'deferred'),
    one.attempts,
    time(one.dueAt, 'parked'),
    one.lastReason ?? '',
  ]);
  return table({ caption: 'Messages', heads: ['To', 'State', 'Attempts', 'Next attempt', 'Last error'] }, rows);
}

function pausesTable(pauses: readonly QueuePause[]): Html {
  const rows = pauses.map((pause) => [
    html`<a href="${pausePath(pause)}">${pauseName(pause)}</a>`,
    pause.by,
    time(pause.at),
    pause.note,
  ]);
  return table({ caption: 'Paused by operators', heads: ['What', 'By', 'Since', 'Reason'] }, rows);
}

export function notesTable(notes: readonly OperatorNote[]): Html {
  const rows = notes.map((note) => [
    time(note.at),
    note.by,
    note.action,
    html`<a href="${pausePath(note)}">${pauseName(note)}</a>`,
    note.messages ?? '–',
    note.note,
  ]);
  return table({ caption: 'Operator actions', heads: ['When', 'Who', 'Action', 'Target', 'Messages', 'Reason'] }, rows);
}

function sourcesPart(sources: readonly SourceAddressState[]): Html | null {
  if (sources.length === 0) return null;
  const rows = sources.map(({ ip, ehloName, weight, warm, usable, reason }) => [
    html`<code>${ip}</code>`,
    ehloName,
    usable ? badge('used', 'good') : badge('not used', 'bad'),
    weight,
    warm ? 'warmed up' : 'warming up',
    reason ?? '',
  ]);
  return html`<h2>Source addresses</h2>${table({ caption: 'Source addresses', heads: ['Address', 'Name', 'State', 'Weight', 'Warm-up', 'Reason'] }, rows)}`;
}
