// From a message's content to the bytes that are signed: the common header fields, and the service's own,
// which contain tokens made with the kit's keys.

import { isAscii } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';
import { fillInOutline, type HtmlOutline, outlineHtml } from '../../links/track-html.ts';
import type { Page } from '../../links/track-part.ts';
import { unsubscribeHeaders } from '../../links/unsubscribe.ts';
import { envelopeForm } from '../../protocol/mail/addresses/address.ts';
import { makeFeedbackId } from '../../protocol/mail/addresses/feedback-id.ts';
import type { HmacKey } from '../../protocol/mail/addresses/message-token.ts';
import { acceptedAddress, type Composed, compose, composeBody } from '../../protocol/mail/compose/compose.ts';
import type { BodyInput, MimeBody } from '../../protocol/mail/compose/lean-body.ts';
import { hashBody } from '../../protocol/mail/dkim/dkim.ts';
import { valueField } from '../../protocol/mail/header-field.ts';
import { readEntity } from '../../protocol/mail/written/entity.ts';
import type { ComposedContent, SourceContent } from '../../store/message-view.ts';
import type { Attachment, MessageContent } from '../../store/submissions.ts';
import type { WrittenContent } from '../../store/written-mails.ts';
import { fieldsOf, type LeavingMail, leavingMail } from './written-body.ts';

export interface ComposeKit {
  tokenKey: HmacKey;
  bouncesDomain: string;
  links: LinkMaker;
}

export function composeMessage(content: ComposedContent, body: MimeBody, kit: ComposeKit): Composed {
  const { messageId, from, to } = content;
  return compose(
    {
      messageId,
      from: { address: from.address, name: from.name ?? '' },
      to: { address: to.address, name: to.name ?? '' },
      lists: content.lists,
      subject: content.subject,
      headers: content.headers,
      serviceHeaders: serviceHeaders(content, kit),
      date: new Date(content.date),
    },
    body,
  );
}

function serviceHeaders(content: ComposedContent, kit: ComposeKit): [string, string][] {
  const unsubscribe = content.unsubscribe ? unsubscribePair(content, kit) : [];
  return [...unsubscribe, ...feedbackHeaders(content, kit)];
}

/** RFC 9477 for providers' complaint loops; Feedback-ID has no part per message, so that providers can aggregate it. */
function feedbackHeaders(content: ComposedContent, kit: ComposeKit): [string, string][] {
  return [
    ['CFBL-Address', `fbl@${kit.bouncesDomain}; report=arf`],
    ['CFBL-Feedback-ID', makeFeedbackId(content.messageId, kit.tokenKey)],
    ['Feedback-ID', `${content.tenantId}:${content.signing.domain}:transactional:postrider`],
  ];
}

function unsubscribePair({ tenantId, messageId, to, bouncesDomain }: ComposedContent, kit: ComposeKit) {
  return unsubscribeHeaders(
    { tenantId, messageId, recipient: to.address },
    {
      linksUrl: kit.links.url,
      linkKey: kit.links.key,
      bouncesDomain: bouncesDomain ?? kit.bouncesDomain,
      addressKey: kit.tokenKey,
    },
  );
}

// Written mail: below our own fields it goes out as it was written, so there is nothing to compose.

const CRLF = Buffer.from('\r\n');

export function composeWritten(
  content: ComposedContent,
  { header: written, eightBit }: Pick<LeavingMail, 'header' | 'eightBit'>,
  kit: ComposeKit,
): Omit<Composed, 'body'> {
  const unsubscribe = content.unsubscribe && mayBeUnsubscribed(written) ? unsubscribePair(content, kit) : [];
  const messageId: [string, string] = ['X-Postrider-Message-ID', content.messageId];
  const own = [messageId, ...unsubscribe, ...feedbackHeaders(content, kit)];
  const fields = own.map(([name, value]) => valueField(name, value)).join('');
  const header = Buffer.concat([Buffer.from(fields), written, CRLF]);
  const to = acceptedAddress(content.to.address);
  const smtputf8 = to.nonAsciiLocal || !isAscii(header);
  return { header, envelopeTo: envelopeForm(to), needs: { smtputf8, eightBit: eightBit || !isAscii(header) } };
}

/** The application's own fields are better than ours, and a signed or encrypted mail gets nothing that it does not need. */
function mayBeUnsubscribed(header: Buffer): boolean {
  const fields = fieldsOf({ header });
  if (fields === null || readEntity(fields).isSealed) return false;
  return !fields.some(({ key }) => key === 'list-unsubscribe' || key === 'list-unsubscribe-post');
}

/** As it leaves to this recipient. */
export function leavingFor(
  content: ComposedContent,
  { written, read, isForSevenBits }: WrittenLetter,
  { pages, kit }: { pages: TrackedPages; kit: ComposeKit },
): Promise<LeavingMail> {
  const track = pages.trackerFor(content, written, kit.links);
  return leavingMail(written, read, { track, isForSevenBits });
}

interface WrittenLetter {
  written: WrittenContent;
  read: LeavingMail['read'];
  isForSevenBits: boolean;
}

// The HTML of each message with its own pixel and links, if its tenant wants them. Their positions are found
// once for the same HTML: for recipients of a submission that are prepared one after the other.

interface LinkMaker {
  /** The origin of our links. */
  url: string;
  key: HmacKey;
}

type TrackedContent = Pick<
  MessageContent,
  'tenantId' | 'messageId' | 'html' | 'headers' | 'openTracking' | 'clickTracking'
>;

export class TrackedPages {
  /** One entry is enough, and it may be large. */
  #last: { html: string; outline: HtmlOutline } | null = null;

  /** Null when nothing in the body is specific to this message, so that it may be shared. */
  htmlFor(content: TrackedContent, links: LinkMaker): string | null {
    const { tenantId, messageId, html, headers, openTracking: opens, clickTracking: clicks } = content;
    if (html === null || html === '' || !(opens || clicks)) return null;
    const plan = { subject: { tenantId, messageId }, opens, clicks, headers, linksUrl: links.url, key: links.key };
    const tracked = fillInOutline(html, this.#outlineOf(html), plan);
    return tracked === html ? null : tracked;
  }

  /** The same for a part of a written mail. Null: its tenant wants none of this. */
  trackerFor(
    { tenantId, messageId, openTracking: opens, clickTracking: clicks }: Omit<TrackedContent, 'html'>,
    written: WrittenContent,
    links: LinkMaker,
  ): ((page: Page) => string) | null {
    if (!(opens || clicks)) return null;
    const headers = (fieldsOf(written) ?? []).map(({ name, value }) => [name, value] as const);
    const plan = { subject: { tenantId, messageId }, opens, clicks, headers, linksUrl: links.url, key: links.key };
    return ({ html, shown, charset }) => {
      const { links: found, pixelAt } = this.#outlineOf(shown);
      // In other charsets, browsers write some URLs with other octets than we would.
      const followed = charset === 'utf8' ? found : found.filter(({ href }) => isAscii(Buffer.from(href)));
      return fillInOutline(html, { links: followed, pixelAt }, plan);
    };
  }

  #outlineOf(html: string): HtmlOutline {
    if (this.#last?.html !== html) this.#last = { html, outline: outlineHtml(html) };
    return this.#last.outline;
  }
}

// Bodies shared by several recipients: encoded and hashed once for all messages of a submission, which are
// often prepared one after the other, or by concurrent sessions.

/** They may be large, so they are read when a body is made, and not for each message. */
export type AttachmentsOf = () => Promise<Attachment[]>;

interface HashedBody extends MimeBody {
  bodyHash: string;
}

type BodyTexts = Pick<BodyInput, 'text' | 'html'>;
type BodyParts = BodyTexts & Pick<BodyInput, 'attachments'>;

/**
 * Per thread: a hundred typical messages. The recipients of a submission come close together, and many entries
 * would fill the old generation of the heap, which is expensive to collect.
 */
const MAX_CACHED_BYTES = 256 * 1024;
/** From here on a body has a place among the large ones: few entries, and their bytes lie outside the heap. */
const LARGE_BYTES = 64 * 1024;
/** Per thread: several submissions with attachments are often delivered at the same time, in turns. */
const MAX_CACHED_LARGE_BYTES = 24 * 1024 * 1024;

/** A body that is not shared. */
export async function hashedBody(submissionId: string, parts: BodyParts): Promise<HashedBody> {
  const body = await composeBody({ ...parts, boundarySeed: submissionId });
  return { ...body, bodyHash: hashBody(body.content) };
}

export class SharedBodies {
  readonly #small = new BoundedMap<string, HashedBody>(MAX_CACHED_BYTES, sizeOf);
  /** The newest is kept at any size: it exists already, and the other recipients come next. */
  readonly #large = new BoundedMap<string, HashedBody>(MAX_CACHED_LARGE_BYTES, sizeOf);
  readonly #pending = new Map<string, Promise<HashedBody>>();

  /** The submission alone determines the body: its text, HTML and attachments are those that were accepted. */
  bodyOf({ submissionId, text, html }: MessageContent, attachments: AttachmentsOf): HashedBody | Promise<HashedBody> {
    const made = this.#small.get(submissionId) ?? this.#large.use(submissionId);
    const known = made ?? this.#pending.get(submissionId);
    if (known) return known;
    const pending = this.#make(submissionId, { text, html }, attachments);
    this.#pending.set(submissionId, pending);
    return pending;
  }

  async #make(submissionId: string, texts: BodyTexts, attachments: AttachmentsOf): Promise<HashedBody> {
    try {
      const hashed = await hashedBody(submissionId, { ...texts, attachments: await attachments() });
      const bodies = sizeOf(hashed) < LARGE_BYTES ? this.#small : this.#large;
      bodies.set(submissionId, hashed);
      return hashed;
    } finally {
      this.#pending.delete(submissionId);
    }
  }
}

function sizeOf({ content }: HashedBody): number {
  return content.length;
}

// The source of a message for people: composed as couriers do it, with its pixel and tracked links, but
// without signatures or valid tokens, so that a reader can't unsubscribe or complain in the recipient's
// place.

const KEY_BYTES = 32;

interface SourceKit {
  bouncesDomain: string;
  linksUrl: string;
}

export async function messageSource(content: SourceContent, { bouncesDomain, linksUrl }: SourceKit): Promise<Buffer> {
  const key = { id: '0', key: randomBytes(KEY_BYTES) };
  const links = { url: linksUrl, key };
  const kit = { tokenKey: key, bouncesDomain, links };
  if (content.written) return writtenSource(content, content.written, kit);
  const html = new TrackedPages().htmlFor(content, links) ?? content.html;
  const body = await hashedBody(content.submissionId, { text: content.text, html, attachments: content.files });
  const { header, body: bytes } = composeMessage(content, body, kit);
  return Buffer.concat([header, bytes]);
}

async function writtenSource(content: SourceContent, written: WrittenContent, kit: ComposeKit): Promise<Buffer> {
  async function* read() {
    if (content.writtenBody) yield content.writtenBody;
  }
  const mail = await leavingFor(content, { written, read, isForSevenBits: false }, { pages: new TrackedPages(), kit });
  const parts = [composeWritten(content, mail, kit).header];
  for await (const bytes of mail.read()) parts.push(bytes);
  return Buffer.concat(parts);
}
