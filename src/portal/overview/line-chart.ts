// A line chart as SVG: a pure function of numbers. It takes the width that it is given: lines are stretched,
// texts are not, since they are placed by percentages beside them. Series differ by colour and by dashes.
// Colours and dashes are classes of the style (.chart .series-1 …), so that they suit light and dark.
import { type Html, html } from '../../http/html.ts';

export interface Series {
  label: string;
  /** One for each step; null: nothing can be said of this step. */
  values: readonly (number | null)[];
  /** 1 to 6. */
  style: number;
}

export interface Threshold {
  value: number;
  label: string;
  style: 'warn' | 'bad';
}

export interface LineChart {
  /** Distinguishes it from the other charts of the page. */
  id: string;
  title: string;
  /** Says in words what the chart shows. */
  summary: string;
  /** Below the first, the last and some of the others. */
  stepLabels: readonly string[];
  series: readonly Series[];
  thresholds?: readonly Threshold[];
  /** The top of the scale; values above it are cut. */
  top: number;
  format(value: number): string;
  /** Shown where the pointer rests. */
  hints?: readonly string[];
}

/** Of the height, in percent. */
export interface Plot {
  top: number;
  height: number;
}

/** Room for the texts at the top and below. */
const PLOT: Plot = { top: 9, height: 76 };
const LABELS_AT = 97;
// The units of the stretched part.
const [WIDE, HIGH] = [1000, 100];
const MOST_LABELS = 5;

export function lineChart(chart: LineChart): Html {
  const { id, title, summary, series, top } = chart;
  // Texts go on top of the lines.
  const marks = [...gridMarks(chart, PLOT), ...thresholdMarks(chart)];
  return html`<figure class="chart">
<figcaption id="${id}-name">${title}</figcaption>
${legend(series)}
<svg width="100%" height="200" role="img" aria-labelledby="${id}-name ${id}-summary">
<title id="${id}-summary">${summary}</title>
${marks.map(({ y, style }) => html`<line x1="0" x2="100%" y1="${y}" y2="${y}" class="${style}"/>`)}
<svg x="0" y="${PLOT.top}%" width="100%" height="${PLOT.height}%" viewBox="0 0 ${WIDE} ${HIGH}" preserveAspectRatio="none">
${series.map((one) => seriesLines(one, top))}
</svg>
${chartTexts(marks, chart.stepLabels)}
${chart.hints && hintAreas(chart.hints)}
</svg>
</figure>`;
}

/** The next round number whose half is round as well: 2, 4, 6, 8 or 10 times a power of ten. */
export function roundTop(highest: number): number {
  if (highest <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(highest));
  return ([1, 2, 4, 6, 8].find((each) => each * power >= highest) ?? 10) * power;
}

function legend(series: readonly Series[]): Html {
  const keys = series.map(
    ({ label, style }) =>
      html`<li><svg class="key" width="26" height="10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" class="series-${style}"/></svg>${label}</li>`,
  );
  return html`<ul class="legend">${keys}</ul>`;
}

function heightOf(value: number, top: number, plot: Plot): string {
  return percent(plot.top + plot.height * (1 - value / top));
}

export function percent(value: number): string {
  return `${Number(value.toFixed(2))}%`;
}

export interface Mark {
  y: string;
  label: string;
  style: string;
  anchor: 'start' | 'end';
}

export function gridMarks({ top, format }: Pick<LineChart, 'top' | 'format'>, plot: Plot): Mark[] {
  return [top, top / 2, 0].map((value) => {
    return { y: heightOf(value, top, plot), label: format(value), style: 'grid', anchor: 'start' };
  });
}

function thresholdMarks({ thresholds = [], top }: LineChart): Mark[] {
  return thresholds
    .filter(({ value }) => value <= top)
    .map(({ value, label, style }) => {
      return { y: heightOf(value, top, PLOT), label, style: `threshold ${style}`, anchor: 'end' };
    });
}

function seriesLines({ values, style }: Series, top: number): Html {
  return html`${stretches(values, top).map((points) => {
    // One that stands alone would not be seen as a line.
    const alone = points.length === 1 && points[0]!;
    const line = points.map(({ x, y }) => `${x} ${y}`).join(' L');
    const drawn = alone ? `M${alone.x - 4} ${alone.y} L${alone.x + 4} ${alone.y}` : `M${line}`;
    return html`<path d="${drawn}" class="series-${style}" vector-effect="non-scaling-stroke"/>`;
  })}`;
}

interface Point {
  x: number;
  y: number;
}

/** A line is broken where nothing can be said. */
function stretches(values: readonly (number | null)[], top: number): Point[][] {
  const found: Point[][] = [];
  let current: Point[] = [];
  for (const [at, value] of values.entries()) {
    if (value === null) {
      current = [];
      continue;
    }
    if (current.length === 0) found.push(current);
    const cut = Math.min(value, top);
    current.push({ x: tenth(((at + 0.5) / values.length) * WIDE), y: tenth(HIGH * (1 - cut / top)) });
  }
  return found;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

/** At the lines of a chart, and below its steps. */
export function chartTexts(marks: readonly Mark[], stepLabels: readonly string[]): Html {
  const atMarks = marks.map(
    ({ y, label, anchor }) =>
      html`<text x="${anchor === 'end' ? '100%' : 0}" y="${y}" dy="-4" text-anchor="${anchor}">${label}</text>`,
  );
  return html`${atMarks}
${stepTexts(stepLabels)}`;
}

function stepTexts(labels: readonly string[]): Html[] {
  const last = labels.length - 1;
  const shown = Math.min(MOST_LABELS, labels.length);
  return Array.from({ length: shown }, (_, n) => {
    const at = shown === 1 ? 0 : Math.round((n * last) / (shown - 1));
    const anchor = at === 0 ? 'start' : at === last ? 'end' : 'middle';
    const x = at === 0 ? 0 : at === last ? 100 : ((at + 0.5) / labels.length) * 100;
    return html`<text x="${percent(x)}" y="${LABELS_AT}%" text-anchor="${anchor}">${labels[at]}</text>`;
  });
}

/** One unit wide each, by the style: there may be many. */
function hintAreas(hints: readonly string[]): Html {
  const areas = hints.map((hint, at) => html`<rect x="${at}"><title>${hint}</title></rect>`);
  return html`<svg width="100%" height="100%" viewBox="0 0 ${hints.length} 1" preserveAspectRatio="none" class="hints">${areas}</svg>`;
}
