// Who calls: the bearer token of the Authorization header (RFC 6750 section 2.1), and the key
// and tenant behind it.
import { type Refusal, refuse } from '../base/refusals.ts';
import { trimFieldValue } from '../http/field-value.ts';
import type { ApiKey, Scope, Tenant } from '../store/tenants.ts';
import { type KeyLookups, verifyApiKey } from '../tenants/api-keys.ts';
import { whyInactive } from '../tenants/why-inactive.ts';

export interface Caller {
  key: ApiKey;
  tenant: Tenant;
}

// The scheme is compared without case (RFC 9110 section 11.1). Whatever stands behind it is a
// token: whether it is one of ours is for the next check to say.
const BEARER = /^bearer[ \t]+(\S.*)$/i;

export function readBearerToken(authorization: string | undefined): string | Refusal {
  const token = BEARER.exec(trimFieldValue(authorization ?? ''))?.[1];
  if (token !== undefined) return token;
  return refuse('missing_or_malformed_authorization', 'Send the header "Authorization: Bearer <API key>".');
}

export async function findCaller(token: string, store: KeyLookups): Promise<Caller | Refusal> {
  const caller = await verifyApiKey(token, store);
  return (
    caller ??
    refuse('invalid_api_key', 'The API key is unknown or revoked. Use another key or create one in the portal.')
  );
}

export function refuseInactive(tenant: Tenant): Refusal | null {
  const why = whyInactive(tenant);
  return why === null ? null : refuse('tenant_not_active', why);
}

export function refuseScope(key: ApiKey, scope: Scope | null): Refusal | null {
  if (scope === null || key.scopes.includes(scope)) return null;
  return refuse('scope_required', `This call requires an API key with the scope ${scope}.`);
}
