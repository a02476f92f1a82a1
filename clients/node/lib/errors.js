// The errors of the library: PostriderError and its kinds.
'use strict';

class PostriderError extends Error {
  /**
   * @param {string} message
   * @param {{ code: string, status?: number | null, requestId?: string | null, index?: number | null,
   *   cause?: unknown }} details
   */
  constructor(message, { code, status = null, requestId = null, index = null, cause } = { code: 'unknown' }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.index = index;
  }
}

class AuthError extends PostriderError {}

class ScopeError extends PostriderError {}

class TenantNotActiveError extends PostriderError {}

class ValidationError extends PostriderError {
  constructor(message, { domain = null, check = null, ...details }) {
    super(message, details);
    this.domain = domain;
    this.check = check;
  }
}

class RateLimitError extends PostriderError {
  constructor(message, { retryAfter = null, ...details }) {
    super(message, details);
    this.retryAfter = retryAfter;
  }
}

class ServerError extends PostriderError {}

class NetworkError extends PostriderError {
  constructor(message, { timeout, cause }) {
    super(message, { code: timeout ? 'timeout' : 'network_error', cause });
    this.timeout = timeout;
  }
}

class WebhookVerificationError extends PostriderError {}

module.exports = {
  PostriderError,
  AuthError,
  ScopeError,
  TenantNotActiveError,
  ValidationError,
  RateLimitError,
  ServerError,
  NetworkError,
  WebhookVerificationError,
};
