// The errors: PostriderError and its kinds.

import type { DomainCheck } from './domains.js';

export declare class PostriderError extends Error {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** The `error` of the answer, or what happened here: `timeout`, `network_error`, `missing_api_key`, … */
  readonly code: string;
  readonly requestId: string | null;
  /** Which email of a batch is meant, from 0; else null. */
  readonly index: number | null;
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
