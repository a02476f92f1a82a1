// The page of one webhook: how it does, its secret, the newest attempts, and what can be done. It looks again by itself
// as long as something waits to be sent to it.
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type AttemptFilter,
  type AttemptView,
  MAX_DELIVERIES_COUNTED,
  MAX_SECRETS,
  type WebhookHealth,
  type WebhookSecret,
} from '../../store/webhooks.ts';
import { confirmed, emptyState, facts, field, heading, pager, select, table, time } from '../elements.ts';
import { missing, type PageResult, type VisitOf, view } from '../page.ts';
import { DELIVERIES_LOOKED_AT, reasonsView } from './failure-reasons.ts';
import type { WebhookServices } from './webhook-services.ts';
import { chosenEvents, countOf, healthBadge, healthSentence, statusBadge, whatFollows } from './webhook-words.ts';

const PAGE = 50;
const POLL_MS = 2000;

const SHOWN = {
  all: {
    label: 'All attempts',
    empty: 'No event has been sent to it yet. Events are sent as soon as the status of a message changes.',
  },
  due: { label: 'Waiting for retry', empty: 'No event is waiting for a retry.' },
  failed: { label: 'Failed', empty: 'No event has failed for good.' },
} as const;
type Shown = keyof typeof SHOWN;

export async function showWebhook(services: WebhookServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { store } = services;
  const tenantId = visit.visitor.tenant.id;
  const { id = '' } = visit.params;
  const webhook = isUuid(id) ? await store.webhooks.getWebhookHealth(tenantId, id) : null;
  if (!webhook) return missing();
  const secrets = await store.webhooks.listWebhookSecrets(tenantId, webhook.id, visit.now);
  const filter = readFilter(visit.query, webhook.id);
  const attempts = await store.webhooks.listWebhookAttempts(tenantId, { ...filter.filter, limit: PAGE + 1 });
  const unaccepted = await unacceptedOf(services, webhook);
  const poll = webhook.due > 0 && html` data-poll="${visit.path}?${visit.query.toString()}" data-poll-ms="${POLL_MS}"`;
  const body = html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a></p>
<div id="state" data-polled-with="attempts-list">${heading(webhook.url, healthBadge(webhook))}
${webhook.failingSince !== null && html`<p class="notice bad">${healthSentence(webhook)}</p>`}
<div class="card">${webhookFacts(webhook, secrets)}
${visit.may('member') && actions(webhook, secrets, visit.formField)}</div>
${reasonsView(unaccepted)}</div>
<div id="attempts-list"${poll}>${attemptList(webhook, attempts, filter)}</div>
${visit.may('member') && webhook.failed > 0 && replayForm(webhook, visit.formField)}`;
  return view({ title: webhook.url, body });
}

/** Those that wait for another attempt, and those that have failed. */
async function unacceptedOf({ store }: WebhookServices, { tenantId, id, due, failed }: WebhookHealth) {
  const search = { webhookId: id, after: null, limit: DELIVERIES_LOOKED_AT };
  const states = [...(due > 0 ? (['due'] as const) : []), ...(failed > 0 ? (['failed'] as const) : [])];
  const pages = await Promise.all(
    states.map((state) => store.webhooks.listWebhookDeliveries(tenantId, { ...search, state })),
  );
  return pages.flatMap((page) => (page === null || page === 'unknown' ? [] : page.deliveries));
}

function webhookFacts(webhook: WebhookHealth, secrets: readonly WebhookSecret[]): Html {
  const [current, ...earlier] = secrets;
  return facts([
    [
      'State',
      webhook.failingSince === null ? healthSentence(webhook) : html`Failing since ${time(webhook.failingSince)}`,
    ],
    ...(webhook.description === null ? [] : [['Description', webhook.description] as const]),
    ['Events', webhook.events ? html`only <code>${chosenEvents(webhook)}</code>` : chosenEvents(webhook)],
    ['Waiting events', countOf(webhook.due, MAX_DELIVERIES_COUNTED)],
    ['Failed events', countOf(webhook.failed, MAX_DELIVERIES_COUNTED)],
    ['Created', time(webhook.createdAt)],
    ['Secret', html`created ${time(current?.createdAt ?? null)}${earlierSecrets(earlier)}`],
    ['ID', html`<code>${webhook.id}</code>`],
  ]);
}

/** The newest ends last. */
function earlierSecrets(earlier: readonly WebhookSecret[]): Html | null {
  const until = earlier[0]?.expiresAt ?? null;
  if (until === null) return null;
  return earlier.length === 1
    ? html`; the previous one also signs until ${time(until)}`
    : html`; the ${earlier.length} before it also sign, the last of them until ${time(until)}`;
}

function actions(webhook: WebhookHealth, secrets: readonly WebhookSecret[], formField: Html): Html {
  const oldest = secrets[MAX_SECRETS - 1];
  const path = `/portal/webhooks/${webhook.id}`;
  return html`<div class="actions">
<a class="button" href="${path}/edit">Edit</a>
<form method="post" action="${path}/test">${formField}<button>Send test event</button></form>
${confirmed({
  label: 'Rotate the secret',
  question: html`A new secret is created and shown once. For 24 hours events are signed with the current one, too.${
    oldest?.expiresAt &&
    html` The oldest secret, which would sign until ${time(oldest.expiresAt)}, <strong>stops at once</strong>.`
  }`,
  action: `${path}/rotate`,
  formField,
  button: 'Create new secret',
  tone: 'neutral',
})}
${confirmed({
  label: 'Delete',
  question: html`Delete <strong>${webhook.url}</strong>? Its waiting events are dropped at once, and its attempts and its secret are erased.`,
  action: `${path}/delete`,
  formField,
  button: 'Delete webhook',
})}</div>`;
}

interface ReadFilter {
  shown: Shown;
  filter: Omit<AttemptFilter, 'limit'>;
}

/** What makes no sense is left out: these are links, not a form. */
function readFilter(query: URLSearchParams, webhookId: string): ReadFilter {
  const asked = query.get('show') ?? '';
  const event = query.get('event') ?? '';
  const [after = '', number = ''] = (query.get('after') ?? '').split('.');
  const base = { webhookId, eventId: isUuid(event) ? event : null };
  if (asked === 'due' || asked === 'failed') return { shown: asked, filter: { ...base, eventId: null, state: asked } };
  if (isUuid(after) && /^\d{1,9}$/.test(number) && base.eventId === null) {
    return { shown: 'all', filter: { ...base, after: { eventId: after, number: Number(number) } } };
  }
  return { shown: 'all', filter: base };
}

function attemptList(webhook: WebhookHealth, found: readonly AttemptView[], { shown, filter }: ReadFilter): Html {
  const path = `/portal/webhooks/${webhook.id}`;
  const attempts = found.slice(0, PAGE);
  const last = attempts.at(-1);
  const hasMore = found.length > PAGE && shown === 'all' && filter.eventId === null && last !== undefined;
  const links = Object.entries(SHOWN).map(([name, { label }]) => {
    const isCurrent = name === shown && filter.eventId === null;
    return html`<a class="button" href="${path}${name !== 'all' && `?show=${name}`}#attempts"${isCurrent && html` aria-current="true"`}>${label}</a>`;
  });
  return html`<h2 id="attempts">Attempts</h2>
<nav class="actions choices" aria-label="Which attempts">${links}</nav>
${filter.eventId !== null && html`<p>Attempts for the event <code>${filter.eventId}</code>.</p>`}
${attempts.length === 0 ? emptyState('No attempts', SHOWN[shown].empty) : attemptTable(path, attempts)}
${found.length > PAGE && shown !== 'all' && html`<p class="quiet">Showing the first ${PAGE}.</p>`}
${pager({
  first: filter.after === undefined ? null : `${path}#attempts`,
  next: hasMore ? `${path}?after=${last.eventId}.${last.number}#attempts` : null,
})}`;
}

function attemptTable(path: string, attempts: readonly AttemptView[]): Html {
  const heads = ['Time', 'Event', 'Attempt', 'Response', 'Duration', 'Next step'];
  const rows = attempts.map((attempt) => [
    html`<a href="${path}/attempts/${attempt.eventId}/${attempt.number}">${time(attempt.startedAt)}</a>`,
    html`${attempt.eventType}<br><code class="quiet roomy">${attempt.eventId}</code>`,
    String(attempt.number),
    statusBadge(attempt),
    `${attempt.elapsedMs}\u00a0ms`,
    whatFollows(attempt),
  ]);
  return table({ caption: 'Attempts, newest first', heads }, rows);
}

export const SINCE_CHOICES = [
  { value: String(HOUR_MS), label: 'in the last hour' },
  { value: String(DAY_MS), label: 'in the last 24 hours' },
  { value: String(3 * DAY_MS), label: 'in the last three days' },
  { value: 'all', label: 'at any time' },
] as const;

function replayForm(webhook: WebhookHealth, formField: Html): Html {
  return html`<h2>Replay</h2>
<form method="post" action="/portal/webhooks/${webhook.id}/replay" class="card">${formField}
<p>Sends the failed events again. They keep their IDs, so your program can recognize the events it has already seen.</p>
<div class="filters">${select({ name: 'since', label: 'Failed' }, SINCE_CHOICES, String(DAY_MS))}
${field({ name: 'at', label: 'or since (UTC)', type: 'datetime-local' })}
<button class="primary">Replay events</button></div>
</form>`;
}
