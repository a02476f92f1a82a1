// The types of the package. Times are strings, as the API writes them (RFC 3339 in UTC).

export declare const VERSION: string;

export interface PostriderOptions {
  /** Otherwise the environment variable POSTRIDER_API_KEY. */
  apiKey?: string | undefined;
  /** Otherwise the environment variable POSTRIDER_BASE_URL. */
  baseUrl?: string | undefined;
  /** After network failures, 429 and 5xx: 3 unless given, 0 for none. */
  maxRetries?: number | undefined;
  /** For each attempt: 30,000 unless given. */
  timeoutMs?: number | undefined;
}

export declare class Postrider {
  constructor(options?: PostriderOptions);
  readonly emails: Emails;
  readonly domains: Domains;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly events: Events;
  /** Whether the service reaches its database; a 503 that says it does not is an answer, no error. */
  health(): Promise<Health>;
}

export interface Emails {
  /** One message to each recipient. Attempts that are repeated never send twice. */
  send(message: Message): Promise<SendResult>;
  /** What became of a message, by one of `messageIds`. */
  get(id: string): Promise<Email>;
}

export interface Domains {
  /** The answer's `records` are to be published in DNS. */
  create(domain: { domain: string; selector?: string | undefined }): Promise<Domain>;
  list(): Promise<Domain[]>;
  get(id: string): Promise<Domain>;
  /** Looks at the DNS records now; a ValidationError says what is wrong with them. */
  verify(id: string): Promise<VerifiedDomain>;
  /** Revokes it: nothing is sent from it any more. */
  delete(id: string): Promise<Domain>;
}

export interface Webhooks {
  /** The answer's `secret` is shown only here. */
  create(webhook: { url: string; description?: string | undefined }): Promise<WebhookWithSecret>;
  list(): Promise<Webhook[]>;
  get(id: string): Promise<Webhook>;
  delete(id: string): Promise<void>;
}

export interface Templates {
  create(template: TemplateContent): Promise<Template>;
  /** Replaces all of it: what is not given is gone. */
  update(id: string, template: TemplateContent): Promise<Template>;
  delete(id: string): Promise<void>;
  list(): Promise<Template[]>;
  get(id: string): Promise<Template>;
}

export interface Events {
  /** In their order, after the one with the id `after`; `limit` is 1 to 1,000, 100 unless given. */
  list(page?: { after?: string | undefined; limit?: number | undefined }): Promise<EventPage>;
}

export interface Message {
  /** `addr@domain` or `Name <addr@domain>`, of a verified domain. */
  from: string;
  /** Up to 50; each gets a message of their own. */
  to: string | string[];
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** In place of `html` and `text`. */
  templateId?: string | undefined;
  /** The values for the template. */
  data?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Up to 200 printable ASCII characters; made when there is none. */
  idempotencyKey?: string | undefined;
}

export type RejectionReason = 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual';

export interface SendResult {
  id: string;
  /** One per queued message, in the order of `to`. */
  messageIds: string[];
  rejected: { to: string; reason: RejectionReason }[];
  /** The answer to an earlier call with the same idempotency key. */
  replayed: boolean;
}

export type MessageState = 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'failed';

export interface Email {
  id: string;
  submissionId: string;
  state: MessageState;
  from: string;
  to: string;
  subject: string;
  createdAt: string;
  events: Event[];
}

export type DomainState = 'pending' | 'verified' | 'failed' | 'revoked';

export interface Domain {
  id: string;
  domain: string;
  state: DomainState;
  dkimSelector: string;
  dkimPublicKeyB64: string;
  failureReason: string | null;
  createdAt: string;
  verifiedAt: string | null;
  lastCheckedAt: string | null;
  records: DnsRecord[];
}

export interface VerifiedDomain extends Domain {
  checks: DomainCheck[];
}

export interface DnsRecord {
  name: string;
  type: string;
  value: string;
  required: boolean;
  purpose: string;
}

export interface DomainCheck {
  record: 'dkim' | 'spf' | 'dmarc';
  name: string;
  type: string;
  required: boolean;
  ok: boolean;
  expected: string;
  found: string[];
  reason: 'not_found' | 'mismatch' | 'invalid_record' | 'multiple_records' | 'dns_unavailable' | null;
}

export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  createdAt: string;
}

export interface WebhookWithSecret extends Webhook {
  secret: string;
}

export interface TemplateContent {
  name: string;
  /** Liquid; at least one of `html` and `text`. */
  html?: string | undefined;
  text?: string | undefined;
}

export interface Template {
  id: string;
  name: string;
  html: string | null;
  text: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Health {
  status: 'ok' | 'db_unreachable';
}

export interface EventPage {
  events: Event[];
  /** Ask again after the id of the last one. */
  hasMore: boolean;
}

/** One recipient's one fact. `switch (event.type)` tells which part its `data` has. */
export type Event =
  | EventOf<'email.delivered', 'delivery', { delivery: Delivery }>
  | EventOf<'email.deferred', 'delivery', { delivery: Delivery }>
  | EventOf<'email.bounced', 'bounce', { bounce: Bounce }>
  | EventOf<'email.failed', 'bounce', { bounce: Bounce }>
  | EventOf<'email.complained', 'complaint', { complaint: Complaint }>
  | EventOf<'email.opened', 'open', { open: Open }>
  | EventOf<'email.clicked', 'open', { click: Click }>;

export interface EventOf<Type extends string, Family extends string, Part> {
  id: string;
  type: Type;
  family: Family;
  timestamp: string;
  data: EventData & Part;
}

export interface EventData {
  messageId: string;
  submissionId: string;
  from: string;
  to: string;
  subject: string;
  domain: string;
}

export interface Delivery {
  mx: string | null;
  remoteIp: string | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string | null;
  tls: { version: string; cipher: string; verified: boolean; policy: string } | null;
  attempt: number;
  elapsedMs: number | null;
  nextAttemptAt?: string | null;
}

export interface Bounce {
  type: 'hard' | 'soft' | 'block';
  source: 'smtp' | 'dsn';
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  mx: string | null;
  reportingMta: string | null;
  attempt: number | null;
  suppressed: boolean;
}

export interface Complaint {
  feedbackType: string | null;
  source: string | null;
  userAgent: string | null;
  arrivalDate: string | null;
  reportedDomain: string | null;
  suppressed: boolean;
}

export interface Open {
  first: boolean;
  ip: string | null;
  userAgent: string | null;
  machine: boolean;
  machineReason: string | null;
}

export interface Click extends Open {
  url: string;
  linkIndex: number;
}

/** As servers of Node have them, a Fetch `Headers`, a `Map`. Names in any case. */
export type WebhookHeaders = Record<string, string | string[] | undefined> | { entries(): Iterable<[string, string]> };

/**
 * The event, when its signature and its time are right; throws a WebhookVerificationError otherwise.
 * `payload` is the body as it was received, before any JSON parser.
 */
export declare function verifyWebhook(
  payload: string | ArrayBufferView | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string,
  options?: { toleranceSeconds?: number | undefined },
): Event;

export declare class PostriderError extends Error {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** The `error` of the answer, or what happened here: `timeout`, `network_error`, `missing_api_key`, … */
  readonly code: string;
  readonly requestId: string | null;
}

/** 401. */
export declare class AuthError extends PostriderError {}

/** 403 `scope_required`. */
export declare class ScopeError extends PostriderError {}

/** 403 `tenant_not_active`. */
export declare class TenantNotActiveError extends PostriderError {}

/** Any other 4xx. */
export declare class ValidationError extends PostriderError {
  /** Of 422 `verification_failed`. */
  readonly domain: string | null;
  readonly check: DomainCheck | null;
}

/** 429, after the retries. */
export declare class RateLimitError extends PostriderError {
  /** Seconds; null when the answer does not say. */
  readonly retryAfter: number | null;
}

/** 5xx, after the retries. */
export declare class ServerError extends PostriderError {}

/** No complete answer. */
export declare class NetworkError extends PostriderError {
  readonly timeout: boolean;
}

/** A webhook that is not to be believed; `code` says why. */
export declare class WebhookVerificationError extends PostriderError {}
