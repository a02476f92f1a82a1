// What happened to the mail of all tenants, for the operator's overview: in all, by receiver and by source address, over
// time. A receiver or an address that is clicked on has the chart for itself.
import { type Html, html } from '../../http/html.ts';
import { type Figures, type ServiceFigures, UNKNOWN_PROVIDER } from '../../store/figures.ts';
import type { PortalReads } from '../../store/reads.ts';
import { badge, emptyState, table } from '../elements.ts';
import { type ChartRange, chosenRange, everyStep, fittingRange, RANGES, spanOf } from '../overview/chart-range.ts';
import { complaintRate, judgeRate, percentText } from '../overview/complaint-rate.ts';
import {
  bounced,
  bounceRate,
  count,
  deliveredOf,
  deliveryRate,
  ended,
  number,
  outcomeChart,
  providerName,
  sumCard,
  sumOf,
} from '../overview/figures-view.ts';
import { rangeLinks } from '../overview/range-links.ts';
import type { VisitOf } from '../page.ts';
import { orRefusal } from './explained.ts';

const PATH = '/portal/operator';
export const FIGURES_PATH = `${PATH}/figures`;
const POLL_MS = 60_000;
const SHOWN = 20;
/** The sums are kept for a month. */
const MONTH: readonly ChartRange[] = RANGES.filter(({ hours }) => hours <= 30 * 24);

/** What a link asks for; null: everything. */
interface Asked {
  range: string | null;
  receiver: string | null;
  source: string | null;
}

export async function figuresPart(
  reads: Pick<PortalReads, 'serviceFigures'>,
  { query, now }: VisitOf<'operator'>,
): Promise<Html> {
  const asked: Asked = { range: query.get('range'), receiver: query.get('receiver'), source: query.get('source') };
  const read = (range: ChartRange) => {
    const { receiver: provider, source } = asked;
    return reads.serviceFigures(null, { ...spanOf(range, now), provider, source, limit: SHOWN });
  };
  const usual = monthly(chosenRange(asked.range));
  const first = await read(usual);
  const range = first.kind === 'found' ? monthly(fittingRange(asked.range, first.value.points, now)) : usual;
  const found = range === usual ? first : await read(range);
  const shown = orRefusal(found, (figures) => figuresView(figures, { asked, range, now }));
  const ranges = rangeLinks(range, (name) => pathOf(PATH, { ...asked, range: name }), MONTH);
  const poll = html` data-poll="${pathOf(FIGURES_PATH, asked)}" data-poll-ms="${POLL_MS}"`;
  return html`<section id="figures"${poll} aria-labelledby="figures-title"><div class="heading"><h2 id="figures-title">Statistics</h2>${ranges}</div>${shown}</section>`;
}

function monthly(range: ChartRange): ChartRange {
  return MONTH.includes(range) ? range : MONTH.at(-1)!;
}

function pathOf(path: string, asked: Asked): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value !== null) given.set(name, value);
  const query = given.size === 0 ? '' : `?${given}`;
  return path === PATH ? `${path}${query}#figures` : `${path}${query}`;
}

interface View {
  asked: Asked;
  range: ChartRange;
  now: number;
}

function figuresView({ points, providers, sources }: ServiceFigures, view: View): Html {
  const { asked, range, now } = view;
  const about = filterNote(asked);
  if (points.length === 0 && about === null) {
    return emptyState(`No mail in the last ${range.label}`, 'Figures appear a few seconds after mail is sent.');
  }
  const sum = sumOf(points);
  const heads = ['Finished', 'Delivery rate', 'Bounces', 'Complaints', 'Deferred attempts'];
  const byReceiver = providers.map(({ provider, figures }) => [
    html`<a class="roomy" href="${pathOf(PATH, { ...asked, receiver: provider })}">${providerName(provider)}</a>`,
    ...cellsOf(figures),
  ]);
  const bySource = sources.map(({ source, figures }) => [
    html`<a href="${pathOf(PATH, { ...asked, source })}">${sourceName(source)}</a>`,
    ...cellsOf(figures),
  ]);
  return html`${about}${cards(sum)}
<div class="card">${outcomeChart({ points: everyStep(points, spanOf(range, now)), range }, 'Mail by outcome')}</div>
<h3>By receiver</h3>${table({ caption: `By receiver, in the last ${range.label}`, heads: ['Receiver', ...heads] }, byReceiver)}
<h3>By source address</h3>${table({ caption: `By source address, in the last ${range.label}`, heads: ['Source address', ...heads] }, bySource)}`;
}

function filterNote({ receiver, source, range }: Asked): Html | null {
  if (receiver === null && source === null) return null;
  const to = receiver !== null && html` to <strong>${providerName(receiver)}</strong>`;
  const from = source !== null && html` from <strong>${sourceName(source)}</strong>`;
  return html`<p class="notice info">Only mail${to}${from}. <a href="${pathOf(PATH, { range, receiver: null, source: null })}">Show all</a></p>`;
}

function cards(sum: Figures): Html {
  const rate = complaintRate(sum);
  const { tone, words } = judgeRate(rate);
  return html`<div class="cards figures">
${sumCard('Delivery rate', percentText(deliveryRate(sum)), deliveredOf(sum))}
${sumCard('Volume', count(ended(sum)), 'messages finished')}
${sumCard('Bounce rate', percentText(bounceRate(sum)), `${count(bounced(sum))} bounced, ${count(sum.bouncedHard)} of them hard`)}
${sumCard('Complaint rate', percentText(rate), html`${count(sum.complained)} ${badge(words, tone)}`)}
</div>`;
}

function cellsOf(figures: Figures): Html[] {
  const rate = complaintRate(figures);
  const part = (value: number, share: number | null) =>
    html`<span class="whole">${count(value)} (${percentText(share)})</span>`;
  return [
    number(ended(figures)),
    html`${percentText(deliveryRate(figures))}`,
    part(bounced(figures), bounceRate(figures)),
    part(figures.complained, rate),
    number(figures.deferred),
  ];
}

/** Of what was never sent, or went out from an address that the system chose. */
function sourceName(source: string): Html {
  return source === UNKNOWN_PROVIDER ? html`<span class="quiet">not set</span>` : html`<code>${source}</code>`;
}
