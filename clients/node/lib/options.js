// The options of a client: what was given, else the environment, checked.
'use strict';

const { PostriderError } = require('./errors.js');

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest that a timer of Node can wait. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function readOptions({ apiKey, baseUrl, maxRetries = DEFAULT_RETRIES, timeoutMs = DEFAULT_TIMEOUT_MS } = {}, env) {
  if (!Number.isInteger(maxRetries) || maxRetries < 0) throw invalid('maxRetries is a whole number from 0 on.');
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) throw invalid('timeoutMs is a number of milliseconds above 0.');
  return {
    apiKey: readKey(apiKey ?? env.POSTRIDER_API_KEY),
    baseUrl: readBaseUrl(baseUrl ?? env.POSTRIDER_BASE_URL),
    maxRetries,
    timeoutMs: Math.min(timeoutMs, LONGEST_TIMER_MS),
  };
}

function readKey(given) {
  if (typeof given !== 'string' || given.trim() === '') {
    throw new PostriderError('There is no API key: pass apiKey, or set POSTRIDER_API_KEY.', {
      code: 'missing_api_key',
    });
  }
  const key = given.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalid('The API key has characters that no key has; copy it once more.');
  return key;
}

function readBaseUrl(given) {
  if (typeof given !== 'string' || given.trim() === '') {
    const message = 'There is no address of the service: pass baseUrl, or set POSTRIDER_BASE_URL.';
    throw new PostriderError(message, { code: 'missing_base_url' });
  }
  const address = given.trim();
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid('baseUrl is an absolute URL that begins with https:// or http://.');
  }
  if (url.username !== '' || url.password !== '' || address.includes('?') || address.includes('#')) {
    throw invalid('baseUrl has no user name, no query and no fragment.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function invalid(message) {
  return new PostriderError(message, { code: 'invalid_option' });
}

module.exports = { readOptions, LONGEST_TIMER_MS };
