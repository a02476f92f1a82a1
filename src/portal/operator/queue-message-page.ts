// One message for operators: everything that keeps it waiting, what the receiver said last and what that
// means, every attempt, and what came in about it.
import { isUuid } from '../../base/ids.ts';
import type { MessageExplanation } from '../../delivery/actions/explain.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import { hostAndPort } from '../../protocol/smtp/tried-hosts.ts';
import type { InboundMailRecord } from '../../store/inbound.ts';
import type { AttemptRecord, MessageDetail, MessageState } from '../../store/queue.ts';
import { badge, copyable, facts, heading, type Tone, table, time } from '../elements.ts';
import { missing, type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { lastReplyText, reasonList } from './explained.ts';
import type { OperatorServices } from './operator-services.ts';
import { notesTable } from './queue-pages.ts';
import { actionForms, pausePath, QUEUE_PATH } from './queue-targets.ts';

const MOST_INBOUND = 20;

export function queueMessagePage(services: OperatorServices): PortalRoute {
  return page({ path: `${QUEUE_PATH}/:messageId`, access: 'operator', show: (visit) => show(services, visit) });
}

async function show(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { store, queue, sandbox } = services;
  const { messageId = '' } = visit.params;
  const detail = isUuid(messageId) ? await store.queue.getMessage(messageId) : null;
  if (!detail) return missing('Message not found. It may have been erased.');
  const [explained, tenant, inbound] = await Promise.all([
    queue.explain.message(detail),
    store.tenants.getTenant(detail.tenantId),
    store.inbound.listInbound({ messageId, limit: MOST_INBOUND }),
  ]);
  const captured =
    sandbox && html`<a class="button" href="/portal/operator/captured?message=${messageId}">Captured mail</a>`;
  const isWaiting = detail.finishedAt === null && detail.state !== 'sending';
  const body = html`<p class="crumb"><a href="${QUEUE_PATH}">Queue</a></p>${heading(`Message to ${detail.recipient}`, captured)}
${whyPart(detail, explained)}
${facts(factsOf(detail, explained, tenant?.name ?? detail.tenantId))}
${isWaiting && actionForms({ kind: 'message', key: messageId }, visit.formField)}
<h2>Attempts</h2>${attemptsTable(detail.attemptList)}
${inbound !== 'unknown' && inbound.length > 0 && html`<h2>Related inbound mail</h2>${inboundTable(inbound)}`}
${explained.notes.length > 0 && html`<h2>Operator actions</h2>${notesTable(explained.notes)}`}`;
  return view({ title: `Message to ${detail.recipient}`, body });
}

/** In words, in every state. */
function whyPart({ state, finishedAt, lastReason }: MessageDetail, { reasons, until }: MessageExplanation): Html {
  if (finishedAt !== null) {
    const tone = state === 'delivered' ? '' : ' bad';
    return html`<p class="notice${tone}">Finished as ${state} at ${time(finishedAt)}${lastReason !== null && html`: ${lastReason}`}</p>`;
  }
  if (state === 'sending') return html`<p class="notice info">The message is being sent right now.</p>`;
  if (reasons.length === 0)
    return html`<p class="notice info">Nothing holds the message back; it is sent when it reaches the front of the queue.</p>`;
  return html`<div class="card"><p><strong>It is waiting because</strong></p>${reasonList(reasons)}${until !== null && html`<p class="quiet">All of this may be over at ${time(until)} at the earliest.</p>`}</div>`;
}

export const STATE_TONES: Readonly<Record<MessageState, Tone>> = {
  scheduled: 'quiet',
  queued: 'quiet',
  sending: 'busy',
  deferred: 'warn',
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
  canceled: 'quiet',
};

function factsOf(
  detail: MessageDetail,
  { group, lastReply }: MessageExplanation,
  tenantName: string,
): [string, HtmlPart][] {
  return [
    [
      'State',
      html`${badge(detail.state, STATE_TONES[detail.state])}${detail.parked && html` ${badge('parked', 'warn')}`}${detail.ambiguous && html` ${badge('may have arrived', 'warn')}`}`,
    ],
    ['Subject', detail.subject || '(no subject)'],
    ['From', detail.from],
    ['Tenant', html`<a href="/portal/operator/tenants/${detail.tenantId}">${tenantName}</a>`],
    [
      'MX group',
      group === null ? 'not known yet' : html`<a href="${pausePath({ kind: 'group', key: group })}">${group}</a>`,
    ],
    ['Last reply', lastReply ? lastReplyText(lastReply) : 'none yet'],
    ['Next attempt', time(detail.dueAt, '–')],
    ['Source address', detail.sourceAddress ?? 'chosen by the system'],
    ['Accepted', time(detail.createdAt)],
    ['Expires', time(detail.expiresAt)],
    ['Message ID', copyable(detail.id, 'the message ID')],
  ];
}

function attemptsTable(attempts: readonly AttemptRecord[]): Html {
  if (attempts.length === 0) return html`<p class="quiet">Not attempted yet.</p>`;
  const rows = attempts.map(({ attempt, startedAt, outcome, peer }) => [
    attempt,
    time(startedAt),
    badge(outcome, { delivered: 'good', temporary: 'warn', permanent: 'bad' }[outcome] as Tone),
    html`${peer.mx ?? 'none'}<br><span class="quiet">${peer.remoteIp ?? ''}</span>`,
    peer.stage,
    html`${peer.tls ? peer.tls.version : 'no TLS'}${peer.tlsPolicy.failure !== null && html`<br><span class="quiet">${peer.tlsPolicy.failure}</span>`}`,
    `${Math.round(peer.elapsedMs)} ms`,
    html`<code>${replyLine(peer.smtpCode, peer.enhancedCode, peer.response)}</code>${othersTried(peer)}`,
  ]);
  return table(
    { caption: 'Attempts', heads: ['#', 'Started', 'Outcome', 'Server', 'Stage', 'TLS', 'Duration', 'Reply'] },
    rows,
  );
}

/** Where more than one address was called, each of them. */
function othersTried({ tried = [] }: AttemptRecord['peer']): Html | false {
  if (tried.length < 2) return false;
  const lines = tried.map(
    (host) =>
      html`<li>${host.mx} ${hostAndPort(host)} ${host.stage}: <code>${replyLine(host.smtpCode, host.enhancedCode, host.response)}</code></li>`,
  );
  return html`<ul class="quiet">${lines}</ul>`;
}

function inboundTable(mails: readonly InboundMailRecord[]): Html {
  const rows = mails.map(({ id, receivedAt, kind, effect, reason }) => [
    html`<a href="/portal/operator/inbound/${id}">${kind ?? 'waiting'}</a>`,
    time(receivedAt),
    effect ?? '',
    reason ?? '',
  ]);
  return table({ caption: 'Related inbound mail', heads: ['Mail', 'Received', 'Result', 'Reason'] }, rows);
}
