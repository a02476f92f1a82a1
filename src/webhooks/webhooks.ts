// A tenant's webhooks: each is registered with its own signing secret, which is shown once. Leaves out the sending of
// events.

import { randomBytes } from 'node:crypto';
import { type Clock, DAY_MS } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { Vault } from '../base/vault.ts';
import { EVENT_CHOICES } from '../events/event-types.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import { type EventChoice, MAX_TARGET_CHARS, type Webhook } from '../store/webhooks.ts';
import { refuseTarget, type TargetPolicy } from './target.ts';

/** Standard Webhooks 1.0 requires 24 to 64 bytes; 32 are the output size of HMAC-SHA256. */
const SECRET_BYTES = 32;
/** Every event goes to every webhook, so each adds to the cost of a message; 50 are more than anyone needs. */
const MAX_WEBHOOKS_PER_TENANT = 50;
/** How long a replaced secret signs beside the new one: time to deploy the new one everywhere. */
export const SECRET_OVERLAP_MS = DAY_MS;

interface WebhooksOptions {
  store: Pick<Store, 'webhooks'>;
  vault: Vault;
  clock: Clock;
  ids: IdSource;
  /** Which addresses may be called. */
  policy: TargetPolicy;
  random?: (count: number) => Buffer;
  /** Called once the change of its URL or secret is on disk. */
  onChanged?(id: string): void;
  /** Called once the deletion is on disk. */
  onRemoved?(id: string): void;
}

/** The body as schema/api/register-webhook.json allows it. */
export interface RegisterWebhook {
  url: string;
  description?: string;
  /** Types and families; an empty list, too, is every event. */
  events?: readonly string[];
}

/** The body as schema/api/change-webhook.json allows it. */
export type ChangeWebhook = Partial<RegisterWebhook>;

interface RegisteredWebhook {
  webhook: Webhook;
  /** Shown only here. */
  secret: Buffer;
}

export interface Webhooks {
  register(tenantId: string, request: RegisterWebhook): Promise<RegisteredWebhook | Refusal>;
  /** What is left out stays as it is. */
  change(tenantId: string, id: string, request: ChangeWebhook): Promise<Webhook | Refusal>;
  /** Oldest first. */
  list(tenantId: string): Promise<Webhook[]>;
  get(tenantId: string, id: string): Promise<Webhook | Refusal>;
  /** Null on success. */
  remove(tenantId: string, id: string): Promise<Refusal | null>;
  /** A new secret; the previous one also signs for `SECRET_OVERLAP_MS`. */
  rotate(tenantId: string, id: string): Promise<{ secret: Buffer; previousUntil: number } | Refusal>;
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store } = options;
  return {
    register: (tenantId, request) => register(options, tenantId, request),
    change: (tenantId, id, request) => change(options, { tenantId, id }, request),
    list: (tenantId) => store.webhooks.listWebhooks(tenantId),
    get: async (tenantId, id) => (await store.webhooks.getWebhook(tenantId, id)) ?? webhookNotFound(),
    remove: (tenantId, id) => remove(options, tenantId, id),
    rotate: (tenantId, id) => rotate(options, tenantId, id),
  };
}

async function rotate(options: WebhooksOptions, tenantId: string, id: string): ReturnType<Webhooks['rotate']> {
  const rotated = await rotateSecret(options, tenantId, id);
  if (rotated === null) return webhookNotFound();
  options.onChanged?.(id.toLowerCase());
  return rotated;
}

async function remove({ store, onRemoved }: WebhooksOptions, tenantId: string, id: string): Promise<Refusal | null> {
  if (!(await store.webhooks.deleteWebhook(tenantId, id))) return webhookNotFound();
  onRemoved?.(id.toLowerCase());
  return null;
}

interface RotationKit extends Pick<WebhooksOptions, 'vault' | 'clock' | 'random'> {
  store: StoreVerbs<{ webhooks: 'rotateWebhookSecret' }>;
}

/** Null when the tenant has no such webhook. */
export async function rotateSecret(
  { store, vault, clock, random = randomBytes }: RotationKit,
  tenantId: string,
  webhookId: string,
): Promise<{ secret: Buffer; previousUntil: number } | null> {
  const id = webhookId.toLowerCase();
  const secret = random(SECRET_BYTES);
  const at = clock.now();
  const previousUntil = at + SECRET_OVERLAP_MS;
  const sealed = vault.seal(secret, webhookSecretContext(id));
  const rotated = await store.webhooks.rotateWebhookSecret(tenantId, id, { secret: sealed, at, previousUntil });
  return rotated ? { secret, previousUntil } : null;
}

async function register(
  options: WebhooksOptions,
  tenantId: string,
  request: RegisterWebhook,
): Promise<RegisteredWebhook | Refusal> {
  const { store, vault, clock, ids, policy, random = randomBytes } = options;
  const { url, description = null } = request;
  const tooLong = lengthProblem(url, description);
  if (tooLong !== null) return tooLong;
  const target = readTarget(url, policy);
  if (isRefusal(target)) return target;
  const described = description === null ? null : descriptionProblem(description);
  if (described) return described;
  const events = readEvents(request.events ?? []);
  if (isRefusal(events)) return events;
  const id = ids.next();
  const secret = random(SECRET_BYTES);
  const about = { url, target, description, createdAt: clock.now() };
  const webhook: Webhook = { id, tenantId, ...about, ...(events && { events }) };
  const sealed = vault.seal(secret, webhookSecretContext(id));
  const result = await store.webhooks.createWebhook({ ...webhook, secret: sealed }, MAX_WEBHOOKS_PER_TENANT);
  switch (result) {
    case 'created':
      return { webhook, secret };
    case 'exists':
      return exists();
    case 'too_many':
      return invalid(
        'url',
        `the account has reached the limit of ${MAX_WEBHOOKS_PER_TENANT} webhooks. Delete one first.`,
      );
  }
}

async function change(
  { store, policy, onChanged }: WebhooksOptions,
  of: { tenantId: string; id: string },
  { url, description, events: chosen }: ChangeWebhook,
): Promise<Webhook | Refusal> {
  const tooLong = lengthProblem(url ?? '', description ?? null);
  if (tooLong !== null) return tooLong;
  const target = url === undefined ? null : readTarget(url, policy);
  if (isRefusal(target)) return target;
  const described = description === undefined ? null : descriptionProblem(description);
  if (described) return described;
  const events = chosen === undefined ? undefined : readEvents(chosen);
  if (isRefusal(events)) return events;
  const result = await store.webhooks.changeWebhook(of.tenantId, of.id.toLowerCase(), {
    ...(url !== undefined && target !== null && { url: { url, target } }),
    ...(description !== undefined && { description }),
    ...(events !== undefined && { events }),
  });
  if (result === 'exists') return exists();
  if (result === null) return webhookNotFound();
  onChanged?.(result.id);
  return result;
}

/** In normal form. */
function readTarget(url: string, policy: TargetPolicy): string | Refusal {
  const read = readWebhookUrl(url);
  if ('problem' in read) return invalid('url', read.problem);
  const refused = refuseTarget(read.url, policy);
  if (refused !== null) return invalid('url', refused);
  const { href } = read.url;
  if (href.length <= MAX_TARGET_CHARS) return href;
  return invalid('url', `must have at most ${MAX_TARGET_CHARS} characters when percent-encoded, not ${href.length}.`);
}

function descriptionProblem(description: string): Refusal | null {
  if (description.isWellFormed()) return null;
  return invalid('description', 'must be valid Unicode; it contains a lone surrogate.');
}

/** Each once, in the order of the registry; null: every event. */
function readEvents(chosen: readonly string[]): EventChoice[] | null | Refusal {
  const known: readonly string[] = EVENT_CHOICES;
  const unknown = chosen.find((one) => !known.includes(one));
  if (unknown !== undefined) return invalid('events', `each must be one of ${EVENT_CHOICES.join(', ')}.`);
  return chosen.length === 0 ? null : EVENT_CHOICES.filter((one) => chosen.includes(one));
}

/** As in schema/api/register-webhook.json, for callers that do not come through the API. */
const MAX_URL_CHARS = 2048;
const MAX_DESCRIPTION_CHARS = 500;

function lengthProblem(url: string, description: string | null): Refusal | null {
  const isOver = (text: string, max: number) => text.length > max * 2 || (text.length > max && [...text].length > max);
  if (isOver(url, MAX_URL_CHARS)) return invalid('url', `must have at most ${MAX_URL_CHARS} characters.`);
  return isOver(description ?? '', MAX_DESCRIPTION_CHARS)
    ? invalid('description', `must have at most ${MAX_DESCRIPTION_CHARS} characters.`)
    : null;
}

/** Binds a sealed secret to its webhook; opening it needs the same context. */
export function webhookSecretContext(webhookId: string): string {
  return `webhook-secret:${webhookId}`;
}

function invalid(field: string, problem: string): Refusal {
  return refuse('validation_failed', `${field}: ${problem}`);
}

function exists(): Refusal {
  return refuse(
    'webhook_exists',
    "url: a webhook with this URL already exists. Its secret can't be shown again; if it is lost, POST /webhooks/{id}/rotate makes a new one and keeps the events that are waiting. Or delete the webhook and register it again.",
  );
}

export function webhookNotFound(): Refusal {
  return refuse('webhook_not_found', 'Webhook not found. GET /webhooks lists your webhooks.');
}

// What may be registered as the URL of a webhook: syntax only. The parser is that of the WHATWG URL standard, which is
// lenient; what it would silently repair is refused here, since the tenant and we might then not mean the same URL.

type ReadUrl = { url: URL } | { problem: string };

/** From the beginning to the end of the authority (RFC 3986 section 3.2). */
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;

function readWebhookUrl(text: string): ReadUrl {
  if (!text.isWellFormed()) return { problem: 'must be valid Unicode; it contains a lone surrogate.' };
  if (/[\s\u0000-\u0020\u007f\\]/.test(text)) {
    return { problem: 'must not contain white space, control characters or backslashes.' };
  }
  const authority = AUTHORITY.exec(text)?.[1];
  const url = authority === undefined ? null : URL.parse(text);
  if (!url) return { problem: 'must be a full http:// or https:// URL, like https://example.com/hook.' };
  if (authority?.includes('@')) {
    return { problem: 'must not contain credentials. Verify the signature of each delivery instead.' };
  }
  if (text.includes('#')) return { problem: 'must not have a fragment (#…): fragments are never sent.' };
  if (url.port === '0') return { problem: 'must not use port 0: no server can listen there.' };
  return { url };
}
