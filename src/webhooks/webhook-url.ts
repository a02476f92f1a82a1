// What may be registered as the URL of a webhook: syntax only. The parser is that of the WHATWG
// URL standard, which forgives much; what it would silently repair is refused here, because
// then the tenant and we might not mean the same.
export type ReadUrl = { url: URL } | { problem: string };

/** From the beginning to the end of the authority (RFC 3986 section 3.2). */
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;

export function readWebhookUrl(text: string): ReadUrl {
  if (!text.isWellFormed()) return { problem: 'must be valid Unicode; it has half a surrogate pair.' };
  if (/[\s\u0000-\u0020\u007f\\]/.test(text)) {
    return { problem: 'must not contain white space, control characters or backslashes.' };
  }
  const authority = AUTHORITY.exec(text)?.[1];
  const url = authority === undefined ? null : URL.parse(text);
  if (!url) return { problem: 'must be a full http:// or https:// URL, like https://example.com/hook.' };
  if (authority?.includes('@')) {
    return { problem: 'must not contain credentials; check the signature of what arrives instead.' };
  }
  if (text.includes('#')) return { problem: 'must not have a fragment (#…): it is never sent.' };
  if (url.port === '0') return { problem: 'must not have the port 0: nobody can listen there.' };
  return { url };
}
