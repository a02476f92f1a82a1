// What a call may have beyond text and recipients, on the page of a message: copies and the lists that they show, tracking,
// tags and metadata, attachments. All of it is the tenant's own text. A plain message has none of these parts.
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import type { AttachmentView, ContentView, MessageView } from '../../store/message-view.ts';
import type { Mailbox, TrackingChoice } from '../../store/submissions.ts';
import { bytesText, copyable, table } from '../elements.ts';

type Fact = readonly [string, HtmlPart];

/** Which copy of the letter this message is, and what all copies show. */
export function letterFacts({ copy, content }: Pick<MessageView, 'copy' | 'content'>): Fact[] {
  const { letter = null, replyTo = [] } = content?.lists ?? {};
  const isCopy = letter !== null || copy !== null;
  return [
    ...(isCopy ? [['Copy', COPIES[copy ?? 'to']] as const] : []),
    ...listFact('Visible To', letter?.to ?? []),
    ...listFact('Visible Cc', letter?.cc ?? []),
    ...listFact('Reply-To', replyTo),
  ];
}

const COPIES = { to: 'To', cc: 'Cc', bcc: 'Bcc' } as const;

function listFact(name: string, list: readonly Mailbox[]): Fact[] {
  if (list.length === 0) return [];
  const boxes = list.map(
    ({ name, address }, at) => html`${at > 0 && ', '}${name && `${name} `}<code>${address}</code>`,
  );
  return [[name, html`${boxes}`]];
}

/** Of mail that was handed in by SMTP: its application finds it by the Message-ID that it wrote. */
export function writtenFacts({ source, labels }: MessageView['message']): Fact[] {
  if (source === null) return [];
  const name = labels?.headerMessageId;
  return [
    ['Handed in by', 'SMTP'],
    ...(name === undefined ? [] : [['Message-ID header', copyable(name, 'the Message-ID header')] as const]),
  ];
}

/** As far as the call overrides the settings of the account. */
export function trackingFacts({ opens, clicks }: TrackingChoice): Fact[] {
  const words = [
    ...(opens === undefined ? [] : [`opens ${onOrOff(opens)}`]),
    ...(clicks === undefined ? [] : [`clicks ${onOrOff(clicks)}`]),
  ];
  return words.length === 0 ? [] : [['Tracking', `${words.join(', ')} (set by the call)`]];
}

function onOrOff(value: boolean): string {
  return value ? 'on' : 'off';
}

export function labelsPart({ message }: MessageView): Html | null {
  const { tags, metadata } = message.labels ?? {};
  const rows = [...labelRows('Tag', tags), ...labelRows('Metadata', metadata)];
  if (rows.length === 0) return null;
  const caption = 'Tags and metadata';
  return html`<h2>${caption}</h2>${table({ caption, heads: ['Kind', 'Name', 'Value'] }, rows)}`;
}

function labelRows(kind: string, labels: Record<string, string> | null | undefined): HtmlPart[][] {
  return Object.entries(labels ?? {}).map(([name, value]) => [
    kind,
    html`<code>${name}</code>`,
    html`<code>${value}</code>`,
  ]);
}

export function attachmentsPart({ attachments, hasHtml }: ContentView, path: string): Html | null {
  if (attachments.length === 0) return null;
  const rows = attachments.map((attachment) => [
    html`<a href="${path}/attachments/${attachment.position}" download>${attachment.filename}</a>`,
    attachment.contentType,
    html`<span class="whole">${bytesText(attachment.bytes)}</span>`,
    disposition(attachment, hasHtml),
  ]);
  return html`<h3>Attachments</h3>${table({ caption: 'Attachments', heads: ['Name', 'Type', 'Size', 'Disposition'] }, rows)}`;
}

/** Without HTML nothing can refer to it, so it is sent like any other. */
function disposition({ contentId }: AttachmentView, hasHtml: boolean): HtmlPart {
  return contentId !== null && hasHtml ? html`inline, <code>cid:${contentId}</code>` : 'attachment';
}
