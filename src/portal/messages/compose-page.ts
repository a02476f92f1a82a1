// Sending a message from the portal: a form with all that POST /emails takes, for people instead of programs.
import { randomUUID } from 'node:crypto';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { type Html, html } from '../../http/html.ts';
import { invalid } from '../../submission/invalid.ts';
import type { SendBody } from '../../submission/send-request.ts';
import { NO_KEY } from '../../submission/sender.ts';
import { type Choice, field, heading, problemBox, select } from '../elements.ts';
import { type PageResult, redirect, type VisitOf, view } from '../page.ts';
import type { MessageServices } from './message-services.ts';
import { asUtc } from './schedule-form.ts';

export const COMPOSE = '/portal/messages/new';
/** With a third more in base64, this is what POST /emails takes. */
export const COMPOSE_LIMIT_BYTES = 3_900_000;
const FILES = ['file1', 'file2', 'file3', 'file4'] as const;
const MAX_SUBJECT = 998;
const MOST_TEMPLATES = 1000;

export async function showCompose(services: MessageServices, visit: VisitOf<'member'>): Promise<PageResult> {
  return view({ title: 'Send a message', body: await composeForm(services, visit, null) });
}

export async function sendComposed(services: MessageServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const { form, visitor } = visit;
  const again = async ({ message }: Pick<Refusal, 'message'>, status = 422) => {
    return view({ title: 'Send a message', status, body: await composeForm(services, visit, message) });
  };
  const waitSecs = await services.waitSecs(visitor.tenant);
  if (waitSecs !== null) return again({ message: `Too many messages within a minute. Retry in ${waitSecs} s.` }, 429);
  const body = readForm(visit);
  if (isRefusal(body)) return again(body);
  const sender = { id: NO_KEY, tenantId: visitor.tenant.id, boundDomain: null };
  const once = `portal-${(form.get('once') ?? '').slice(0, 64)}`;
  const bytes = [...visit.files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
  const answer = await services.submission.submit(sender, once, { bytes, read: () => body });
  if (isRefusal(answer)) return again(answer);
  const { id, messageIds, rejected } = answer.receipt;
  const path = `/portal/messages/${messageIds[0]}`;
  if (answer.replayed) return redirect(path, SENT_BEFORE, 'warn');
  await visit.audit('submission.sent', { submission_id: id, messages: messageIds.length });
  const some = messageIds.length === 1 ? 'One message' : `${messageIds.length} messages`;
  const others = rejected.map(({ to, reason }) => ` ${to} gets none (${reason}).`).join('');
  return redirect(path, `${some} accepted.${others}`, others === '' ? 'good' : 'warn');
}

/** Sent twice by a slip, or changed after going back. */
const SENT_BEFORE =
  'This form had been sent before, so nothing new was sent. For another message, open the form again.';

/** What the fields say, as a call would. */
function readForm({ form, files }: VisitOf<'member'>): SendBody | Refusal {
  const whole = (name: string) => form.get(name)?.replaceAll('\r\n', '\n') ?? '';
  const text = (name: string) => whole(name).trim();
  const given = (name: string) => (text(name) === '' ? {} : { [name]: text(name) });
  // As it was written, spaces at its beginning included.
  const content = (name: string) => (text(name) === '' ? {} : { [name]: whole(name) });
  const list = (name: string) => (text(name) === '' ? {} : { [name]: splitAddresses(text(name)) });
  const tags = readPairs('tags', text('tags'));
  if (isRefusal(tags)) return tags;
  const metadata = readPairs('metadata', text('metadata'));
  if (isRefusal(metadata)) return metadata;
  const data = text('template_id') === '' ? {} : readData(text('data'));
  if (isRefusal(data)) return data;
  if (text('subject').length > MAX_SUBJECT) return invalid('subject', `must have at most ${MAX_SUBJECT} characters.`);
  const attachments = FILES.flatMap((name) => {
    const file = files.get(name);
    return file && file.name !== '' ? [{ filename: file.name, content: file.bytes.toString('base64') }] : [];
  });
  return {
    from: text('from'),
    to: splitAddresses(text('to')),
    ...list('cc'),
    ...list('bcc'),
    ...list('reply_to'),
    ...given('subject'),
    ...content('text'),
    ...content('html'),
    ...given('template_id'),
    ...data,
    attachments,
    tags,
    metadata,
    tracking: { opens: choice(text('opens')), clicks: choice(text('clicks')) },
    ...(text('send_at') !== '' && { send_at: asUtc(text('send_at')) }),
  };
}

/** At commas and semicolons, as mail programs do, except for those in quotes. */
function splitAddresses(text: string): string[] {
  const entries = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,;"]|")+/g) ?? [];
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

/** A line for each, `name: value`. */
function readPairs(name: string, text: string): Record<string, string> | Refusal {
  const pairs: [string, string][] = [];
  for (const line of text.split('\n').filter((line) => line.trim() !== '')) {
    const at = line.indexOf(':');
    if (at < 1) return invalid(name, 'write each on a line of its own, as name: value.');
    pairs.push([line.slice(0, at).trim(), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(pairs);
}

function readData(text: string): { data: unknown } | Refusal {
  try {
    return { data: text === '' ? {} : (JSON.parse(text) as unknown) };
  } catch {
    return invalid('data', 'must be JSON, like {"name": "Ann"}.');
  }
}

/** Null: as the account has it. */
function choice(text: string): boolean | null {
  return text === '' ? null : text === 'on';
}

const TRACKING: readonly Choice[] = [
  { value: '', label: 'as set for the account' },
  { value: 'on', label: 'on' },
  { value: 'off', label: 'off' },
];

const PAIRS = 'One on each line, as name: value.';

async function composeForm(
  { store }: MessageServices,
  { visitor, form, formField }: VisitOf<'member'>,
  problem: string | null,
): Promise<Html> {
  const { tenant } = visitor;
  const domains = (await store.domains.listDomains(tenant.id)).filter(({ state }) => state === 'verified');
  const top = html`<p class="crumb"><a href="/portal/messages">Messages</a></p>${heading('Send a message')}`;
  if (tenant.status !== 'active')
    return html`${top}<p class="notice warn">Your account isn’t active, so it can’t send.</p>`;
  if (domains.length === 0) {
    return html`${top}<p class="notice warn">Mail is sent from a verified domain. <a href="/portal/domains">Add your domain</a> first.</p>`;
  }
  const templates = await store.templates.listTemplateNames(tenant.id, { before: null, limit: MOST_TEMPLATES });
  const choices = [{ value: '', label: 'none' }, ...templates.map(({ id, name }) => ({ value: id, label: name }))];
  const value = (name: string, otherwise = '') => form.get(name) ?? otherwise;
  const line = (name: string, label: string, hint?: string) =>
    field({ name, label, value: value(name), ...(hint && { hint }) });
  const area = (name: string, label: string, hint?: string) =>
    field({ name, label, value: value(name), rows: name === 'text' || name === 'html' ? 8 : 3, ...(hint && { hint }) });
  const from = field({
    name: 'from',
    label: 'From',
    value: value('from', `hello@${domains[0]!.name}`),
    required: true,
  });
  const to = field({
    name: 'to',
    label: 'To',
    value: value('to'),
    required: true,
    hint: 'Several are separated by commas.',
  });
  const group = (title: string, names: string[], fields: Html) => {
    const isUsed = names.some((name) => value(name) !== '');
    return html`<details${isUsed && html` open`}><summary>${title}</summary>${fields}</details>`;
  };
  const template = select(
    { name: 'template_id', label: 'Template', hint: 'It takes the place of text and HTML.' },
    choices,
    value('template_id'),
  );
  const tracking = html`${select({ name: 'opens', label: 'Count opens' }, TRACKING, value('opens'))}${select({ name: 'clicks', label: 'Count clicks' }, TRACKING, value('clicks'))}`;
  const later = field({
    name: 'send_at',
    label: 'Send at (UTC)',
    value: value('send_at'),
    type: 'datetime-local',
    hint: 'At most 30 days ahead; left empty, it is sent at once.',
  });
  const files = FILES.map((name, index) => fileField(name, `Attachment ${index + 1}`));
  return html`${top}${problemBox(problem)}${problem !== null && html`<p class="hint">Choose files again: a browser does not keep them.</p>`}
<form method="post" action="${COMPOSE}" enctype="multipart/form-data" class="card">${formField}<input type="hidden" name="once" value="${value('once', randomUUID())}">
${from}${to}${line('subject', 'Subject', 'May be left out where the template has one.')}
${area('text', 'Text')}${area('html', 'HTML')}
${group('Copies and answers', ['cc', 'bcc', 'reply_to'], html`${line('cc', 'Cc')}${line('bcc', 'Bcc')}${line('reply_to', 'Reply to')}`)}
${group('Template', ['template_id', 'data'], html`${template}${area('data', 'Data', 'JSON, like {"name": "Ann"}.')}`)}
${group('Attachments', [], html`<p class="hint">At most 3.9 MB in all.</p>${files}`)}
${group('Tags, metadata and tracking', ['tags', 'metadata', 'opens', 'clicks'], html`${area('tags', 'Tags', PAIRS)}${area('metadata', 'Metadata', PAIRS)}${tracking}`)}
${group('Later', ['send_at'], later)}
<button class="primary">Send</button></form>`;
}

function fileField(name: string, label: string): Html {
  return html`<div class="field"><label for="field-${name}">${label}</label><input type="file" id="field-${name}" name="${name}"></div>`;
}
