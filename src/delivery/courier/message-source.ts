// The source of a message for people: composed as couriers do it, with its pixel and tracked links,
// but neither signed nor with valid tokens. Whoever reads it can unsubscribe nobody, and report nothing,
// in the recipient's place.
import { randomBytes } from 'node:crypto';
import type { ComposedContent } from '../../store/message-view.ts';
import { composeMessage } from './compose-message.ts';
import { hashedBody } from './shared-bodies.ts';
import { TrackedPages } from './tracked-pages.ts';

const KEY_BYTES = 32;

export interface SourceKit {
  bouncesDomain: string;
  linksUrl: string;
}

export async function messageSource(content: ComposedContent, { bouncesDomain, linksUrl }: SourceKit): Promise<Buffer> {
  const key = { id: '0', key: randomBytes(KEY_BYTES) };
  const links = { url: linksUrl, key };
  const html = new TrackedPages().htmlFor(content, links) ?? content.html;
  const body = await hashedBody(content.submissionId, { text: content.text, html });
  const { header, body: octets } = composeMessage(content, body, { tokenKey: key, bouncesDomain, links });
  return Buffer.concat([header, octets]);
}
