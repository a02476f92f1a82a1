// API keys: `pr_<public id>_<secret>`. The public ID finds the key without a scan and may be shown; of the secret only
// the SHA-256 is stored. A slow hash would add nothing: the secret is 256 random bits, not a chosen password.

import { hash, randomBytes } from 'node:crypto';
import { parseDomain } from '../protocol/mail/addresses/domain.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type ApiKey, SCOPES, type Scope, type Tenant } from '../store/tenants.ts';
import { type RandomBytes, randomText } from './random-text.ts';
import { nameProblem, type Refused, refused } from './refused.ts';
import { noSuchTenant, type TenantServices } from './tenant-service.ts';

const PREFIX = 'pr';
const PUBLIC_ID_CHARS = 12;
// 43 characters of an alphabet of 62 are 256 bits.
const SECRET_CHARS = 43;
const TOKEN_SHAPE = new RegExp(`^${PREFIX}_([0-9A-Za-z]{${PUBLIC_ID_CHARS}})_([0-9A-Za-z]{${SECRET_CHARS}})$`);

export interface ParsedApiKey {
  publicId: string;
  secret: string;
}

/** Null for anything that does not have the shape of our keys. */
export function parseApiKey(token: string): ParsedApiKey | null {
  const match = TOKEN_SHAPE.exec(token);
  return match ? { publicId: match[1]!, secret: match[2]! } : null;
}

export function formatApiKey(key: ParsedApiKey): string {
  return `${PREFIX}_${key.publicId}_${key.secret}`;
}

/** The part of a key that may be shown and logged. */
export function publicPart(publicId: string): string {
  return `${PREFIX}_${publicId}`;
}

/** The public ID in a whole key or in its public part, or null. */
export function readPublicId(text: string): string | null {
  const parsed = parseApiKey(text);
  if (parsed) return parsed.publicId;
  const [prefix, publicId, ...rest] = text.split('_');
  const isPublicPart = prefix === PREFIX && publicId?.length === PUBLIC_ID_CHARS && rest.length === 0;
  return isPublicPart ? publicId : null;
}

function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The look-up that verifying a token needs. */
export type KeyLookups = StoreVerbs<{ keys: 'findApiKeyBySecret' }>;

/** The live key for the token, with its tenant. */
export async function verifyApiKey(token: string, store: KeyLookups): Promise<{ key: ApiKey; tenant: Tenant } | null> {
  const parsed = parseApiKey(token);
  if (!parsed) return null;
  const found = await store.keys.findApiKeyBySecret(parsed.publicId, hashSecret(parsed.secret));
  return found?.key.revokedAt === null ? found : null;
}

export interface NewApiKey {
  tenantId: string;
  name: string;
  scopes: readonly string[];
  boundDomain?: string | null;
  /** The maximum of live keys per tenant (`limits.keys_per_tenant`). */
  maxLive: number;
}

export interface CreatedApiKey {
  kind: 'created';
  key: ApiKey;
  /** The whole key: shown once, never stored. */
  token: string;
}

export interface KeyMaking extends Pick<TenantServices, 'clock' | 'ids'> {
  store: StoreVerbs<{ tenants: 'getTenant'; keys: 'createApiKey' }>;
}

export async function createApiKey(
  services: KeyMaking,
  request: NewApiKey,
  random: RandomBytes = randomBytes,
): Promise<CreatedApiKey | Refused> {
  const problem = nameProblem(request.name);
  if (problem) return refused('name', problem);
  const scopes = readScopes(request.scopes);
  if ('kind' in scopes) return scopes;
  const domain = request.boundDomain ? parseBoundDomain(request.boundDomain) : null;
  if (domain?.ok === false) return refused('domain', domain.reason);
  if (!(await services.store.tenants.getTenant(request.tenantId))) return noSuchTenant(request.tenantId);

  const publicId = randomText(PUBLIC_ID_CHARS, random);
  const secret = randomText(SECRET_CHARS, random);
  const key: ApiKey = {
    id: services.ids.next(),
    tenantId: request.tenantId,
    publicId,
    name: request.name.trim(),
    scopes,
    boundDomain: domain?.domain ?? null,
    secretHash: hashSecret(secret),
    createdAt: services.clock.now(),
    revokedAt: null,
  };
  const result = await services.store.keys.createApiKey(key, request.maxLive);
  if (result === 'too_many') {
    return refused(null, `the tenant already has ${request.maxLive} keys: revoke one that is no longer used`);
  }
  return { kind: 'created', key, token: formatApiKey({ publicId, secret }) };
}

/** Each scope once, in the order of the registry. */
function readScopes(given: readonly string[]): Scope[] | Refused {
  const unknown = given.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (unknown !== undefined) return refused('scopes', `"${unknown}" is not a scope; use ${SCOPES.join(', ')}`);
  return SCOPES.filter((scope) => given.includes(scope));
}

export type BoundDomainResult = { ok: true; domain: string } | { ok: false; reason: string };

/** In the form in which sending domains are stored: lower case, A-labels, no trailing dot, at least two labels. */
export function parseBoundDomain(text: string): BoundDomainResult {
  const parsed = parseDomain(text.replace(/\.$/, ''));
  if (!parsed.ok) return parsed;
  if (parsed.isLiteral || !parsed.asciiDomain.includes('.')) {
    return { ok: false, reason: 'The domain needs at least two labels, like example.com.' };
  }
  return { ok: true, domain: parsed.asciiDomain };
}
