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

export type RefusalWriter = (refusal: Refusal, headers: ReplyHeaders) => HttpReply;

/** The body is exactly `{error, message}` and the extra fields that the code is specified to have. */
export const refusalReply: RefusalWriter = (refusal, headers) => {
  const { refused, message, extra } = refusal;
  const answer = { status: REFUSALS[refused].status, body: { error: refused, message, ...extra } };
  return refusedReply(answer, refusal, headers);
};

/** A refusal in any shape, with the headers that all of them have. */
export function refusedReply(answer: Answer, { retryAfterSecs }: Refusal, headers: ReplyHeaders): HttpReply {
  // RFC 9110 section 15.5.2: a 401 names the scheme that it wants.
  const challenge: ReplyHeaders = answer.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const pause: ReplyHeaders = retryAfterSecs === undefined ? {} : { 'Retry-After': String(retryAfterSecs) };
  return toReply(answer, { ...challenge, ...pause, ...headers });
}
