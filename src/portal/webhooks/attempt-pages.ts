// One attempt with its request and answer, and replaying: one event, or all that were given up since a time.
import { isUuid } from '../../base/ids.ts';
import { eventBody } from '../../events/event-body.ts';
import { type Html, html } from '../../http/html.ts';
import type { AttemptView, ReplayOutcome, Webhook } from '../../store/webhooks.ts';
import { replayFailedSince } from '../../webhooks/replay-failed.ts';
import { shownRequest } from '../../webhooks/sent-request.ts';
import { facts, heading, time } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { sentAndAnswered } from './sent-and-answered.ts';
import { SINCE_CHOICES } from './webhook-page.ts';
import type { WebhookServices } from './webhook-services.ts';
import { statusBadge, whatFollows } from './webhook-words.ts';

export function attemptPages(services: WebhookServices): PortalRoute[] {
  return [
    page({
      path: '/portal/webhooks/:id/attempts/:event/:number',
      access: 'viewer',
      show: (visit) => showAttempt(services, visit),
    }),
    action({
      path: '/portal/webhooks/:id/events/:event/replay',
      access: 'member',
      run: (visit) => replayOne(services, visit),
    }),
    action({ path: '/portal/webhooks/:id/replay', access: 'member', run: (visit) => replayAll(services, visit) }),
  ];
}

async function showAttempt({ store }: WebhookServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { id = '', event: eventId = '', number = '' } = visit.params;
  if (!isUuid(id) || !isUuid(eventId) || !/^\d{1,9}$/.test(number)) return missing();
  const tenantId = visit.visitor.tenant.id;
  const webhook = await store.webhooks.getWebhookHealth(tenantId, id);
  const found = webhook && (await store.webhooks.findWebhookAttempt(tenantId, id, { eventId, number: Number(number) }));
  if (!found) return missing('Attempt not found. Old attempts are erased together with their messages.');
  const { attempt, event } = found;
  const body = html`${crumb(webhook)}
${heading(`Attempt ${attempt.number}`, statusBadge(attempt))}
<div class="card">${attemptFacts(webhook, attempt, event.messageId)}
${visit.may('member') && replayButton(webhook, attempt, visit.formField)}</div>
${sentAndAnswered(shownRequest(eventBody(event), attempt.startedAt), attempt)}`;
  return view({ title: `Attempt ${attempt.number}`, body });
}

function crumb({ id, url }: Webhook): Html {
  return html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a> › <a href="/portal/webhooks/${id}">${url}</a></p>`;
}

function attemptFacts({ id }: Webhook, attempt: AttemptView, messageId: string): Html {
  return facts([
    ['Outcome', attempt.reason],
    ['Next step', whatFollows(attempt)],
    ['Time', time(attempt.startedAt)],
    ['Duration', `${attempt.elapsedMs} ms`],
    [
      'Event',
      html`${attempt.eventType} <code>${attempt.eventId}</code> · <a href="/portal/webhooks/${id}?event=${attempt.eventId}#attempts">all its attempts</a>`,
    ],
    ['Message', html`<a href="/portal/messages/${messageId}"><code>${messageId}</code></a>`],
  ]);
}

function replayButton({ id }: Webhook, { eventId, state }: AttemptView, formField: Html): Html {
  const label = state === 'due' ? 'Retry now' : 'Send again';
  return html`<div class="actions"><form method="post" action="/portal/webhooks/${id}/events/${eventId}/replay">${formField}<button>${label}</button></form></div>`;
}

async function replayOne({ store }: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const { id = '', event: eventId = '' } = visit.params;
  if (!isUuid(id) || !isUuid(eventId)) return missing();
  const target = { webhookId: id.toLowerCase(), eventId };
  const outcome = await store.webhooks.replayDelivery(visit.visitor.tenant.id, target, visit.now);
  if (outcome === 'no_webhook' || outcome === 'no_event') return missing();
  if (outcome === 'due') await visit.audit('webhook.event_replayed', { webhook_id: id, event_id: eventId });
  return redirect(`/portal/webhooks/${id}?event=${eventId}`, REPLAYED[outcome], outcome === 'due' ? 'good' : 'warn');
}

const REPLAYED: Record<Extract<ReplayOutcome, 'due' | 'under_way'>, string> = {
  due: 'The event is being sent. The attempt appears below in a moment; if not, reload the page.',
  under_way: 'The event is being sent right now; there is nothing to replay yet.',
};

async function replayAll({ store }: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const { id = '' } = visit.params;
  const tenantId = visit.visitor.tenant.id;
  const webhook = isUuid(id) ? await store.webhooks.getWebhookHealth(tenantId, id) : null;
  if (!webhook) return missing();
  const since = readSince(visit.form, visit.now);
  const path = `/portal/webhooks/${webhook.id}`;
  if (since === null)
    return redirect(path, 'Nothing was replayed: the time is invalid. Use the format YYYY-MM-DDThh:mm.', 'warn');
  const clock = { now: () => visit.now };
  const replayed = await replayFailedSince({ store, clock }, tenantId, { webhookId: webhook.id, since });
  await visit.audit('webhook.failed_replayed', {
    webhook_id: webhook.id,
    since: new Date(since).toISOString(),
    replayed,
  });
  return redirect(path, replayedWords(replayed), replayed === 0 ? 'warn' : 'good');
}

function replayedWords(count: number): string {
  if (count === 0) return 'No event has failed since then.';
  return count === 1 ? 'One event is being sent again.' : `${count} events are being sent again.`;
}

/** The exact time wins where one is given. Null for what is no time. */
function readSince(form: URLSearchParams, now: number): number | null {
  const at = (form.get('at') ?? '').trim();
  if (at !== '') {
    const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.test(at) ? Date.parse(`${at}Z`) : Number.NaN;
    return Number.isNaN(moment) ? null : moment;
  }
  const chosen = SINCE_CHOICES.find(({ value }) => value === form.get('since'));
  if (!chosen) return null;
  return chosen.value === 'all' ? 0 : now - Number(chosen.value);
}
