// The headers that sign a delivery: Standard Webhooks 1.0, symmetric scheme (v1). With several keys
// there are several signatures, so that a secret can be replaced without a gap.
import { createHmac } from 'node:crypto';

export interface ToSign {
  /** The event's id: the same over all attempts and replays. */
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
