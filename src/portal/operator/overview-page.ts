// The operator's overview: whether mail is accepted, how long the queue is, what needs a person, how all mail does, and
// last what the daemon does for itself. Each part can be asked for alone, so that it stays up to date without the others.
import { SECOND_MS } from '../../base/clock.ts';
import type { TimerStatus } from '../../base/timers.ts';
import type { UnstoredResults } from '../../delivery/outcome/result-writer.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import { silentNodes, statesOfNodes } from '../../operator/node-states.ts';
import type { InboundMailRecord } from '../../store/inbound.ts';
import type { NodeView } from '../../store/owners.ts';
import type { QueuePause } from '../../store/shaping.ts';
import { type DoubtedReceiver, NO_ROUTE } from '../../store/suppressions.ts';
import type { Tenant } from '../../store/tenants.ts';
import { badge, heading, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import type { DoctorState } from './doctor-runs.ts';
import { ageText } from './explained.ts';
import { certificatesTable, timersTable } from './housekeeping-view.ts';
import { NODES_PATH, nodesTable } from './nodes-page.ts';
import type { OperatorServices } from './operator-services.ts';
import { pauseName, pausePath } from './queue-targets.ts';
import { FIGURES_PATH, figuresPart } from './service-figures.ts';

const MOST_OF_EACH = 10;
// A count reads each row, and this page is asked for every few seconds.
const MOST_COUNTED = 1001;
const HUMAN_MAIL_MS = 7 * 24 * 60 * 60 * SECOND_MS;
const NOW_PATH = '/portal/operator/now';
const HOUSEKEEPING_PATH = '/portal/operator/housekeeping';
const POLL_MS = 15 * SECOND_MS;
const HOUSEKEEPING_POLL_MS = 60 * SECOND_MS;

export function overviewPages(services: OperatorServices): PortalRoute[] {
  const part = (path: string, show: (services: OperatorServices, visit: VisitOf<'operator'>) => Promise<Html>) =>
    page({
      path,
      access: 'operator',
      show: async (visit) => view({ title: 'Operator', body: await show(services, visit) }),
    });
  return [
    page({ path: '/portal/operator', access: 'operator', show: (visit) => show(services, visit) }),
    part(NOW_PATH, nowPart),
    part(FIGURES_PATH, ({ reads }, visit) => figuresPart(reads, visit)),
    part(HOUSEKEEPING_PATH, housekeepingPart),
  ];
}

async function show(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const [now, figures, housekeeping] = await Promise.all([
    nowPart(services, visit),
    figuresPart(services.reads, visit),
    housekeepingPart(services, visit),
  ]);
  return view({ title: 'Operator', body: html`${heading('Overview')}\n${now}${figures}${housekeeping}` });
}

async function housekeepingPart(services: OperatorServices, { now }: VisitOf<'operator'>): Promise<Html> {
  const [certificates, { nodes }] = await Promise.all([services.certificates(), statesOfNodes(services.store)]);
  const daemons = html`<h3><a href="${NODES_PATH}">Daemons</a></h3>${nodesTable(nodes)}`;
  const poll = html` data-poll="${HOUSEKEEPING_PATH}" data-poll-ms="${HOUSEKEEPING_POLL_MS}"`;
  return html`<section id="housekeeping"${poll} aria-labelledby="housekeeping-title"><h2 id="housekeeping-title">Housekeeping</h2>
${nodes.length > 0 && daemons}${certificatesTable(certificates, now)}${timersTable(services.timers())}</section>`;
}

async function nowPart(services: OperatorServices, visit: VisitOf<'operator'>): Promise<Html> {
  const { store } = services;
  const [open, [oldest], tenants, doubts, pauses, human, own, held, unsendable, silent] = await Promise.all([
    store.figures.countOpenMessages(),
    store.queue.listQueue({ limit: 1 }),
    store.tenants.listTenants(),
    store.reputation.listDoubtedReceivers(),
    store.shaping.listPauses(MOST_OF_EACH + 1),
    store.inbound.listInbound({ kind: 'human', effect: 'kept', limit: MOST_OF_EACH }),
    ownTroubleOf(services),
    store.queue.countHeld(MOST_COUNTED),
    store.queue.countUnsendable(MOST_COUNTED),
    silentNodes(store),
  ]);
  const intake = services.intake();
  const tasks = tasksOf({
    tenants,
    doubts,
    pauses,
    timers: services.timers(),
    own,
    // A sandbox has no names and addresses outside that could be wrong.
    doctor: services.sandbox ? { kind: 'never' } : services.doctor.last,
    unstored: services.unstoredResults(),
    held,
    unsendable,
    silent,
    human: human === 'unknown' ? [] : human.filter(({ receivedAt }) => receivedAt > visit.now - HUMAN_MAIL_MS),
  });
  return html`<div id="overview" data-poll="${NOW_PATH}" data-poll-ms="${POLL_MS}">
<div class="cards">
<div class="card"><p class="quiet">New mail</p><p class="big">${intake.accepting ? 'Accepted' : 'Refused'}</p><p class="hint">${intake.reason ?? 'Intake is open'}, since ${time(intake.since)}</p></div>
<div class="card"><p class="quiet">In the queue</p><p class="big">${open.toLocaleString('en')}</p><p class="hint">${open === 1 ? 'message' : 'messages'} not finished. <a href="/portal/operator/queue">Why they are waiting</a></p></div>
<div class="card"><p class="quiet">Oldest</p><p class="big">${oldest ? ageText(visit.now - oldest.createdAt) : '–'}</p><p class="hint">${oldest ? html`<a href="/portal/operator/queue/${oldest.id}">View message</a>` : 'Nothing is waiting'}</p></div>
<div class="card"><p class="quiet">Tenants</p><p class="big">${tenants.length.toLocaleString('en')}</p><p class="hint">${tenants.filter(({ status }) => status === 'active').length} active. <a href="/portal/operator/tenants">View all</a></p></div>
</div>
<h2>Needs attention</h2>
${tasks.length === 0 ? html`<p class="card">All clear.</p>` : html`<ul class="tasks">${tasks.map(taskItem)}</ul>`}
</div>`;
}

interface Task {
  kind: string;
  tone: 'bad' | 'warn' | 'busy';
  what: HtmlPart;
  why: HtmlPart;
}

export interface TaskFacts {
  tenants: readonly Tenant[];
  doubts: readonly DoubtedReceiver[];
  /** The service's own mail would stop another tenant; null: it would not. */
  own: { tenantId: string; reason: string } | null;
  pauses: readonly QueuePause[];
  /** Messages that a restore has held. */
  held: number;
  /** Messages that can't be sent as they are. */
  unsendable: number;
  /** Daemons that nobody has heard of. */
  silent: readonly NodeView[];
  timers: readonly TimerStatus[];
  doctor: DoctorState;
  unstored: UnstoredResults | null;
  human: readonly InboundMailRecord[];
}

async function ownTroubleOf({ store, ownDomain, ownTrouble }: OperatorServices): Promise<TaskFacts['own']> {
  const [holder, reason] = await Promise.all([store.domains.findVerifiedHolder(ownDomain), ownTrouble()]);
  return holder && reason !== null ? { tenantId: holder.tenantId, reason } : null;
}

function serviceMail(own: TaskFacts['own']): Task[] {
  if (own === null) return [];
  const what = html`<a href="/portal/operator/tenants/${own.tenantId}">The service’s own mail</a>`;
  return [
    { kind: 'Service mail', tone: 'warn', what, why: `${own.reason}. It isn’t suspended, but receivers notice.` },
  ];
}

/** What only a person can decide; that which stops most mail first. */
export function tasksOf(facts: TaskFacts): Task[] {
  return [
    ...unstoredResults(facts.unstored),
    ...facts.silent.map(({ node, seenAt }): Task => {
      const what = html`<a href="${NODES_PATH}">${node}</a> is silent`;
      const why = html`since ${time(seenAt)}. The other daemons take its mail over. Start it again, or see why it doesn’t reach the database. If it is gone for good: <code>postrider nodes forget ${node}</code>`;
      return { kind: 'Daemon', tone: 'bad', what, why };
    }),
    ...failedChecks(facts.doctor),
    ...serviceMail(facts.own),
    ...facts.timers
      .filter(({ lastResult }) => lastResult?.startsWith('failed'))
      .map(({ name, lastResult }): Task => ({ kind: 'Timer', tone: 'bad', what: name, why: lastResult })),
    ...cut(facts.doubts, '/portal/operator/suppressions', ({ mxGroup, since, reason }) => {
      if (mxGroup === NO_ROUTE) {
        const held = html`<a href="/portal/operator/suppressions">Mail without a route is held</a>`;
        return { kind: 'DNS', tone: 'bad', what: held, why: html`${reason}. It has been held since ${time(since)}.` };
      }
      const what = html`<a href="/portal/operator/suppressions">The hard-bounce rate of ${mxGroup} has spiked</a>`;
      return {
        kind: 'Receiver',
        tone: 'warn',
        what,
        why: html`${reason}. Its hard bounces have counted as soft since ${time(since)}.`,
      };
    }),
    ...heldMail(facts.held),
    ...unsendableMail(facts.unsendable),
    ...cut(facts.pauses, '/portal/operator/queue', (pause) => {
      const what = html`<a href="${pausePath(pause)}">${pauseName(pause)}</a> is paused`;
      return { kind: 'Pause', tone: 'warn', what, why: html`by ${pause.by} since ${time(pause.at)}: ${pause.note}` };
    }),
    ...cut(
      facts.tenants.filter(({ status }) => status === 'in_review'),
      '/portal/operator/tenants?status=in_review',
      ({ id, name, statusReason, createdAt }) => {
        const why = statusReason ?? html`created ${time(createdAt)}, not reviewed yet`;
        return { kind: 'Review', tone: 'busy', what: html`<a href="/portal/operator/tenants/${id}">${name}</a>`, why };
      },
    ),
    ...cut(facts.human, '/portal/operator/inbound', ({ id, mailFrom, finding, receivedAt }) => {
      const subject = typeof finding?.subject === 'string' && finding.subject !== '' ? finding.subject : '(no subject)';
      const what = html`<a href="/portal/operator/inbound/${id}">${subject}</a>`;
      return { kind: 'Mail', tone: 'busy', what, why: html`from ${mailFrom || '<>'}, ${time(receivedAt)}` };
    }),
  ];
}

function counted(count: number): string {
  const number = count === MOST_COUNTED ? 'More than 1,000' : count.toLocaleString('en');
  return `${number} ${count === 1 ? 'message' : 'messages'}`;
}

function unsendableMail(count: number): Task[] {
  if (count === 0) return [];
  const what = html`<a href="/portal/operator/queue">${counted(count)} can’t be sent</a>`;
  const why = html`Each says why, and waits for you: send it again (<code>postrider queue retry ID</code>), or cancel it.`;
  return [{ kind: 'Parked', tone: 'bad', what, why }];
}

function heldMail(held: number): Task[] {
  if (held === 0) return [];
  const text = `${counted(held)} held since a restore`;
  const what = html`<a href="/portal/operator/queue">${text}</a>`;
  const why = html`They may have been sent after the backup. To send them: <code>postrider queue release</code>`;
  return [{ kind: 'Restore', tone: 'warn', what, why }];
}

function unstoredResults(unstored: UnstoredResults | null): Task[] {
  if (!unstored?.isAlarm) return [];
  const { messages, since, reason } = unstored;
  const what = `Results of ${messages} messages cannot be stored`;
  const why = html`since ${time(since)}: ${reason}. They are kept in a journal, and no message is sent twice. Check the disk.`;
  return [{ kind: 'Database', tone: 'bad', what, why }];
}

function failedChecks(doctor: DoctorState): Task[] {
  const link = (text: string) => html`<a href="/portal/operator/doctor">${text}</a>`;
  if (doctor.kind === 'failed')
    return [{ kind: 'Doctor', tone: 'bad', what: link('The checks couldn’t run'), why: doctor.reason }];
  if (doctor.kind !== 'done') return [];
  const failed = doctor.findings.filter(({ health }) => health === 'fail');
  return failed.map(({ check, subject, message }) => ({
    kind: 'Doctor',
    tone: 'bad',
    what: link(check),
    why: `${subject} ${message}`,
  }));
}

/** The first of them, and that there are more. */
function cut<T>(all: readonly T[], path: string, taskOf: (one: T) => Task): Task[] {
  const tasks = all.slice(0, MOST_OF_EACH).map(taskOf);
  const first = tasks[0];
  if (!first || all.length <= MOST_OF_EACH) return tasks;
  return [...tasks, { ...first, what: html`<a href="${path}">and more</a>`, why: '' }];
}

function taskItem({ kind, tone, what, why }: Task): Html {
  return html`<li>${badge(kind, tone)} <div><strong>${what}</strong><br><span class="quiet">${why}</span></div></li>`;
}
