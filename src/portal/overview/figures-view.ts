// A tenant's figures as people see them: sums, charts over time, the same as a table, and by provider.
import { type Html, html } from '../../http/html.ts';
import {
  type ChartPoint,
  FIGURE_NAMES,
  type Figures,
  noFigures,
  OTHER_PROVIDERS,
  type ProviderFigures,
  UNKNOWN_PROVIDER,
} from '../../store/figures.ts';
import { badge, emptyState, table } from '../elements.ts';
import { barChart } from './bar-chart.ts';
import { type ChartRange, stepName } from './chart-range.ts';
import { complaintRate, judgeRate, percentText, STOP_RATE, WATCH_RATE } from './complaint-rate.ts';
import { type LineChart, lineChart, roundTop, type Series } from './line-chart.ts';

export interface FiguresShown {
  range: ChartRange;
  /** One for each step of the range. */
  points: readonly ChartPoint[];
  providers: readonly ProviderFigures[];
  /** Whether the tenant lets opens or clicks be counted. */
  tracking: boolean;
}

export function figuresView(shown: FiguresShown): Html {
  const sum = sumOf(shown.points);
  if (FIGURE_NAMES.every((name) => sum[name] === 0)) {
    return emptyState(
      `No mail in the last ${shown.range.label}`,
      'Charts appear a few seconds after you send a message.',
    );
  }
  return html`${sums(sum, shown)}
<div class="card">${outcomeChart(shown, 'Mail by outcome')}</div>
<div class="charts"><div class="card">${troubleChart(shown)}</div><div class="card">${rateChart(shown)}</div></div>
${stepTable(shown)}
<h2>By receiving provider</h2>
<p class="quiet">Large providers ask for a complaint rate below 0.1 %. From 0.3 % on, they refuse a sender’s mail or move it to spam. Deferred means refused temporarily; Postrider retries.</p>
${providerTable(shown)}`;
}

export function sumOf(points: readonly { figures: Figures }[]): Figures {
  const sum = noFigures();
  for (const { figures } of points) for (const name of FIGURE_NAMES) sum[name] += figures[name];
  return sum;
}

export function bounced({ bouncedHard, bouncedSoft, bouncedBlock }: Figures): number {
  return bouncedHard + bouncedSoft + bouncedBlock;
}

const whole = new Intl.NumberFormat('en-US');
export const count = (value: number) => whole.format(value);

function share(part: number, of: number): number | null {
  return of === 0 ? null : part / of;
}

function sums(sum: Figures, { tracking }: FiguresShown): Html {
  const rate = complaintRate(sum);
  const { tone, words } = judgeRate(rate);
  const opened = tracking
    ? `${percentText(share(sum.opened, sum.delivered))} of delivered; ${count(sum.openedByMachine)} by machines`
    : 'Tracking is off (Settings)';
  const kinds = `${count(sum.bouncedHard)} hard, ${count(sum.bouncedSoft)} soft, ${count(sum.bouncedBlock)} blocked`;
  return html`<div class="cards figures">
${sumCard('Delivery rate', percentText(deliveryRate(sum)), deliveredOf(sum))}
${sumCard('Bounced', count(bounced(sum)), kinds)}
${sumCard('Complaints', count(sum.complained), html`${percentText(rate)} ${badge(words, tone)}`)}
${sumCard('Opens', count(sum.opened), opened)}
${sumCard('Accepted', count(sum.accepted), 'for delivery')}
</div>`;
}

/** A server may take a message, which delivers it, and send it back afterwards: it has ended once, and not well. */
function stayed({ delivered, bouncedLater }: Figures): number {
  // What came back may have been delivered before the time that is shown.
  return Math.max(0, delivered - bouncedLater);
}

export function ended(sum: Figures): number {
  return stayed(sum) + bounced(sum) + sum.failed;
}

/** Of what was delivered, bounced or failed; null when nothing was. */
export function deliveryRate(sum: Figures): number | null {
  return share(stayed(sum), ended(sum));
}

/** Of the same; a message that came back after it was delivered has bounced. */
export function bounceRate(sum: Figures): number | null {
  return share(bounced(sum), ended(sum));
}

export function deliveredOf(sum: Figures): string {
  const text = `${count(stayed(sum))} of ${count(ended(sum))} delivered`;
  return sum.bouncedLater === 0 ? text : `${text} (${count(sum.bouncedLater)} bounced later)`;
}

export function sumCard(name: string, value: string, below: Html | string): Html {
  return html`<div class="card"><h3>${name}</h3><p class="big">${value}</p><p class="quiet">${below}</p></div>`;
}

type ChartFrame = Pick<LineChart, 'stepLabels' | 'hints' | 'summary'>;

function frameOf(
  { points, range }: FiguresShown,
  names: readonly [string, (figures: Figures) => string][],
): ChartFrame {
  const said = (figures: Figures) => names.map(([name, say]) => `${name} ${say(figures)}`).join(', ');
  return {
    stepLabels: points.map(({ hour }) => stepName(hour, range, 'short')),
    hints: points.map(({ hour, figures }) => `${stepName(hour, range, 'long')}: ${said(figures)}`),
    summary: `In the last ${range.label}: ${said(sumOf(points))}.`,
  };
}

/** Hours stand below a chart; the tables beside it are in the browser's zone. */
function titleOf(title: string, { stepHours }: ChartRange): string {
  return stepHours === 1 ? `${title} (UTC)` : title;
}

type CountLine = readonly [label: string, of: (figures: Figures) => number, style: number];

function countChart(shown: FiguresShown, { id, title }: { id: string; title: string }, lines: readonly CountLine[]) {
  const series = lines.map(([label, of, style]): Series => {
    return { label, values: shown.points.map(({ figures }) => of(figures)), style };
  });
  const top = roundTop(Math.max(...series.flatMap(({ values }) => values.map(Number))));
  const said = lines.map(([label, of]) => [label.toLowerCase(), (figures: Figures) => count(of(figures))] as const);
  return lineChart({
    id,
    title: titleOf(title, shown.range),
    series,
    top,
    format: count,
    ...frameOf(
      shown,
      said.map(([name, say]) => [name, say]),
    ),
  });
}

/** A message is in one part of its bars, but for deferrals: those count attempts. */
const OUTCOMES: readonly CountLine[] = [
  ['Delivered', (figures) => Math.max(0, stayed(figures) - figures.complained), 2],
  ['Complaints', ({ complained }) => complained, 5],
  ['Bounced', bounced, 4],
  ['Failed', ({ failed }) => failed, 6],
  ['Deferred attempts', ({ deferred }) => deferred, 3],
];

/** Of a tenant's mail, or of all. */
export function outcomeChart({ points, range }: Pick<FiguresShown, 'points' | 'range'>, title: string): Html {
  const sum = sumOf(points);
  return barChart({
    id: 'mail',
    title: titleOf(title, range),
    summary: `In the last ${range.label}: ${OUTCOMES.map(([label, of]) => `${label} ${count(of(sum))}`).join(', ')}.`,
    stepLabels: points.map(({ hour }) => stepName(hour, range, 'short')),
    stepNames: points.map(({ hour }) => stepName(hour, range, 'long')),
    parts: OUTCOMES.map(([label, of, style]) => ({ label, style, values: points.map(({ figures }) => of(figures)) })),
    format: count,
  });
}

function troubleChart(shown: FiguresShown): Html {
  return countChart(shown, { id: 'trouble', title: 'Bounces and deferrals' }, [
    ['Bounced', bounced, 4],
    ['Deferred', ({ deferred }) => deferred, 3],
    ['Failed', ({ failed }) => failed, 6],
    ['Complaints', ({ complained }) => complained, 5],
  ]);
}

/** Lines at 0.1 and 0.3 % would fall together if the scale went up to where few messages can take it. */
const RATE_TOPS = [0.004, 0.006, 0.01];

function rateChart(shown: FiguresShown): Html {
  const values = shown.points.map(({ figures }) => complaintRate(figures));
  const highest = Math.max(...values.map(Number));
  const fitting = RATE_TOPS.find((each) => each >= highest);
  const top = fitting ?? RATE_TOPS.at(-1)!;
  const title = fitting === undefined ? 'Complaint rate (scale ends at 1 %)' : 'Complaint rate';
  return lineChart({
    id: 'rate',
    title: titleOf(title, shown.range),
    top,
    format: percentText,
    series: [{ label: 'Complaints per delivered message', values, style: 5 }],
    thresholds: [
      { value: WATCH_RATE, label: 'keep below 0.1 %', style: 'warn' },
      { value: STOP_RATE, label: '0.3 % limit', style: 'bad' },
    ],
    ...frameOf(shown, [['complaint rate', (figures) => percentText(complaintRate(figures))]]),
  });
}

const STEP_HEADS = ['Accepted', 'Delivered', 'Deferred', 'Bounced', 'Failed', 'Complaints', 'Opens', 'Clicks'];

/** What the charts show, for those who do not see them. Steps without mail are left out; there may be many. */
function stepTable({ points, range }: FiguresShown): Html {
  const busy = points.filter(({ figures }) => FIGURE_NAMES.some((name) => figures[name] > 0)).reverse();
  const rows = busy.map(({ hour, figures }) => {
    const { accepted, delivered, deferred, failed, complained, opened, clicked } = figures;
    const numbers = [accepted, delivered, deferred, bounced(figures), failed, complained, opened, clicked];
    return html`<tr><th scope="row">${stepName(hour, range, 'long')}</th>${numbers.map((value) => html`<td>${count(value)}</td>`)}</tr>`;
  });
  const caption = `Statistics for the last ${range.label}, newest first, in UTC`;
  return html`<details class="as-table"><summary>View as table</summary>
<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="numbers"><caption class="unseen">${caption}</caption>
<thead><tr><th scope="col">Time</th>${STEP_HEADS.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div></details>`;
}

export function number(value: number): Html {
  return html`<span class="number">${count(value)}</span>`;
}

/** Nobody knows where a message goes before its first attempt: what is accepted stands in no row. */
function providerTable({ providers, range }: FiguresShown): Html {
  const told = providers.filter(({ figures }) => FIGURE_NAMES.some((name) => name !== 'accepted' && figures[name] > 0));
  if (told.length === 0) return html`<p class="quiet">No delivery results yet.</p>`;
  const heads = ['Provider', 'Delivered', 'Deferred', 'Bounced', 'Opens', 'Complaints'];
  const rows = told.map(({ provider, figures }) => {
    const numbers = [figures.delivered, figures.deferred, bounced(figures), figures.opened].map(number);
    return [html`<span class="roomy">${providerName(provider)}</span>`, ...numbers, rateCell(figures)];
  });
  return table({ caption: `Statistics by receiving provider for the last ${range.label}`, heads }, rows);
}

/** The names of groups that are no known provider are those of their mail servers. */
export function providerName(provider: string): Html {
  if (provider === UNKNOWN_PROVIDER) return html`<span class="quiet">unknown</span>`;
  if (provider === OTHER_PROVIDERS) return html`<span class="quiet">other providers</span>`;
  return html`${provider.replaceAll(',', ', ')}`;
}

/** The bar ends at 0.5 %; the two lines stand at 0.1 and 0.3 %. */
const METER_TOP = 0.005;

function rateCell(figures: Figures): Html {
  const rate = complaintRate(figures);
  const { tone, words } = judgeRate(rate);
  const at = (value: number) => `${Number(((Math.min(value, METER_TOP) / METER_TOP) * 100).toFixed(1))}%`;
  return html`<span class="rate"><svg class="meter" width="70" height="14" aria-hidden="true"><rect y="3" width="100%" height="8" class="track"/><rect y="3" width="${at(rate ?? 0)}" height="8" class="${tone}"/><line x1="${at(WATCH_RATE)}" x2="${at(WATCH_RATE)}" y1="0" y2="14" class="threshold warn"/><line x1="${at(STOP_RATE)}" x2="${at(STOP_RATE)}" y1="0" y2="14" class="threshold bad"/></svg> <span>${count(figures.complained)} (${percentText(rate)})</span> ${badge(words, tone)}</span>`;
}
