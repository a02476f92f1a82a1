// The request of an attempt: built when it is sent, and built again to show it. Only the signature needs
// the secret.

import { createHmac } from 'node:crypto';
import { SECOND_MS } from '../base/clock.ts';
import type { EventBody } from '../events/event-body.ts';

export interface SentRequest {
  headers: Record<string, string>;
  body: string;
}

/** Headers of every call, whatever it delivers. */
export const CALL_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Postrider' } as const;

export function signedRequest(event: EventBody, startedAt: number, keys: readonly Buffer[]): SentRequest {
  const body = JSON.stringify(event);
  const timestampS = Math.floor(startedAt / SECOND_MS);
  return { headers: signedHeaders({ id: event.id, timestampS, body }, keys), body };
}

/** As it was sent at that time; the signature is not stored. */
export function shownRequest(event: EventBody, startedAt: number): SentRequest {
  const { headers, body } = signedRequest(event, startedAt, []);
  return { headers: { ...CALL_HEADERS, ...headers, 'webhook-signature': 'v1,… (not kept)' }, body };
}

// The headers that sign a delivery: Standard Webhooks 1.0, symmetric scheme (v1). With several keys there are several
// signatures, so that a secret can be replaced without a gap.

interface ToSign {
  /** The event's ID: the same for all attempts and replays. */
  id: string;
  /** Whole seconds since 1970, of this attempt. */
  timestampS: number;
  /** Exactly as it is sent. */
  body: string;
}

export function signedHeaders({ id, timestampS, body }: ToSign, keys: readonly Buffer[]): Record<string, string> {
  const signatures = keys.map((key) => `v1,${signature(`${id}.${timestampS}.${body}`, key)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  };
}

function signature(content: string, key: Buffer): string {
  return createHmac('sha256', key).update(content).digest('base64');
}
