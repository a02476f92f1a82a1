// Turns a handler's reply into what is sent, and rejects unsafe replies: with CR or LF, a header value could contain
// the rest of the response.
import { STATUS_CODES } from 'node:http';
import { Fault } from '../base/errors.ts';
import { KERNEL_ANSWERS, type KernelAnswerCode } from './engines/engine-limits.ts';
import type { HttpReply } from './http.ts';

export interface WireReply {
  status: number;
  reason: string;
  headers: [name: string, value: string][];
  /** Null when the response must have none (HEAD, 204, 304). */
  body: Buffer | null;
  /** The Content-Length to send; null for none. */
  length: number | null;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 section 5.5, without obs-text, which the two engines would encode differently. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'trailer', 'upgrade']);
/** Headers of every API response: their names need no check. */
const CHECKED_NAMES = new Set([
  ...['Content-Type', 'X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  'Strict-Transport-Security',
]);
const NO_BODY = Buffer.alloc(0);

export function toWire(reply: HttpReply, method: string): WireReply {
  const { status } = reply;
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new Fault(`no status for a reply: ${status}`);
  const bodiless = status === 204 || status === 304;
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : (reply.body ?? NO_BODY);
  return {
    status,
    reason: STATUS_CODES[status] ?? 'Unknown',
    headers: checkedHeaders(reply.headers ?? {}),
    body: bodiless || method === 'HEAD' ? null : body,
    // RFC 9110 section 8.6: not in a 204; for HEAD, the length that GET would have.
    length: bodiless ? null : body.length,
  };
}

function checkedHeaders(headers: NonNullable<HttpReply['headers']>): WireReply['headers'] {
  const lines: WireReply['headers'] = [];
  for (const name in headers) {
    if (!CHECKED_NAMES.has(name)) requireValidName(name);
    const value = headers[name];
    if (value === undefined) continue;
    for (const line of typeof value === 'string' ? [value] : value) {
      if (!FIELD_VALUE.test(line)) throw new Fault(`the reply header ${name} has a character that no header may have`);
      lines.push([name, line]);
    }
  }
  return lines;
}

function requireValidName(name: string): void {
  if (!TOKEN.test(name)) throw new Fault('a reply header has a malformed name');
  if (FRAMING.has(name.toLowerCase())) throw new Fault(`the reply header ${name} is for the kernel to set`);
}

export function kernelReply(code: KernelAnswerCode): HttpReply {
  const { status, message } = KERNEL_ANSWERS[code];
  return {
    status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: code, message }),
  };
}
