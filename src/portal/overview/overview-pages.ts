// The front door of a tenant: what to do first, whether it can send, its figures, what waits and why, what
// happened last. Each part can be asked for alone, so that it stays up to date without the others.
import type { Explainer } from '../../delivery/actions/explain.ts';
import type { ShapingVerdict } from '../../delivery/shaping/shaping.ts';
import { type Html, html } from '../../http/html.ts';
import type { PortalReads, ReadOutcome, WaitingLane } from '../../store/reads.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { badge, heading } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { type SendingStatus, sendingStatus } from '../sending-status.ts';
import { type ChartRange, chosenRange, everyStep, fittingRange, spanOf } from './chart-range.ts';
import { figuresView } from './figures-view.ts';
import { loadFirstSends, type Snippet } from './first-send.ts';
import { firstSendView } from './first-send-view.ts';
import { eventsView, waitingView } from './now-view.ts';
import { type Onboarding, onboarding } from './onboarding.ts';
import { rangeLinks } from './range-links.ts';
import { TAGS_SHOWN, tagsView } from './tags-view.ts';
import { waitingReason } from './waiting.ts';

export interface OverviewServices {
  store: StoreVerbs<{ figures: 'onboardingFacts'; shaping: 'findPause'; domains: 'listDomains' }>;
  reads: Pick<PortalReads, 'chartFigures' | 'tagFigures' | 'waitingMail' | 'latestEvents'>;
  explain: Pick<Explainer, 'lane'>;
  /** `service.base_url`. */
  baseUrl: string;
}

const LANES_SHOWN = 6;
const EVENTS_SHOWN = 8;
const ONBOARDING_POLL_MS = 3000;
const NOW_POLL_MS = 10_000;
const FIGURES_POLL_MS = 60_000;

type Services = OverviewServices & { snippets: readonly Snippet[] };

/** Reads the programs of the client libraries at once; call at the start. */
export function overviewPages(given: OverviewServices): PortalRoute[] {
  const services: Services = { ...given, snippets: loadFirstSends() };
  const part = (name: string, show: (services: Services, visit: VisitOf<'viewer'>) => Promise<Html>) =>
    page({
      path: `/portal/overview/${name}`,
      access: 'viewer',
      show: async (visit) => view({ title: 'Overview', body: await show(services, visit) }),
    });
  return [
    page({ path: '/portal', access: 'viewer', show: (visit) => showOverview(services, visit) }),
    part('start', startPart),
    part('figures', figuresPart),
    part('now', nowPart),
    page({ path: '/portal/overview/tags', access: 'viewer', show: (visit) => showTags(services, visit) }),
  ];
}

async function showOverview(services: Services, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const [start, figures, now, firstSend] = await Promise.all([
    startPart(services, visit),
    figuresPart(services, visit),
    nowPart(services, visit),
    firstSendPart(services, visit),
  ]);
  const send = visit.may('member') && html`<a class="button" href="/portal/messages/new">Send a message</a>`;
  return view({ title: 'Overview', body: html`${heading('Overview', send)}${start}${figures}${now}${firstSend}` });
}

/** Looks again until all is done; then only the status is left. */
async function startPart({ store }: Services, { visitor: { tenant } }: VisitOf<'viewer'>): Promise<Html> {
  const facts = await store.figures.onboardingFacts(tenant.id);
  const paused = (await store.shaping.findPause({ kind: 'tenant', key: tenant.id })) !== null;
  const list = onboarding(facts, tenant.status);
  const status = sendingStatus({ ...facts, tenant, paused });
  const poll = !list.done && html` data-poll="/portal/overview/start" data-poll-ms="${ONBOARDING_POLL_MS}"`;
  return html`<div id="start"${poll}>${statusLine(status)}${!list.done && onboardingList(list)}</div>`;
}

function statusLine({ decision, word, tone, reason, next }: SendingStatus): Html {
  const said = html`${badge(word, tone)} ${reason}${next !== null && html` ${next}`}`;
  return decision === 'open' ? html`<p>${said}</p>` : html`<p class="notice ${tone}">${said}</p>`;
}

function onboardingList({ steps, next }: Onboarding): Html {
  const done = steps.filter((step) => step.done).length;
  const items = steps.map((step) => {
    const isNext = step === next;
    const link =
      step.link && html`<a href="${step.link.path}"${isNext && html` class="button primary"`}>${step.link.label}</a>`;
    return html`<li class="${step.done ? 'done' : isNext ? 'next' : 'open'}"><div><strong>${step.title}</strong> <span class="unseen">${step.done ? 'done' : 'to do'}</span>${step.hint !== null && html`<p>${step.hint}</p>`}</div>${link}</li>`;
  });
  return html`<section class="card" aria-labelledby="start-title"><h2 id="start-title">Getting started <span class="quiet">${done} of ${steps.length}</span></h2><ol class="steps">${items}</ol></section>`;
}

async function figuresPart({ reads }: Services, visit: VisitOf<'viewer'>): Promise<Html> {
  const { tenant } = visit.visitor;
  const name = visit.query.get('range');
  const read = (range: ChartRange) => reads.chartFigures(tenant.id, spanOf(range, visit.now));
  const usual = chosenRange(name);
  const first = await read(usual);
  const range = first.kind === 'found' ? fittingRange(name, first.value.points, visit.now) : usual;
  const found = range === usual ? first : await read(range);
  const tracking = tenant.openTracking || tenant.clickTracking;
  const shown = orReason(found, ({ points, providers }) =>
    figuresView({ range, points: everyStep(points, spanOf(range, visit.now)), providers, tracking }),
  );
  // The first figures are waited for.
  const pollMs = found.kind === 'found' && found.value.points.length === 0 ? NOW_POLL_MS : FIGURES_POLL_MS;
  const asked = name === null ? '' : `?range=${range.name}`;
  const poll = html` data-poll="/portal/overview/figures${asked}" data-poll-ms="${pollMs}"`;
  const byTag = html`<p><a href="/portal/overview/tags?range=${range.name}">Statistics by tag</a></p>`;
  return html`<section id="figures"${poll} aria-labelledby="figures-title"><div class="heading"><h2 id="figures-title">Statistics</h2>${rangeLinks(range, (name) => `/portal?range=${name}#figures`)}</div>${shown}${byTag}</section>`;
}

async function showTags({ reads }: Services, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const range = chosenRange(visit.query.get('range'));
  const asked = { ...spanOf(range, visit.now), limit: TAGS_SHOWN + 1 };
  const found = await reads.tagFigures(visit.visitor.tenant.id, asked);
  const shown = orReason(found, (tags) => tagsView(tags, range));
  const crumb = html`<p class="crumb"><a href="/portal">Overview</a></p>`;
  const links = rangeLinks(range, (name) => `/portal/overview/tags?range=${name}`);
  const title = 'Statistics by tag';
  const status = found.kind === 'found' ? 200 : 503;
  return view({ title, status, body: html`${crumb}${heading(title, links)}${shown}` });
}

async function nowPart({ reads, explain }: Services, visit: VisitOf<'viewer'>): Promise<Html> {
  const { tenant } = visit.visitor;
  const [waiting, events] = await Promise.all([
    reads.waitingMail(tenant.id, LANES_SHOWN),
    reads.latestEvents(tenant.id, EVENTS_SHOWN),
  ]);
  const lanes = waiting.kind === 'found' ? waiting.value.lanes : [];
  const verdicts = await Promise.all(lanes.map((lane) => verdictOf(explain, tenant.id, lane)));
  const reasons = lanes.map((lane, at) => waitingReason(lane, verdicts[at]!, visit.now));
  const queue = orReason(waiting, (mail) => waitingView({ mail, reasons, now: visit.now }));
  const poll = html` data-poll="/portal/overview/now" data-poll-ms="${NOW_POLL_MS}"`;
  return html`<div id="now"${poll}><h2>Queue</h2>${queue}<h2>Latest events</h2>${orReason(events, eventsView)}</div>`;
}

async function verdictOf(
  explain: Services['explain'],
  tenantId: string,
  { lane, domain, dueAt, messages }: WaitingLane,
): Promise<ShapingVerdict | null> {
  return dueAt === null ? null : explain.lane({ lane, tenantId, domain, dueAt, waiting: messages });
}

function orReason<T>(found: ReadOutcome<T>, show: (value: T) => Html): Html {
  return found.kind === 'found' ? show(found.value) : html`<p class="notice warn">${found.reason}</p>`;
}

async function firstSendPart({ store, snippets, baseUrl }: Services, { visitor }: VisitOf<'viewer'>): Promise<Html> {
  const domains = await store.domains.listDomains(visitor.tenant.id);
  const domain = domains.find(({ state }) => state === 'verified')?.name ?? null;
  return firstSendView(snippets, { baseUrl, domain, to: visitor.user.email });
}
