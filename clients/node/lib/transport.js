// One call: its attempts over HTTP, the time that each may take, and the waits between them.
'use strict';

const { PostriderError, RateLimitError, ServerError, NetworkError } = require('./errors.js');
const { errorOf, objectOf, resultOf } = require('./answer.js');
const { LONGEST_TIMER_MS } = require('./options.js');
const { VERSION } = require('./version.js');

const WAITS_MS = [250, 1000, 4000];
/** At most this part of a wait is added, so that clients which failed together do not come back together. */
const JITTER = 0.2;

/** Of fetch itself, which gives a connection 10 s, and the head and each part of the body 300 s; and of the system. */
const LIMITS_OF_FETCH = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'];

class Transport {
  #options;

  constructor(options) {
    this.#options = options;
  }

  /**
   * @param {{ method: string, path: string, query?: Record<string, string | number | null | undefined>, body?: object,
   *   idempotencyKey?: string, health?: boolean, mayBeRepeated?: boolean }} call
   * `mayBeRepeated: false` is for a call that does harm when it is made twice: only a 429, after which nothing was done,
   * is followed by another attempt.
   */
  async call({ method, path, query = {}, body, idempotencyKey, health = false, mayBeRepeated = true }) {
    const url = this.#options.baseUrl + path + queryText(query);
    const headers = { accept: 'application/json', 'user-agent': `postrider-node/${VERSION}` };
    if (!health) headers.authorization = `Bearer ${this.#options.apiKey}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    // Made once: every attempt sends the same bytes.
    const request = { method, headers, body: body && jsonText(body), redirect: 'manual' };
    for (let retry = 1; ; retry++) {
      try {
        return await this.#attempt(url, request, health);
      } catch (error) {
        if (retry > this.#options.maxRetries || !mayBeTriedAgain(error, mayBeRepeated)) throw error;
        await pause(waitBefore(retry, error));
      }
    }
  }

  async #attempt(url, request, health) {
    const answer = await this.#exchange(url, request);
    if (answer.status >= 200 && answer.status < 300) return resultOf(answer);
    const said = health && answer.status === 503 ? objectOf(answer.text) : null;
    if (said?.status === 'db_unreachable') return said;
    throw errorOf(answer);
  }

  /** The answer with its whole body, or a NetworkError. */
  async #exchange(url, request) {
    const { timeoutMs } = this.#options;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      const response = await fetch(url, { ...request, signal: controller.signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      if (controller.signal.aborted) {
        throw new NetworkError(`The service did not answer within ${timeoutMs} ms.`, { timeout: true });
      }
      const reason = error.cause?.code ?? error.cause?.message ?? error.message;
      const timeout = LIMITS_OF_FETCH.includes(reason);
      throw new NetworkError(`The service could not be reached: ${reason}.`, { timeout, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A circular object or a BigInt is none, and no attempt would make it one. */
function jsonText(body) {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new PostriderError(`The request cannot be written as JSON: ${cause.message.split('\n')[0]}.`, {
      code: 'invalid_argument',
      cause,
    });
  }
}

function queryText(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

function mayBeTriedAgain(error, mayBeRepeated) {
  if (error instanceof RateLimitError) return true;
  return mayBeRepeated && (error instanceof ServerError || error instanceof NetworkError);
}

function waitBefore(retry, error) {
  if (error instanceof RateLimitError && error.retryAfter !== null) return error.retryAfter * 1000;
  const wait = WAITS_MS[Math.min(retry, WAITS_MS.length) - 1];
  return wait * (1 + Math.random() * JITTER);
}

async function pause(ms) {
  // A longer timer would end at once.
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, LONGEST_TIMER_MS)));
  }
}

module.exports = { Transport };
