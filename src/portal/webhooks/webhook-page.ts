// The page of one webhook: how it does, its secret, the newest attempts, and what can be done. It looks again by itself
// as long as something waits to be sent to it.
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type AttemptFilter,
  type AttemptView,
  COUNTED_AT_MOST,
  type WebhookHealth,
  type WebhookSecret,
} from '../../store/webhooks.ts';
import { confirmed, emptyState, facts, field, heading, pager, select, table, time } from '../elements.ts';
import { missing, type PageResult, type VisitOf, view } from '../page.ts';
import type { WebhookServices } from './webhook-services.ts';
import { countOf, healthBadge, healthSentence, statusBadge, whatFollows } from './webhook-words.ts';

const PAGE = 50;
const POLL_MS = 2000;

const SHOWN = {
  all: {
    label: 'All attempts',
    empty: 'Nothing was sent to it yet. Events come as soon as something happens to a message.',
  },
  due: { label: 'Waiting for another', empty: 'No event waits for another attempt.' },
  failed: { label: 'Given up', empty: 'No event was given up.' },
} as const;
type Shown = keyof typeof SHOWN;

export async function showWebhook(services: WebhookServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { store } = services;
  const tenantId = visit.visitor.tenant.id;
  const { id = '' } = visit.params;
  const webhook = isUuid(id) ? await store.getWebhookHealth(tenantId, id) : null;
  if (!webhook) return missing();
  const secrets = await store.listWebhookSecrets(tenantId, webhook.id, visit.now);
  const filter = readFilter(visit.query, webhook.id);
  const attempts = await store.listWebhookAttempts(tenantId, { ...filter.filter, limit: PAGE + 1 });
  const poll = webhook.due > 0 && html` data-poll="${visit.path}?${visit.query.toString()}" data-poll-ms="${POLL_MS}"`;
  const body = html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a></p>
<div id="state" data-polled-with="attempts-list">${heading(webhook.url, healthBadge(webhook))}
${webhook.failingSince !== null && html`<p class="notice bad">${healthSentence(webhook)}</p>`}
<div class="card">${webhookFacts(webhook, secrets)}
${visit.may('member') && actions(webhook, secrets, visit.formField)}</div></div>
<div id="attempts-list"${poll}>${attemptList(webhook, attempts, filter)}</div>
${visit.may('member') && webhook.failed > 0 && replayForm(webhook, visit.formField)}`;
  return view({ title: webhook.url, body });
}

function webhookFacts(webhook: WebhookHealth, secrets: readonly WebhookSecret[]): Html {
  const [current, previous] = secrets;
  return facts([
    [
      'State',
      webhook.failingSince === null ? healthSentence(webhook) : html`Failing since ${time(webhook.failingSince)}`,
    ],
    ...(webhook.description === null ? [] : [['Description', webhook.description] as const]),
    ['Events that wait', countOf(webhook.due, COUNTED_AT_MOST)],
    ['Events given up', countOf(webhook.failed, COUNTED_AT_MOST)],
    ['Created', time(webhook.createdAt)],
    [
      'Secret',
      html`made ${time(current?.createdAt ?? null)}${
        previous?.expiresAt && html`; the one before it signs, too, until ${time(previous.expiresAt)}`
      }`,
    ],
    ['Id', html`<code>${webhook.id}</code>`],
  ]);
}

function actions(webhook: WebhookHealth, [, previous]: readonly WebhookSecret[], formField: Html): Html {
  const path = `/portal/webhooks/${webhook.id}`;
  return html`<div class="actions">
<form method="post" action="${path}/test">${formField}<button>Send a test event</button></form>
${confirmed({
  label: 'Rotate the secret',
  question: html`A new secret is made and shown once. For 24 hours events are signed with both, then with the new one only.${
    previous?.expiresAt &&
    html` The secret before the current one, which would sign until ${time(previous.expiresAt)}, <strong>ends at once</strong>.`
  }`,
  action: `${path}/rotate`,
  formField,
  button: 'Make a new secret',
  tone: 'neutral',
})}
${confirmed({
  label: 'Delete',
  question: html`Delete <strong>${webhook.url}</strong>? What waits for it is dropped at once, its attempts are erased, and the secret is gone.`,
  action: `${path}/delete`,
  formField,
  button: 'Delete this webhook',
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
${filter.eventId !== null && html`<p>Those of the event <code>${filter.eventId}</code>.</p>`}
${attempts.length === 0 ? emptyState('Nothing to show', SHOWN[shown].empty) : attemptTable(path, attempts)}
${found.length > PAGE && shown !== 'all' && html`<p class="quiet">These are the first ${PAGE}.</p>`}
${pager({
  first: filter.after === undefined ? null : `${path}#attempts`,
  next: hasMore ? `${path}?after=${last.eventId}.${last.number}#attempts` : null,
})}`;
}

function attemptTable(path: string, attempts: readonly AttemptView[]): Html {
  const heads = ['Time', 'Event', 'Attempt', 'Answer', 'Took', 'What follows'];
  const rows = attempts.map((attempt) => [
    html`<a href="${path}/attempts/${attempt.eventId}/${attempt.number}">${time(attempt.startedAt)}</a>`,
    html`${attempt.eventType}<br><code class="quiet unbroken">${attempt.eventId}</code>`,
    String(attempt.number),
    html`${statusBadge(attempt)}${attempt.status === null && html`<br><span class="quiet">${attempt.reason}</span>`}`,
    `${attempt.elapsedMs}\u00a0ms`,
    whatFollows(attempt),
  ]);
  return table({ caption: 'Attempts, newest first', heads }, rows);
}

export const SINCE_CHOICES = [
  { value: String(HOUR_MS), label: 'in the last hour' },
  { value: String(DAY_MS), label: 'in the last 24 hours' },
  { value: String(3 * DAY_MS), label: 'in the last three days' },
  { value: 'all', label: 'ever' },
] as const;

function replayForm(webhook: WebhookHealth, formField: Html): Html {
  return html`<h2>Replay</h2>
<form method="post" action="/portal/webhooks/${webhook.id}/replay" class="card">${formField}
<p>Sends everything once more that was given up. The events keep their ids, so your program can tell those that it has seen.</p>
<div class="filters">${select({ name: 'since', label: 'What was given up' }, SINCE_CHOICES, String(DAY_MS))}
${field({ name: 'at', label: 'or since (UTC)', type: 'datetime-local' })}
<button class="primary">Replay all of it</button></div>
</form>`;
}
