// What an answer of the service means: a value, or one of the errors.
'use strict';

const { STATUS_CODES } = require('node:http');
const errors = require('./errors.js');
const { toCamelCase } = require('./names.js');

/**
 * @typedef {{ status: number, headers: Headers, text: string }} Answer
 */

/** The JSON object of the body, or null. */
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The value of a good answer. Throws when there is none in it. */
function resultOf({ status, headers, text }) {
  if (status === 204) return null;
  const value = objectOf(text);
  if (value !== null) return value;
  const message = `The service answered ${status} with a body that is no JSON object; is baseUrl the address of Postrider?`;
  throw new errors.PostriderError(message, { status, code: `http_${status}`, requestId: headers.get('x-request-id') });
}

/** Of an answer that is not 2xx. */
function errorOf(answer) {
  const { status, headers, text } = answer;
  const body = objectOf(text) ?? {};
  const code = typeof body.error === 'string' && body.error !== '' ? body.error : `http_${status}`;
  const message = typeof body.message === 'string' && body.message !== '' ? body.message : unexplained(status);
  const index = Number.isInteger(body.index) ? body.index : null;
  const details = { status, code, requestId: headers.get('x-request-id'), index };
  if (status === 401) return new errors.AuthError(message, details);
  if (status === 403 && code === 'scope_required') return new errors.ScopeError(message, details);
  if (status === 403 && code === 'tenant_not_active') return new errors.TenantNotActiveError(message, details);
  if (status === 429) return new errors.RateLimitError(message, { ...details, retryAfter: retryAfterOf(answer) });
  if (status >= 400 && status < 500) {
    return new errors.ValidationError(message, { ...details, domain: body.domain, check: toCamelCase(body.check) });
  }
  if (status >= 500) return new errors.ServerError(message, details);
  return new errors.PostriderError(message, details);
}

function unexplained(status) {
  const name = STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : '';
  if (status >= 300 && status < 400) {
    return `The service answered ${status}${name}; redirects are not followed. Set baseUrl to where it leads.`;
  }
  return `The service answered ${status}${name} without an explanation.`;
}

/** 31 years: nobody waits for more, and no timer can. */
const MAX_SECONDS = 999_999_999;

/** In seconds; null when the answer does not say. */
function retryAfterOf({ headers, text }) {
  const header = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const seconds = objectOf(text)?.retry_after_secs;
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_SECONDS ? seconds : null;
}

module.exports = { objectOf, resultOf, errorOf };
