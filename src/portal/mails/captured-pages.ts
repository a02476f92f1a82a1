// Mail that the sandbox has captured instead of letting it leave: a list and the mails themselves, like in a
// mail client. The tenant that the sandbox has made for its visitor sees all of it, mail of the service
// itself too; any other tenant sees what went out for its own messages; operators see all.
import { SECOND_MS } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { type Html, html } from '../../http/html.ts';
import { readHeaderBlock } from '../../protocol/mail/inbound/header-block.ts';
import type { MessageDetail } from '../../store/queue.ts';
import type { CapturedMail, CapturedMails } from '../captured-mails.ts';
import { bytesText, emptyState, field, heading, pager, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type Visit, type VisitOf, view } from '../page.ts';
import { mailPages } from './mail-pages.ts';
import type { MailReader } from './mail-reader.ts';

export interface CapturedServices {
  captured: CapturedMails;
  reader: MailReader;
  /** The message that a return path of ours names, or null. */
  messageOf(returnPath: string): string | null;
  /** The tenant's own message. */
  findMessage(tenantId: string, id: string): Promise<MessageDetail | null>;
}

const MIB = 1024 * 1024;
const PER_PAGE = 50;
/** As many as the folder keeps. */
const MOST_MAILS = 10_000;
const HEAD_OCTETS = 16 * 1024;
const POLL_MS = 5 * SECOND_MS;

export function capturedPages(services: CapturedServices): PortalRoute[] {
  const { reader } = services;
  const listName = 'Captured mail';
  const [ofTenant, ofOperator] = ['/portal/captured', '/portal/operator/captured'] as const;
  return [
    page({ path: ofTenant, access: 'viewer', show: (visit) => showList(services, visit, ofTenant) }),
    page({ path: ofOperator, access: 'operator', show: (visit) => showList(services, visit, ofOperator) }),
    ...mailPages({
      listPath: ofTenant,
      listName,
      access: 'viewer',
      reader,
      open: (visit) => open(services, visit, ofTenant),
    }),
    ...mailPages({
      listPath: ofOperator,
      listName,
      access: 'operator',
      reader,
      open: (visit) => open(services, visit, ofOperator),
    }),
  ];
}

type Looking = VisitOf<'viewer'> | VisitOf<'operator'>;

async function open(services: CapturedServices, visit: Looking, listPath: string) {
  const id = visit.params.id ?? '';
  const found = isUuid(id) ? await services.captured.get(id) : null;
  if (!found || !(await maySee(services, visit, found.mail))) return null;
  const { mail, raw } = found;
  const messageId = services.messageOf(mail.mailFrom);
  const message = messageId !== null && listPath === '/portal/captured' && visit.visitor.tenant;
  const shown = message && (await services.findMessage(message.id, messageId)) !== null;
  return {
    id: mail.id,
    raw,
    known: [
      ['Captured', time(mail.receivedAt)],
      ['Envelope', html`from <code>${mail.mailFrom || '<>'}</code> to <code>${mail.rcptTo.join(', ')}</code>`],
      [
        'Connection',
        `${mail.ehloName} (${mail.remoteIp}), ${mail.tls ? `${mail.tls.version}, ${mail.tls.cipher}` : 'no TLS'}`,
      ],
      ...(messageId !== null && visit.visitor.tenant === null
        ? ([['Message', html`<a href="/portal/operator/queue/${messageId}">${messageId}</a>`]] as const)
        : []),
      ...(shown ? ([['Message', html`<a href="/portal/messages/${messageId}">${messageId}</a>`]] as const) : []),
    ] as const,
  };
}

async function maySee(services: CapturedServices, visit: Visit, mail: CapturedMail): Promise<boolean> {
  const tenant = visit.visitor?.tenant;
  if (!tenant) return visit.visitor?.user.role === 'operator';
  if (services.captured.ownerTenantId() === tenant.id) return true;
  const messageId = services.messageOf(mail.mailFrom);
  return messageId !== null && (await services.findMessage(tenant.id, messageId)) !== null;
}

async function showList(services: CapturedServices, visit: Looking, listPath: string): Promise<PageResult> {
  const to = (visit.query.get('to') ?? '').trim().toLowerCase();
  const messageId = visit.query.get('message') ?? '';
  const before = visit.query.get('before') ?? '';
  const fits = (mail: CapturedMail) =>
    (before === '' || mail.id < before) &&
    (to === '' || mail.rcptTo.some((address) => address.toLowerCase().includes(to))) &&
    (messageId === '' || services.messageOf(mail.mailFrom) === messageId);
  const shown: CapturedMail[] = [];
  for (const mail of services.captured.list(null, MOST_MAILS).reverse()) {
    if (shown.length > PER_PAGE) break;
    if (fits(mail) && (await maySee(services, visit, mail))) shown.push(mail);
  }
  const onPage = shown.slice(0, PER_PAGE);
  const { messages, octets } = services.captured.limits;
  const kept = `It keeps the newest ${messages.toLocaleString('en')} mails, up to ${Math.floor(octets / MIB)} MiB in all.`;
  const rows = await Promise.all(onPage.map((mail) => rowOf(services, mail, listPath)));
  const query = (change: Record<string, string>) => {
    const filled = Object.entries({ to, message: messageId, ...change }).filter(([, value]) => value !== '');
    return `${listPath}?${new URLSearchParams(filled)}`;
  };
  const next = shown.length > PER_PAGE ? query({ before: onPage.at(-1)!.id }) : null;
  const list =
    rows.length === 0
      ? nothing({ to, messageId, kept }, listPath)
      : table({ caption: 'Captured mail', heads: HEADS }, rows);
  const isNewest = before === '';
  const body = html`${heading('Captured mail')}
<p>The sandbox captures all mail instead of sending it. No mail leaves this machine. ${kept}</p>
<form class="filters" method="get" action="${listPath}">${field({ name: 'to', label: 'Recipient', value: to, type: 'search' })}<button>Search</button></form>
<div id="captured"${isNewest && html` data-poll="${query({})}" data-poll-ms="${POLL_MS}"`}>${list}${pager({ first: isNewest ? null : query({}), next })}</div>`;
  return view({ title: 'Captured mail', body });
}

const HEADS = ['Subject', 'From', 'To', 'Captured', 'Size'];

async function rowOf({ captured }: CapturedServices, mail: CapturedMail, listPath: string) {
  const octets = await captured.head(mail.id, HEAD_OCTETS);
  const text = octets?.toString('latin1') ?? '';
  const { header } = readHeaderBlock(text, 0, text.length);
  const subject = header.text('subject').slice(0, 200) || '(no subject)';
  return [
    html`<a href="${listPath}/${mail.id}">${subject}</a>`,
    html`<span class="roomy">${header.text('from').slice(0, 200)}</span>`,
    html`<span class="roomy">${mail.rcptTo.join(', ').slice(0, 200)}</span>`,
    time(mail.receivedAt),
    html`<span class="whole">${bytesText(mail.sizeBytes)}</span>`,
  ];
}

function nothing({ to, messageId, kept }: { to: string; messageId: string; kept: string }, listPath: string): Html {
  const all = html`<a href="${listPath}">show all captured mail</a>`;
  if (to !== '') return emptyState('No captured mail matches', html`Search for something else, or ${all}.`);
  if (messageId !== '')
    return emptyState(
      'No captured mail of this message',
      html`The sandbox has not captured it yet, or no longer has it. ${kept} You can ${all}.`,
    );
  return emptyState(
    'No captured mail yet',
    'Send a message with the API key that the sandbox printed. It appears here a moment later.',
  );
}
