// A chart of stacked bars as SVG: a pure function of numbers. It takes the width that it is given, since all its
// places are percentages. Each bar says its values where the pointer rests and where the keyboard's focus is,
// without script: the words lie in the bar's group, and the style shows them. Colours are classes of the style.
import { type Html, html } from '../../http/html.ts';
import { chartTexts, gridMarks, type Mark, percent, roundTop } from './line-chart.ts';

export interface BarPart {
  label: string;
  /** One for each step. */
  values: readonly number[];
  /** 1 to 6, as the series of line charts. */
  style: number;
}

export interface BarChart {
  /** Distinguishes it from the other charts of the page. */
  id: string;
  title: string;
  /** Says in words what the chart shows. */
  summary: string;
  /** Below the first, the last and some of the others. */
  stepLabels: readonly string[];
  /** The time of each step, for what is said of it. */
  stepNames: readonly string[];
  /** From the bottom of the bars up. */
  parts: readonly BarPart[];
  format(value: number): string;
}

/** Of the height, in percent: room for the words of a bar at the top, and for the texts below. The style knows it, too. */
const PLOT = { top: 20, height: 68 };

export function barChart(chart: BarChart): Html {
  const { id, title, summary, parts, stepNames } = chart;
  const top = roundTop(Math.max(...stepNames.map((_, at) => totalAt(parts, at))));
  const marks = gridMarks({ top, format: chart.format }, PLOT);
  return html`<figure class="chart bars">
<figcaption id="${id}-name">${title}</figcaption>
<ul class="legend">${parts.map(({ label, style }) => html`<li><svg class="key" width="14" height="10" aria-hidden="true"><rect width="14" height="10" class="part-${style}"/></svg>${label}</li>`)}</ul>
<svg width="100%" height="230" role="group" aria-labelledby="${id}-name ${id}-summary">
<desc id="${id}-summary">${summary}</desc>
${marks.map(({ y, style }: Mark) => html`<line x1="0" x2="100%" y1="${y}" y2="${y}" class="${style}"/>`)}
${chartTexts(marks, chart.stepLabels)}
${stepNames.map((_, at) => stepGroup(chart, at, top))}
</svg>
</figure>`;
}

function totalAt(parts: readonly BarPart[], at: number): number {
  return parts.reduce((sum, { values }) => sum + values[at]!, 0);
}

/** Steps without anything are no stops for the keyboard: there may be many. */
function stepGroup(chart: BarChart, at: number, top: number): Html | null {
  const { id, parts, stepNames, format } = chart;
  if (totalAt(parts, at) === 0) return null;
  const room = 100 / stepNames.length;
  const present = parts.filter(({ values }) => values[at]! > 0);
  const said = `${stepNames[at]}: ${present.map(({ label, values }) => `${label} ${format(values[at]!)}`).join(', ')}`;
  let height = 0;
  const bars = present.map(({ values, style }) => {
    const share = (values[at]! / top) * PLOT.height;
    height += share;
    return html`<rect y="${percent(PLOT.top + PLOT.height - height)}" height="${percent(share)}" class="part-${style}"/>`;
  });
  // What is the same in each bar is said by the style: there may be many.
  return html`<g tabindex="0" role="img" aria-labelledby="${id}-${at}"><svg x="${percent(at * room)}" width="${percent(room)}"><rect class="room"/>${bars}</svg><foreignObject><p id="${id}-${at}">${said}</p></foreignObject></g>`;
}
