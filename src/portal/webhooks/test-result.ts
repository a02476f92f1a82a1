// The page that shows a test event and what the endpoint said to it; nothing of it is kept.
import { type Html, html } from '../../http/html.ts';
import type { Webhook } from '../../store/webhooks.ts';
import type { SentTest } from '../../webhooks/test-sender.ts';
import { facts, heading } from '../elements.ts';
import { sentAndAnswered } from './sent-and-answered.ts';
import { statusBadge } from './webhook-words.ts';

export function shownTest(webhook: Webhook, sent: SentTest, formField: Html): Html {
  const { accepted: taken, reason, elapsedMs } = sent;
  const path = `/portal/webhooks/${webhook.id}`;
  const word = taken ? 'The endpoint accepted the test event.' : 'The endpoint did not accept the test event.';
  return html`<p class="crumb"><a href="/portal/webhooks">Webhooks</a> › <a href="${path}">${webhook.url}</a></p>
${heading('Test event')}
<p class="notice ${taken ? '' : 'bad'}" role="status">${word} ${reason}</p>
<div class="card">${facts([
    ['Endpoint', html`<code>${webhook.url}</code>`],
    ['Status', statusBadge(sent)],
    ['Duration', `${elapsedMs} ms`],
  ])}
<p class="quiet">Its type is <code>test</code>. It is signed like every event, sent once and to this endpoint only, and is not part of <code>GET /events</code>.</p>
<div class="actions"><form method="post" action="${path}/test">${formField}<button>Send another</button></form><a class="button" href="${path}">Back to the webhook</a></div>
</div>
${sentAndAnswered(sent.request, sent)}`;
}
