// From a message's content to the bytes that are signed: the common header fields, and the service's own,
// which contain tokens made with the kit's keys.

import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';
import { fillInOutline, type HtmlOutline, outlineHtml } from '../../links/track-html.ts';
import { unsubscribeHeaders } from '../../links/unsubscribe.ts';
import { type Composed, compose, composeBody } from '../../protocol/mail/compose.ts';
import { hashBody } from '../../protocol/mail/dkim.ts';
import { makeFeedbackId } from '../../protocol/mail/feedback-id.ts';
import type { BodyInput, MimeBody } from '../../protocol/mail/lean-body.ts';
import type { HmacKey } from '../../protocol/mail/message-token.ts';
import type { ComposedContent, SourceContent } from '../../store/message-view.ts';
import type { Attachment, MessageContent } from '../../store/submissions.ts';

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
      date: new Date(content.createdAt),
    },
    body,
  );
}

/** RFC 9477 for providers' complaint loops; Feedback-ID has no part per message, so that providers can aggregate it. */
function serviceHeaders(content: ComposedContent, kit: ComposeKit): [string, string][] {
  const unsubscribe = content.unsubscribe ? unsubscribePair(content, kit) : [];
  return [
    ...unsubscribe,
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

// The HTML of each message with its own pixel and links, if its tenant wants them. Their positions are found
// once for recipients of a submission that are prepared one after the other.

interface LinkMaker {
  /** The origin of our links. */
  url: string;
  key: HmacKey;
}

type TrackedContent = Pick<
  MessageContent,
  'submissionId' | 'tenantId' | 'messageId' | 'html' | 'headers' | 'openTracking' | 'clickTracking'
>;

export class TrackedPages {
  /** One entry is enough, and it may be large. */
  #last: { submissionId: string; outline: HtmlOutline } | null = null;

  /** Null when nothing in the body is specific to this message, so that it may be shared. */
  htmlFor(content: TrackedContent, links: LinkMaker): string | null {
    const { tenantId, messageId, html, headers, openTracking: opens, clickTracking: clicks } = content;
    if (html === null || html === '' || !(opens || clicks)) return null;
    const plan = { subject: { tenantId, messageId }, opens, clicks, headers, linksUrl: links.url, key: links.key };
    const tracked = fillInOutline(html, this.#outlineOf(content.submissionId, html), plan);
    return tracked === html ? null : tracked;
  }

  #outlineOf(submissionId: string, html: string): HtmlOutline {
    if (this.#last?.submissionId !== submissionId) this.#last = { submissionId, outline: outlineHtml(html) };
    return this.#last.outline;
  }
}

// Bodies shared by several recipients: encoded and hashed once for all messages of a submission, which are
// often prepared one after the other, or by concurrent sessions.

/** They may be large, so they are read when a body is made, and not for each message. */
export type AttachmentsOf = () => Attachment[];

interface HashedBody extends MimeBody {
  bodyHash: string;
}

type BodyParts = Pick<BodyInput, 'text' | 'html' | 'attachments'>;

/**
 * Per thread: a hundred typical messages. The recipients of a submission come close together, and a large
 * cache would fill the old generation of the heap, which is expensive to collect.
 */
const MAX_CACHED_BYTES = 256 * 1024;

/** A body that is not shared. */
export async function hashedBody(submissionId: string, parts: BodyParts): Promise<HashedBody> {
  const body = await composeBody({ ...parts, boundarySeed: submissionId });
  return { ...body, bodyHash: hashBody(body.content) };
}

export class SharedBodies {
  /** The newest is kept at any size: it exists already, and the other recipients come next. */
  readonly #bodies = new BoundedMap<string, HashedBody>(MAX_CACHED_BYTES, ({ content }) => content.length);
  readonly #pending = new Map<string, Promise<HashedBody>>();

  /** The submission alone determines the body: its text, HTML and attachments are those that were accepted. */
  bodyOf({ submissionId, text, html }: MessageContent, attachments: AttachmentsOf): HashedBody | Promise<HashedBody> {
    const known = this.#bodies.get(submissionId) ?? this.#pending.get(submissionId);
    if (known) return known;
    const pending = this.#make(submissionId, { text, html, attachments: attachments() });
    this.#pending.set(submissionId, pending);
    return pending;
  }

  async #make(submissionId: string, parts: BodyParts): Promise<HashedBody> {
    try {
      const hashed = await hashedBody(submissionId, parts);
      this.#bodies.set(submissionId, hashed);
      return hashed;
    } finally {
      this.#pending.delete(submissionId);
    }
  }
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
  const html = new TrackedPages().htmlFor(content, links) ?? content.html;
  const body = await hashedBody(content.submissionId, { text: content.text, html, attachments: content.files });
  const { header, body: bytes } = composeMessage(content, body, { tokenKey: key, bouncesDomain, links });
  return Buffer.concat([header, bytes]);
}
