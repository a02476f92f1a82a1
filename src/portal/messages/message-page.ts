// The page of one message: where it stands and why, what happened to it, what was in it.
import type { MessageExplanation } from '../../delivery/actions/explain.ts';
import { type Html, html } from '../../http/html.ts';
import { suppressionKeyOf } from '../../protocol/mail/addresses/address.ts';
import type { ContentView, MessageView } from '../../store/message-view.ts';
import type { Suppression } from '../../store/suppressions.ts';
import { bytesText, copyable, facts, heading, table, time } from '../elements.ts';
import { missing, type PageResult, type VisitOf, view } from '../page.ts';
import { measuredFrame } from '../quiet-markup.ts';
import { inTenantsWords } from '../tenants-words.ts';
import { attachmentsPart, labelsPart, letterFacts, trackingFacts, writtenFacts } from './letter-parts.ts';
import type { MessageServices } from './message-services.ts';
import { stateBadge, stateMeaning } from './message-words.ts';
import { scheduleForm } from './schedule-form.ts';
import { timelineOf } from './timeline.ts';
import type { TimelineEntry } from './timeline-entry.ts';
import { isUnderWay } from './webhook-calls.ts';

const POLL_MS = 3000;

export async function showMessage(services: MessageServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const outcome = await services.reads.messageView(visit.visitor.tenant.id, visit.params.id!);
  if (outcome.kind === 'refused') {
    const body = html`${heading('Message')}<p class="notice warn">${outcome.reason}</p>`;
    return view({ title: 'Message', status: 503, body });
  }
  const message = outcome.value;
  if (message === null) return missing('Message not found. Old messages are erased.');
  const isWaiting = message.message.finishedAt === null;
  const explanation = isWaiting ? await services.explain(message.message) : null;
  const key = suppressionKeyOf(message.message.recipient);
  const suppression = await services.store.suppressions.getSuppression(visit.visitor.tenant.id, key);
  const withImages = visit.query.get('images') === 'on';
  return view({
    title: message.message.subject || 'Message',
    body: messageBody(message, {
      explanation,
      suppression,
      withImages,
      sandbox: services.sandbox,
      form: visit.may('member') ? scheduleForm(message, visit.formField) : null,
    }),
  });
}

interface Extras {
  /** Null once it is finished. */
  explanation: MessageExplanation | null;
  /** Of its recipient. */
  suppression: Suppression | null;
  withImages: boolean;
  sandbox: boolean;
  /** For those who may change what is sent. */
  form: Html | null;
}

function messageBody(shown: MessageView, { explanation, suppression, withImages, sandbox, form }: Extras): Html {
  const { message } = shown;
  const path = `/portal/messages/${message.id}`;
  const isChanging = explanation !== null || shown.webhookCalls.some(isUnderWay);
  const poll = isChanging && html` data-poll="${path}" data-poll-ms="${POLL_MS}"`;
  return html`<p class="crumb"><a href="/portal/messages">Messages</a></p>
${heading(message.subject || '(no subject)', sandbox && html`<a class="button" href="/portal/captured?message=${message.id}">View captured mail</a>`)}
<div id="course"${poll}>
<div class="card">
<p>${stateBadge(message)} ${stateMeaning({ ...message, bounce: shown.bounce, complained: shown.complained })}</p>
${message.lastReason !== null && message.state !== 'delivered' && html`<pre class="wrap">${message.lastReason}</pre>`}
</div>
${explanation && message.state !== 'sending' && waiting(shown, explanation)}
<h2>Timeline</h2>
<ol class="timeline">${timelineOf(shown, suppression).map(entryItem)}</ol>
${shown.moreEvents && html`<p class="hint">Not all events are shown here; the API lists all of them.</p>`}
</div>
${form}
<h2>Message</h2>
<div class="card">${messageFacts(shown)}</div>
${labelsPart(shown)}${contentPart(shown, path, withImages)}
${callPart(shown)}`;
}

function waiting({ message }: MessageView, { reasons, until, lastReply }: MessageExplanation): Html {
  const next = message.dueAt === null ? html`not planned` : time(message.dueAt);
  const earliest = until !== null && until !== message.dueAt ? html` (at the earliest ${time(until)})` : null;
  // The next attempt has a line of its own.
  const others = reasons.filter(({ code }) => code !== 'not_due' && code !== 'scheduled');
  const isScheduled = message.state === 'scheduled';
  const inTurn = isScheduled
    ? 'Your call asked for this time.'
    : reasons.length === 0
      ? 'It is next in the queue.'
      : 'Postrider retries automatically.';
  const why =
    others.length === 0
      ? html`<p>${inTurn}</p>`
      : html`<ul>${others.map(
          (held) => html`<li>${inTenantsWords(held)}${held.until !== null && html` (until ${time(held.until)})`}</li>`,
        )}</ul>`;
  const meaning =
    lastReply !== null &&
    lastReply.rule !== null &&
    html`<p class="hint">Meaning of the last reply: ${lastReply.meaning}</p>`;
  const what = isScheduled ? 'Scheduled for' : 'Next attempt:';
  return html`<h2>Why it is waiting</h2><div class="card">
<p>${what} ${next}${earliest}. Expires ${time(message.expiresAt)} if still undelivered.</p>
${why}${meaning}</div>`;
}

function entryItem({ at, tone, title, reason, facts: named, path }: TimelineEntry): Html {
  const name = path === undefined ? title : html`<a href="${path}">${title}</a>`;
  return html`<li class="${tone}"><p><strong>${name}</strong> <span class="quiet">${time(at)}</span></p>
${reason !== null && html`<pre class="wrap">${reason}</pre>`}${named.length > 0 && html`<p class="hint pairs">${named.map(([name, value]) => html`<span>${name}: ${value}</span> `)}</p>`}</li>`;
}

function messageFacts(shown: MessageView): Html {
  const { message, recipientName, fromName, senderDomain, apiKey, idempotencyKey } = shown;
  return facts([
    ['To', html`${recipientName && `${recipientName} `}<code>${message.recipient}</code>`],
    ['From', html`${fromName && `${fromName} `}<code>${message.from}</code>`],
    ...letterFacts(shown),
    ['Message ID', copyable(message.id, 'the message ID')],
    ['Submission', copyable(message.submissionId, 'the submission ID')],
    ...writtenFacts(message),
    ['Sending domain', senderDomain],
    [
      'API key',
      apiKey === null ? html`<span class="quiet">none</span>` : html`<a href="/portal/keys">${apiKey.name}</a>`,
    ],
    ...(idempotencyKey === null ? [] : [['Idempotency key', html`<code>${idempotencyKey}</code>`] as const]),
    ...(message.sourceAddress === null ? [] : [['Sent from', html`<code>${message.sourceAddress}</code>`] as const]),
    ...trackingFacts(shown.tracking),
    ['Accepted', time(message.createdAt)],
    ['Finished', time(message.finishedAt, 'not yet')],
  ]);
}

function contentPart({ content }: MessageView, path: string, withImages: boolean): Html {
  if (content === null) {
    return html`<h2>Content</h2><p class="card">The content has been erased. It is kept for some days after a message is finished; the record is kept longer.</p>`;
  }
  return html`<h2>Content</h2>
<p class="actions"><a class="button" href="${path}/source">View message source</a></p>
${content.writtenBytes !== null && writtenPart(content.writtenBytes)}${content.hasHtml && htmlPart(path, withImages)}${content.text !== null && textPart(content)}${attachmentsPart(content, path)}${content.headers.length > 0 && headerPart(content)}`;
}

function writtenPart(bytes: number): Html {
  return html`<p class="card">Your application handed this mail in by SMTP (${bytesText(bytes)}). It goes out as it was written: see its source.</p>`;
}

function htmlPart(path: string, withImages: boolean): Html {
  const images = withImages
    ? html`Remote images are loaded. <a href="${path}#html">Hide images</a>`
    : html`Remote images are not loaded. <a href="${path}?images=on#html">Load images</a>`;
  return html`<h3 id="html">HTML</h3>
<p class="hint">As you sent it, without tracking; scripts never run. ${images}</p>
${measuredFrame('The HTML of the message', `${path}/html${withImages ? '?images=on' : ''}`)}`;
}

function textPart({ text, textIsCut }: ContentView): Html {
  return html`<h3>Text</h3><pre class="wrap" tabindex="0">${text}</pre>${textIsCut && html`<p class="hint">The text is cut off here; the message source has the rest.</p>`}`;
}

function headerPart({ headers }: ContentView): Html {
  const rows = headers.map(([name, value]) => [html`<code>${name}</code>`, html`<code>${value}</code>`]);
  return html`<h3>Custom headers</h3>${table({ caption: 'Custom headers', heads: ['Name', 'Value'] }, rows)}`;
}

function callPart({ siblings, rejected }: MessageView): Html | null {
  if (siblings.length === 0 && rejected.length === 0) return null;
  const queued = siblings.map((sibling) => [
    html`<a href="/portal/messages/${sibling.id}">${sibling.recipient}</a>`,
    stateBadge(sibling),
  ]);
  const dropped = rejected.map(({ to, reason }) => [
    to,
    html`<span class="badge">not accepted</span> <span class="hint">${reason}</span>`,
  ]);
  const heads = ['Recipient', 'State'];
  return html`<h2>Other recipients of the same call</h2>${table({ caption: 'Other recipients of the same call', heads }, [...queued, ...dropped])}`;
}
