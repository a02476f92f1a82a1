// Mail that came in, for operators: what people wrote to postmaster, abuse and the like first, then bounces,
// complaints and reports; read as in a mail client. What could not be read can be tried again.
import { isUuid } from '../../base/ids.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import { INBOUND_EFFECTS, INBOUND_KINDS, type InboundMailRecord, type RetriedInbound } from '../../store/inbound.ts';
import { bytesText, emptyState, heading, pager, select, table, time } from '../elements.ts';
import { mailPages } from '../mails/mail-pages.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';

const PATH = '/portal/operator/inbound';
const PER_PAGE = 50;
const EVERY = 'all';

type Services = Pick<OperatorServices, 'store' | 'reader' | 'inboundWaits'>;

export function inboundPages(services: Services): PortalRoute[] {
  const { store, reader } = services;
  return [
    page({ path: PATH, access: 'operator', show: (visit) => showList(services, visit) }),
    action({ path: `${PATH}/:id/retry`, access: 'operator', run: (visit) => retry(services, visit) }),
    ...mailPages({
      listPath: PATH,
      listName: 'Inbound mail',
      access: 'operator',
      reader,
      async open({ params, formField }) {
        const { id = '' } = params;
        const found = isUuid(id) ? await store.inbound.getInbound(id) : null;
        if (!found) return null;
        const { mail, content } = found;
        return {
          id: mail.id,
          raw: content,
          known: knownOf(mail),
          ...(mail.kind === 'refused' && { notKept: REFUSED }),
          ...(mail.kind === 'unreadable' && content !== null && { below: retryForm(mail.id, formField) }),
        };
      },
    }),
  ];
}

async function showList({ store }: Services, { query }: VisitOf<'operator'>): Promise<PageResult> {
  const kind = [EVERY, ...INBOUND_KINDS].find((each) => each === query.get('kind')) ?? 'human';
  const effect = INBOUND_EFFECTS.find((each) => each === query.get('effect')) ?? '';
  const wished = query.get('before') ?? '';
  const before = isUuid(wished) ? wished : '';
  const ofKind = INBOUND_KINDS.find((each) => each === kind);
  const found = await store.inbound.listInbound({
    ...(ofKind && { kind: ofKind }),
    ...(effect !== '' && { effect }),
    ...(before !== '' && { before }),
    limit: PER_PAGE + 1,
  });
  const mails = found === 'unknown' ? [] : found;
  const pathOf = (change: Record<string, string>) => `${PATH}?${new URLSearchParams({ kind, effect, ...change })}`;
  const rows = mails.slice(0, PER_PAGE).map(rowOf);
  const kinds = [EVERY, ...INBOUND_KINDS].map((each) => ({ value: each, label: KIND_NAMES[each]! }));
  const effects = [{ value: '', label: 'any' }, ...INBOUND_EFFECTS.map((each) => ({ value: each, label: each }))];
  const list =
    rows.length === 0
      ? emptyState(
          'No such inbound mail',
          html`Mail to postmaster, abuse and similar addresses appears here and is forwarded to <code>service.operator_address</code>.`,
        )
      : table({ caption: 'Inbound mail', heads: ['Mail', 'From', 'Received', 'Result', 'Reason'] }, rows);
  const next = mails.length > PER_PAGE ? pathOf({ before: mails[PER_PAGE - 1]!.id }) : null;
  const body = html`${heading('Inbound mail')}
<form class="filters" method="get" action="${PATH}" data-submit-on-change>${select({ name: 'kind', label: 'Type' }, kinds, kind)}${select({ name: 'effect', label: 'Result' }, effects, effect)}<button>Show</button></form>
${list}${pager({ first: before === '' ? null : pathOf({}), next })}`;
  return view({ title: 'Inbound mail', body });
}

function retryForm(id: string, formField: Html): Html {
  return html`<form class="row" method="post" action="${PATH}/${id}/retry">${formField}<p class="quiet">Postrider couldn’t read this mail, so it had no effect.</p><button>Try again</button></form>`;
}

async function retry({ store, inboundWaits }: Services, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { id = '' } = visit.params;
  if (!isUuid(id)) return missing('Mail not found.');
  const outcome = await store.inbound.retryInbound(id);
  const path = `${PATH}/${id}`;
  if (outcome !== 'waits') return redirect(path, NOT_RETRIED[outcome], 'warn');
  inboundWaits();
  await visit.audit('inbound.retried', { mail: id });
  return redirect(path, 'The mail is in the queue again. Reload this page in a moment to see the result.');
}

const NOT_RETRIED: Readonly<Record<Exclude<RetriedInbound, 'waits'>, string>> = {
  unknown: 'Inbound mail not found.',
  waiting_already: 'This mail is already in the queue.',
  not_unreadable: 'This mail has been read, so there is nothing to retry.',
  erased: 'The content of this mail has been erased, so it can’t be retried.',
};

const REFUSED = {
  title: 'Refused mail',
  reason: 'Its content wasn’t kept. The sending server got an error; the sender must fix the mail and send it again.',
};

const KIND_NAMES: Readonly<Record<string, string>> = {
  all: 'any',
  human: 'human mail',
  report: 'bounces and other reports',
  complaint: 'complaints',
  auto_reply: 'automatic replies',
  dmarc: 'DMARC reports',
  unsubscribe: 'unsubscribes by mail',
  unreadable: 'unreadable',
  refused: 'refused (malformed or too large)',
};

function rowOf(mail: InboundMailRecord): HtmlPart[] {
  const subject = typeof mail.finding?.subject === 'string' ? mail.finding.subject : '';
  const name = subject === '' ? (mail.kind === null ? 'not processed yet' : KIND_NAMES[mail.kind]) : subject;
  return [
    html`<a href="${PATH}/${mail.id}">${name}</a>`,
    mail.mailFrom || '<>',
    time(mail.receivedAt),
    mail.effect ?? 'waiting',
    mail.reason ?? '',
  ];
}

function knownOf(mail: InboundMailRecord): [string, HtmlPart][] {
  const { messageId, reason, kind, effect } = mail;
  return [
    ['Received', time(mail.receivedAt)],
    ['Envelope', html`from <code>${mail.mailFrom || '<>'}</code> to <code>${mail.recipients.join(', ')}</code>`],
    ['Connection', `${mail.ehloName} (${mail.remoteIp}), ${mail.tls ?? 'no TLS'}`],
    ['Size', bytesText(mail.sizeBytes)],
    ['Type and result', kind === null ? 'not processed yet' : `${KIND_NAMES[kind]}: ${effect}`],
    ['Reason', reason ?? '–'],
    ...(messageId === null
      ? []
      : ([['About', html`<a href="/portal/operator/queue/${messageId}">message ${messageId}</a>`]] satisfies [
          string,
          HtmlPart,
        ][])),
  ];
}
