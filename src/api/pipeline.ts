// Every authenticated call goes through here; `admit` reads as the order of checks that the
// contract lays down. Routing (404, 405) comes before, what an endpoint itself knows after.

import type { Clock } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import { type IdSource, isUuid } from '../base/ids.ts';
import { RateLimiter, type Rates, type RateVerdict } from '../base/rate-limiter.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import { trimFieldValue } from '../http/field-value.ts';
import type { HttpReply, HttpRequest } from '../http/http.ts';
import type { PathParams, Route } from '../http/router.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { Tier } from '../store/tenants.ts';
import { idempotencyKeyProblem } from '../submission/idempotency-key.ts';
import type { KeyLookups } from '../tenants/api-keys.ts';
import { actOfKey } from '../tenants/audit-log.ts';
import { type Answer, type RefusalWriter, type ReplyHeaders, refusalReply, toReply } from './answer.ts';
import { type Caller, findCaller, readBearerToken, refuseInactive, refuseScope } from './authorization.ts';
import { BodyBudget, type BodyShare } from './body/body-budget.ts';
import { type BodyReader, SMALL_BODY_BYTES } from './body/body-pool.ts';
import { CallCost } from './call-cost.ts';
import type { ApiCall, EarlyCall, Endpoint } from './endpoint.ts';
import { BODY_LIMIT_BYTES, readBytes, refuseMediaType } from './json-body.ts';

export interface PipelineOptions {
  store: KeyLookups & StoreVerbs<{ audit: 'recordAudit' }>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  bodies: BodyReader;
  /** One of its own when not given. */
  bodyBudget?: BodyBudget;
  /** Of all that is called with API keys; one of its own when not given. */
  rates?: Rates;
  /** Null: no cap. */
  requestsPerMinute(tier: Tier): number | null;
  /** Somebody has shown that they have the key. Called for every call: it must cost next to nothing. */
  keyUsed?(keyId: string): void;
}

/** A failover of the database takes some seconds. */
const RETRY_AFTER_SECS = 10;

/** The headers that an answer has collected on its way. */
type Collected = Record<string, string>;

interface RoutedRequest {
  request: HttpRequest;
  params: PathParams;
  headers: Collected;
}

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #rates: Rates;
  readonly bodyBudget: BodyBudget;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.bodyBudget = options.bodyBudget ?? new BodyBudget();
    this.#rates = options.rates ?? new RateLimiter(options.clock);
  }

  /** `refused` writes refusals in the shape that the callers of this endpoint know. */
  route(endpoint: Endpoint, refused: RefusalWriter = refusalReply): Route {
    const { method, pattern } = endpoint;
    const work = (request: HttpRequest, params: PathParams) => async (headers: Collected) => {
      const answer = await this.#answer(endpoint, { request, params, headers });
      return isRefusal(answer) ? refused(answer, headers) : toReply(answer, headers);
    };
    return { method, pattern, handler: (request, params) => this.answered(request, work(request, params), refused) };
  }

  /** Gives an answer its X-Request-Id; what is thrown becomes a 500 that tells only the log why. */
  async answered(
    request: HttpRequest,
    work: (headers: Collected) => HttpReply | Promise<HttpReply>,
    refused: RefusalWriter = refusalReply,
  ): Promise<HttpReply> {
    const requestId = this.#options.ids.next();
    const headers: Collected = { 'X-Request-Id': requestId };
    const { log } = this.#options;
    const { method, path, clientAddress: client } = request;
    const about = { request_id: requestId, method, path, client };
    try {
      const reply = await work(headers);
      log.debug({ ...about, status: reply.status }, 'API call answered');
      return reply;
    } catch (error) {
      log.error({ ...about, error, reason: describeError(error) }, 'API call failed');
      const fault = refuse('internal_error', 'Unexpected server error. Retry later.');
      const isTemporary = error instanceof Fault && error.permanence === 'temporary';
      return refused(isTemporary ? { ...fault, retryAfterSecs: RETRY_AFTER_SECS } : fault, headers);
    }
  }

  async #answer(endpoint: Endpoint, asked: RoutedRequest): Promise<Answer | Refusal> {
    const token = readBearerToken(asked.request.header('authorization'));
    if (isRefusal(token)) return token;
    const caller = await findCaller(token, this.#options.store);
    if (isRefusal(caller)) return caller;
    const share = this.bodyBudget.share(caller.tenant.id);
    try {
      const call = await this.#admit(endpoint, { ...asked, caller, share });
      return isRefusal(call) ? call : await endpoint.answer(call);
    } finally {
      share.giveBack();
    }
  }

  async #admit(
    endpoint: Endpoint,
    { request, params, headers, caller, share }: RoutedRequest & { caller: Caller; share: BodyShare },
  ): Promise<ApiCall | Refusal> {
    const { key, tenant } = caller;
    this.#options.keyUsed?.(key.id);
    // Every authenticated call counts, also one that is refused for another reason.
    const tooFast = await this.#refuseRate(caller, headers);
    const inactive = refuseInactive(tenant);
    if (inactive) {
      delete headers['Retry-After']; // it would not help
      return inactive;
    }
    const early = tooFast ?? refuseScope(key, endpoint.scope);
    if (early) return early;
    const idempotencyKey = endpoint.idempotent ? readIdempotencyKey(request.header('idempotency-key')) : null;
    if (isRefusal(idempotencyKey)) return idempotencyKey;
    const path = readPathIds(params);
    if (isRefusal(path)) return path;
    const wrongType = endpoint.body === 'json' ? refuseMediaType(request.header('content-type')) : null;
    if (wrongType) return wrongType;
    const closed = await refuseLargeEarly(endpoint, request, { key, idempotencyKey });
    if (closed) return closed;
    // The limit of size holds for calls without a use for a body, too.
    const bytes = await readBytes(request, share);
    if (isRefusal(bytes)) return bytes;
    const cost = new CallCost((tokens) => this.#charge(caller, tokens, headers), share);
    cost.countBody(bytes.length);
    const { store, clock } = this.#options;
    const address = request.clientAddress;
    return {
      key,
      tenant,
      id: path.id ?? '',
      params: path,
      idempotencyKey,
      // The bytes may have gone to another thread when somebody asks.
      bodyBytes: bytes.length,
      countAs: (calls) => cost.countAs(calls),
      countRendered: (bytes) => cost.countRendered(bytes),
      audit: (action, data) => store.audit.recordAudit(actOfKey(key, { action, data, address, at: clock.now() })),
      query: () => request.query,
      header: (name) => request.header(name),
      read: (shape) => explained(this.#options.bodies.read(tenant.id, bytes, shape), request),
    };
  }

  #charge({ key, tenant }: Caller, tokens: number, headers: Collected): void {
    const verdict = this.#rates.charge(key.id, this.#options.requestsPerMinute(tenant.tier), tokens);
    Object.assign(headers, rateHeaders(verdict));
  }

  async #refuseRate({ key, tenant }: Caller, headers: Collected): Promise<Refusal | null> {
    const verdict = await this.#rates.take(key.id, this.#options.requestsPerMinute(tenant.tier));
    Object.assign(headers, rateHeaders(verdict));
    if (verdict.allowed) return null;
    // The sentence is the specification's.
    return refuse('rate_limited', 'key has exceeded its allowed request rate', {
      retry_after_secs: verdict.retryAfterSecs,
    });
  }
}

/**
 * What is refused whatever the body says, before a large one is read. Not where 413 comes first, and not where the
 * length is unknown, since it may turn out to be a 413.
 */
async function refuseLargeEarly(
  { refuseEarly }: Endpoint,
  { declaredBodyBytes: bytes }: HttpRequest,
  call: EarlyCall,
): Promise<Refusal | null> {
  const isLarge = bytes !== null && bytes > SMALL_BODY_BYTES && bytes <= BODY_LIMIT_BYTES;
  return (isLarge && (await refuseEarly?.(call))) || null;
}

type Read<Body> = Body | Refusal | Promise<Body | Refusal>;

function explained<Body>(read: Read<Body>, request: HttpRequest): Read<Body> {
  return read instanceof Promise
    ? read.then((later) => explainEncoding(later, request))
    : explainEncoding(read, request);
}

/** A compressed body is no JSON: the cause is the encoding. */
function explainEncoding<Body>(read: Body | Refusal, request: HttpRequest): Body | Refusal {
  const encoding = isRefusal(read) && read.refused === 'invalid_json' ? request.header('content-encoding') : undefined;
  if (encoding === undefined) return read;
  const shown = encoding.slice(0, MAX_SHOWN_CHARS).replace(/[^ -~]/g, '?');
  const problem = `Content-Encoding ${shown} is not supported. Send the body uncompressed, without that header.`;
  return refuse('invalid_json', problem);
}

const MAX_SHOWN_CHARS = 60;

function rateHeaders(verdict: RateVerdict): ReplyHeaders {
  return {
    'RateLimit-Limit': String(verdict.limit),
    'RateLimit-Remaining': String(verdict.remaining),
    'RateLimit-Reset': String(verdict.resetSecs),
    ...(verdict.allowed ? {} : { 'Retry-After': String(verdict.retryAfterSecs) }),
  };
}

function readIdempotencyKey(value: string | undefined): string | null | Refusal {
  if (value === undefined) return null;
  const key = trimFieldValue(value);
  const fault = idempotencyKeyProblem(key);
  return fault === null ? key : refuse('validation_failed', `Idempotency-Key: ${fault}`);
}

/** What is named as an ID, in lower case; the rest as it is. */
function readPathIds(params: PathParams): PathParams | Refusal {
  const ids = Object.entries(params).filter(([name]) => name === 'id' || name.endsWith('_id'));
  const isBad = ids.some(([, value]) => !isUuid(value));
  if (isBad) return refuse('invalid_id', 'The ID in the path must be a hyphenated UUID.');
  return { ...params, ...Object.fromEntries(ids.map(([name, value]) => [name, value.toLowerCase()])) };
}
