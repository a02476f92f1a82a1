// Who sends: the API key of the call, and the domain that it may be bound to.
import { type Refusal, refuse } from '../base/refusals.ts';
import type { ApiKey } from '../store/tenants.ts';

export type Sender = Pick<ApiKey, 'id' | 'tenantId' | 'boundDomain'>;

/** For mail that no key sends: the service's own, and what people write in the portal. */
export const NO_KEY = '00000000-0000-0000-0000-000000000000';

export function notAllowed(boundDomain: string): Refusal {
  return refuse('domain_not_allowed', `from: this key can only send from ${boundDomain}.`);
}
