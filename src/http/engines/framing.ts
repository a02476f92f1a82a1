// Where the body of a request ends (RFC 9112 section 6), decided once for both engines and more strictly than by
// either: what two servers in a row could read differently is refused.
import type { KernelAnswerCode } from './engine-limits.ts';

export type Framing =
  /** `declaredBytes` is null for a chunked body, whose length is known only at its end. */
  { kind: 'framed'; declaredBytes: number | null } | { kind: 'refused'; code: KernelAnswerCode };

export interface FramingFields {
  /** Repeated lines joined by commas. */
  host: string | undefined;
  contentLength: string | undefined;
  transferEncoding: string | undefined;
  hostRequired: boolean;
}

const MALFORMED: Framing = { kind: 'refused', code: 'malformed_request' };
const NO_BODY: Framing = { kind: 'framed', declaredBytes: 0 };

export function readFraming(fields: FramingFields): Framing {
  const { host, contentLength, transferEncoding } = fields;
  // RFC 9112 section 3.2: no Host, or more than one.
  if (host === undefined ? fields.hostRequired : host.includes(',')) return MALFORMED;
  if (transferEncoding !== undefined) {
    // RFC 9112 section 6.1: 501 for a coding that is not understood.
    if (transferEncoding.toLowerCase() !== 'chunked') return { kind: 'refused', code: 'unsupported_transfer_encoding' };
    // Section 6.3: both together are used for request smuggling.
    return contentLength === undefined ? { kind: 'framed', declaredBytes: null } : MALFORMED;
  }
  if (contentLength === undefined) return NO_BODY;
  return /^\d{1,15}$/.test(contentLength) ? { kind: 'framed', declaredBytes: Number(contentLength) } : MALFORMED;
}
