// The form for a webhook, a new one or one that is changed, and the one page that shows a secret.
import { toTimestamp } from '../../base/clock.ts';
import { EVENT_CHOICES, EVENT_TYPES } from '../../events/event-types.ts';
import { type Html, html } from '../../http/html.ts';
import type { EventChoice, Webhook } from '../../store/webhooks.ts';
import { checkbox, copyable, field, heading, problemBox, time } from '../elements.ts';
import { formIdField } from '../sent-forms.ts';

const MOST_URL_CHARS = 2048;
const MOST_DESCRIPTION_CHARS = 500;

export interface WebhookFormFacts {
  formField: Html;
  url?: string;
  description?: string;
  /** Checked types and families. */
  events?: readonly string[];
  /** The API's sentence, which begins with the field that it is about. */
  problem?: string;
  /** Left out: a new one. */
  changed?: Pick<Webhook, 'id' | 'url'>;
}

export function webhookForm(facts: WebhookFormFacts): Html {
  const { formField, url = '', description = '', events = [], problem = '', changed } = facts;
  const back = changed ? `/portal/webhooks/${changed.id}` : '/portal/webhooks';
  const [, at, message] = /^(url|description): (.*)$/s.exec(problem) ?? [];
  const sentence = message === undefined ? null : `${message[0]!.toUpperCase()}${message.slice(1)}`;
  return html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a>${changed && html` › <a href="${back}">${changed.url}</a>`}</p>
${heading(changed ? 'Edit webhook' : 'New webhook')}
${problemBox(problem === '' ? null : (sentence ?? problem))}
<form method="post" action="${changed ? `${back}/edit` : '/portal/webhooks/new'}" class="card">${formField}${formIdField()}
${field({
  name: 'url',
  label: 'URL',
  type: 'url',
  value: url,
  required: true,
  maxLength: MOST_URL_CHARS,
  placeholder: 'https://example.com/postrider-events',
  hint: 'Events are posted here as JSON. HTTPS is recommended; the URL must lead to a public address.',
  problem: at === 'url' ? sentence : null,
})}
${field({
  name: 'description',
  label: 'Description (optional)',
  value: description,
  maxLength: MOST_DESCRIPTION_CHARS,
  hint: 'For your own reference: which of your systems listens there.',
  problem: at === 'description' ? sentence : null,
})}
<fieldset><legend>Events (optional)</legend>
<p class="hint">Check nothing to receive every event. A family includes all of its types.</p>
${EVENT_CHOICES.map((choice) =>
  checkbox({ name: 'events', value: choice, label: choice, hint: meaningOf(choice), checked: events.includes(choice) }),
)}</fieldset>
${changed && html`<p class="hint">The secret stays the same. Waiting events go to the new URL. A change of the events is about those that happen from now on.</p>`}
<div class="actions"><button class="primary">${changed ? 'Save changes' : 'Add webhook'}</button><a class="button" href="${back}">Cancel</a></div>
</form>`;
}

function meaningOf(choice: EventChoice): string {
  const types = Object.entries(EVENT_TYPES);
  const known = types.find(([type]) => type === choice);
  if (known) return known[1].meaning;
  return `The family: ${types.flatMap(([type, { family }]) => (family === choice ? [type] : [])).join(' and ')}.`;
}

/** Of a new webhook, or after a rotation: then the old secret signs, too, for a while. */
export function newSecret(facts: {
  webhook: Pick<Webhook, 'id' | 'url'>;
  secret: Buffer;
  previousUntil: number | null;
}): Html {
  const { webhook, secret, previousUntil } = facts;
  return html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a></p>
${heading(previousUntil === null ? 'Your new webhook' : 'New secret')}
<div class="card">
<p class="notice warn">Copy the secret now. It is stored encrypted and won’t be shown again.</p>
<h2><code>${webhook.url}</code></h2>
<p class="secret">${copyable(secret.toString('base64'), 'the secret')}</p>
<p>Your program uses it to check the signature of every event, following <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>. Libraries
exist for most languages and accept the secret as it is.</p>
${
  previousUntil !== null &&
  html`<p class="notice info">Until ${time(previousUntil)} every event is signed with the new secret and with the old one. Switch your program
to the new one before ${toTimestamp(previousUntil).slice(0, 16).replace('T', ' ')} UTC, and no event is refused in between.</p>`
}
</div>
<p><a class="button primary" href="/portal/webhooks/${webhook.id}">Done</a></p>`;
}
