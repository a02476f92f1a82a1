// What an API call is answered with: a body or a refusal as a value, and the one place that
// turns either into HTTP. Every answer has the same content type and an X-Request-Id.
import { REFUSALS, type Refusal } from '../base/refusals.ts';
import type { HttpReply } from '../http/http.ts';

export interface Answer {
  status: number;
  /** Undefined for an answer without one (204). */
  body?: unknown;
}

export type ReplyHeaders = Readonly<Record<string, string>>;

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function toReply(answer: Answer, headers: ReplyHeaders): HttpReply {
  if (answer.body === undefined) return { status: answer.status, headers };
  return {
    status: answer.status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(answer.body),
  };
}

/** The body is exactly `{error, message}` and the extra fields that the code is specified to have. */
export function refusalReply({ refused, message, extra, retryAfterSecs }: Refusal, headers: ReplyHeaders): HttpReply {
  const { status } = REFUSALS[refused];
  // RFC 9110 section 15.5.2: a 401 names the scheme that it wants.
  const challenge: ReplyHeaders = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const pause: ReplyHeaders = retryAfterSecs === undefined ? {} : { 'Retry-After': String(retryAfterSecs) };
  return toReply({ status, body: { error: refused, message, ...extra } }, { ...challenge, ...pause, ...headers });
}
