// A tenant's figures by tag as people see them: a page of its own, since there may be many.
import { type Html, html } from '../../http/html.ts';
import { type Figures, TAGS_PER_DAY, TAGS_PER_NAME, type TagFigures } from '../../store/figures.ts';
import { emptyState, table } from '../elements.ts';
import type { ChartRange } from './chart-range.ts';
import { complaintRate, percentText } from './complaint-rate.ts';
import { bounced, count, number } from './figures-view.ts';

export const TAGS_SHOWN = 50;
const TAG_CHARS = 60;

/** Of one more than is shown. */
export function tagsView({ tags, complete }: TagFigures, range: ChartRange): Html {
  if (tags.length === 0) {
    const how = html`Give messages <code>tags</code> when you send them, such as <code>{"campaign": "spring"}</code>, and what happened to them is counted here.`;
    return emptyState(`No messages with tags in the last ${range.label}`, how);
  }
  const heads = ['Tag', 'Accepted', 'Delivered', 'Deferred', 'Bounced', 'Opens', 'Clicks', 'Complaints'];
  const rows = tags.slice(0, TAGS_SHOWN).map(({ tag, figures }) => [tagLink(tag), ...numbersOf(figures)]);
  const most = `These are the ${TAGS_SHOWN} tags with the most messages. `;
  const limits = `There were more tags than are counted: of each day the first ${TAGS_PER_DAY}, and at most ${TAGS_PER_NAME} with the same name.`;
  const note = `${tags.length > TAGS_SHOWN ? most : ''}${complete ? '' : limits}`;
  return html`${table({ caption: `Statistics by tag for the last ${range.label}`, heads }, rows)}${note !== '' && html`<p class="quiet">${note}</p>`}`;
}

function numbersOf(figures: Figures): Html[] {
  const { accepted, delivered, deferred, opened, clicked } = figures;
  const numbers = [accepted, delivered, deferred, bounced(figures), opened, clicked].map(number);
  const rate = percentText(complaintRate(figures));
  return [...numbers, html`<span class="whole">${count(figures.complained)} (${rate})</span>`];
}

/** Leads to the messages. */
function tagLink(tag: string): Html {
  const path = `/portal/messages?${new URLSearchParams({ tag })}`;
  const shown = tag.length > TAG_CHARS ? `${tag.slice(0, TAG_CHARS - 1)}…` : tag;
  return html`<a class="roomy" href="${path}">${shown}</a>`;
}
