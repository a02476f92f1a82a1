// The rows of the interface specification's tables and rules, in its order and with its section
// numbers, and the rulings of the contract that goes with it. Each row is a case somewhere in
// this folder: the types see to it that none is left out.
import type { Test } from 'tap';
import type { Stage } from './stage.ts';

export type Case = (t: Test, stage: Stage) => Promise<void>;

/** One case for each row, no more and no less. */
export type Cases<Rows extends readonly string[]> = Readonly<Record<Rows[number], Case>>;

export interface Table {
  title: string;
  /** Its cases wait, and none of them touches another: they run at the same time. */
  atOnce?: boolean;
  cases: Readonly<Record<string, Case>>;
}

export const SEND_REQUEST = ['from', 'to', 'subject', 'html', 'text', 'template_id', 'data', 'headers'] as const;
export const SEND_REQUEST_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key'] as const;
export const SEND_RESPONSE = ['id', 'message_ids', 'rejected', 'replayed'] as const;
export const REJECTION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;
export const DOMAIN_RECORD = [
  'id',
  'domain',
  'state',
  'dkim_selector',
  'dkim_public_key_b64',
  'created_at',
  'records',
] as const;
export const DNS_RECORD = ['name', 'type', 'value', 'required', 'purpose'] as const;
export const RECORDS_TO_PUBLISH = ['DKIM', 'SPF', 'DMARC'] as const;
export const WEBHOOK_RECORD = ['id', 'url', 'description', 'created_at', 'secret'] as const;
export const TEMPLATE_RECORD = ['id', 'name', 'html', 'text', 'created_at', 'updated_at'] as const;
export const HEALTH_RESPONSE = ['ok', 'db_unreachable'] as const;

export const DOMAIN_TRANSITIONS = [
  '(none), POST /domains: pending',
  'pending, verify, check passes: verified',
  'pending, verify, check fails: failed',
  'failed, verify, check passes: verified',
  'failed, verify, check fails: failed',
  'verified, verify: verified or failed',
  'pending, verified or failed, DELETE: revoked',
] as const;

export const ENDPOINTS = [
  'POST /emails',
  'POST /domains',
  'GET /domains',
  'GET /domains/{id}',
  'POST /domains/{id}/verify',
  'DELETE /domains/{id}',
  'POST /webhooks',
  'GET /webhooks',
  'GET /webhooks/{id}',
  'DELETE /webhooks/{id}',
  'POST /templates',
  'PUT /templates/{id}',
  'DELETE /templates/{id}',
  'GET /healthz',
] as const;

export const ENDPOINT_RULES = [
  '1 default selector',
  '2 suppressed recipients',
  '3 replay',
  '4 verification asks authoritative DNS',
  '5 a deleted webhook is gone',
  '6 health',
  '7 keys bound to a domain',
] as const;

export const AUTHENTICATION = [
  '1 bearer token',
  '2 scoped keys',
  '3 scopes of endpoints',
  '4 reading needs a valid key only',
  '5 a key may be bound to a domain',
  '6 missing, malformed or revoked token',
  '7 lacking scope',
  '8 tenant that is not active',
  '9 health without a key',
] as const;

export const SCOPES_OF_ENDPOINTS = [
  'emails:send',
  'domains:write',
  'webhooks:write',
  'templates:write',
  'suppressions:write',
] as const;

export const LIMITS = ['Request body size', 'Recipients in to', 'Idempotency-Key length', 'Rate limit'] as const;
export const LIMIT_RULES = ['1 idempotency', '2 Retry-After', '3 unit of the tiers'] as const;

/** What the contract adds to the specification's endpoints. */
export const CONTRACT_ENDPOINTS = [
  'GET /templates',
  'GET /templates/{id}',
  'GET /events',
  'POST /emails/batch',
  'GET /emails/{id}',
  'GET /emails',
  'GET /submissions/{id}',
  'POST /emails with send_at',
  'PATCH /submissions/{id}',
  'POST /submissions/{id}/cancel',
] as const;

/** What the contract has beyond the specification, to manage an account by API. */
export const MANAGING_ENDPOINTS = [
  'GET /suppressions',
  'POST /suppressions',
  'POST /suppressions/import',
  'DELETE /suppressions/{address}',
  'POST /webhooks with events',
  'PATCH /webhooks/{id}',
  'POST /webhooks/{id}/rotate',
  'POST /webhooks/{id}/test',
  'GET /webhooks/{id}/deliveries',
  'POST /webhooks/{id}/deliveries/{event_id}/replay',
  'POST /templates with a subject',
  'POST /emails with the subject of its template',
  'GET /stats',
] as const;

/** What the contract decides where the specification is silent, as far as no table above shows it. */
export const HTTP_RULINGS = [
  'HEAD answers as GET without a body',
  'each answer has a request id of its own',
  'no answer repeats a secret',
  'at most 50 live keys per tenant',
  'ids of any version and case',
  'request headers up to 16 KiB',
  'null counts as absent',
  'unknown fields are named',
] as const;

export const SENDING_RULINGS = [
  'the address is what the last <…> holds',
  'domains are compared in lower-case ASCII',
  'lengths of addresses',
  'literals and one-label domains are refused by policy',
  "a tenant's own List-Unsubscribe pair",
  'a template that fails to render',
  'what was rendered is what is sent',
  'data without a template may be anything',
] as const;

export const DOMAIN_RULINGS = [
  'the reasons of a failed check',
  'a verified domain survives a silent DNS',
  'white space in p= does not matter',
  'a bound key may not touch other domains',
] as const;

export const TEMPLATE_RULINGS = [
  'no file access',
  'no prototypes, no globals',
  'an endless loop ends',
  'huge output is refused',
  'deep recursion is refused',
] as const;
