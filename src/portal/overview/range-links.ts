// The links to other times beside a heading.
import { type Html, html } from '../../http/html.ts';
import { type ChartRange, RANGES } from './chart-range.ts';

export function rangeLinks(
  chosen: ChartRange,
  pathOf: (range: string) => string,
  ranges: readonly ChartRange[] = RANGES,
): Html {
  const links = ranges.map((range) => {
    const current = range === chosen && html` aria-current="true"`;
    return html`<a href="${pathOf(range.name)}"${current}>${range.label}</a>`;
  });
  return html`<nav class="ranges beside" aria-label="Time range">${links}</nav>`;
}
