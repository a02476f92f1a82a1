// The request of an attempt: made when it is sent, and made again when somebody wants to see it. Of
// the headers only the signature needs the secret.
import { SECOND_MS } from '../base/clock.ts';
import type { EventBody } from '../events/event-body.ts';
import { signedHeaders } from './signature.ts';

export interface SentRequest {
  headers: Record<string, string>;
  body: string;
}

/** What every call has, whatever it delivers. */
export const CALL_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Postrider' } as const;

export function signedRequest(event: EventBody, startedAt: number, keys: readonly Buffer[]): SentRequest {
  const body = JSON.stringify(event);
  const timestampS = Math.floor(startedAt / SECOND_MS);
  return { headers: signedHeaders({ id: event.id, timestampS, body }, keys), body };
}

/** As it was sent at that time; the signature is not kept. */
export function shownRequest(event: EventBody, startedAt: number): SentRequest {
  const { headers, body } = signedRequest(event, startedAt, []);
  return { headers: { ...CALL_HEADERS, ...headers, 'webhook-signature': 'v1,… (not kept)' }, body };
}
