// One call: resolves the endpoint's host, sends the signed event, reads the beginning of the answer. It follows no
// redirects and knows nothing of retries. It takes 15 s at most.

import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import type { Connections, EndpointPool } from './connections.ts';
import { CALL_HEADERS } from './sent-request.ts';
import { isLocalhost, LOOPBACK, refuseAddress, refuseTarget, type TargetPolicy } from './target.ts';

interface WebhookCall {
  target: string;
  headers: Record<string, string>;
  body: string;
  /** Ends the call early: its outcome is not needed any more. */
  signal: AbortSignal;
}

export type CallOutcome =
  | { kind: 'answered'; status: number; retryAfter: string | null; answer: string }
  /** No answer; the reason is a sentence. */
  | { kind: 'unanswered'; reason: string }
  /** No call was made. */
  | { kind: 'refused'; reason: string };

export interface CallKit extends AddressKit {
  connections: Connections;
  timeoutMs?: number;
}

const CALL_TIMEOUT_MS = 15 * SECOND_MS;
/** Enough to recognize an error; kept for people to read. */
const ANSWER_MAX_BYTES = 4096;
/** The status has decided by then; an endpoint that sends its body slowly must not hold a slot. */
const ANSWER_BODY_MS = 2 * SECOND_MS;
const MAX_TRIED_ADDRESSES = 3;

export async function callEndpoint(call: WebhookCall, kit: CallKit): Promise<CallOutcome> {
  const timeoutMs = kit.timeoutMs ?? CALL_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const onAbort = () => deadline.abort();
  call.signal.addEventListener('abort', onAbort, { once: true });
  // A status that came in time counts, even when the rest of the answer does not come.
  let status: Extract<CallOutcome, { kind: 'answered' }> | null = null;
  const onStatus = (outcome: NonNullable<typeof status>) => {
    status = outcome;
  };
  const timedOut: CallOutcome = {
    kind: 'unanswered',
    reason: `The endpoint did not answer within ${timeoutMs / SECOND_MS} s.`,
  };
  try {
    const tried = tryAddresses({ ...call, signal: deadline.signal, onStatus }, kit);
    return (await Promise.race([tried, whenAborted(deadline.signal)])) ?? status ?? timedOut;
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', onAbort);
  }
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

interface TimedCall extends WebhookCall {
  onStatus(outcome: Extract<CallOutcome, { kind: 'answered' }>): void;
}

/** Null when time is up. */
async function tryAddresses(call: TimedCall, kit: CallKit): Promise<CallOutcome | null> {
  const url = new URL(call.target);
  const addresses = await endpointAddresses(url, kit);
  if (addresses.kind === 'refused') return addresses;
  if (addresses.kind === 'unavailable') return { kind: 'unanswered', reason: addresses.reason };
  let reason = 'The host has no address.';
  for (const ip of addresses.ips.slice(0, MAX_TRIED_ADDRESSES)) {
    const tried = await kit.connections.use(url.origin, ip, (endpoint) => tryAddress(endpoint, url, call));
    if (call.signal.aborted) return null;
    if (tried.kind === 'answered') return tried;
    reason = `The endpoint at ${ip} could not be reached: ${tried.why}.`;
    if (!tried.notConnected) break;
  }
  return { kind: 'unanswered', reason };
}

type Tried =
  | Extract<CallOutcome, { kind: 'answered' }>
  /** `notConnected`: the connection was not established, so another address may be tried. */
  | { kind: 'failed'; why: string; notConnected: boolean };

async function tryAddress(endpoint: EndpointPool, url: URL, call: TimedCall): Promise<Tried> {
  const openedBefore = endpoint.opened;
  const first = await post(endpoint, url, call);
  // The server may close a kept connection just as we write to it: that says nothing about the endpoint, and an
  // event that arrives twice has the same ID.
  const wasKept = endpoint.opened === openedBefore;
  if (first.kind === 'answered' || !wasKept || call.signal.aborted) return first;
  return post(endpoint, url, call);
}

async function post({ pool }: EndpointPool, url: URL, { headers, body, signal, onStatus }: TimedCall): Promise<Tried> {
  try {
    const response = await pool.request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      body,
      signal,
      headers: { ...CALL_HEADERS, ...headers },
    });
    const retryAfter = response.headers['retry-after'];
    const answered = {
      kind: 'answered',
      status: response.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      answer: '',
    } as const;
    onStatus(answered);
    return { ...answered, answer: await beginningOf(response.body) };
  } catch (error) {
    return { kind: 'failed', why: describeFailure(error), notConnected: NOT_CONNECTED.has(codeOf(error)) };
  }
}

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** Never rejects: the status has come, and the rest does not matter. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), ANSWER_BODY_MS);
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > ANSWER_MAX_BYTES) break; // this closes the connection: such a long answer may never end
    }
  } catch {
    // What has arrived is kept.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts).subarray(0, ANSWER_MAX_BYTES).toString('utf8').replaceAll('\0', '\u{fffd}');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function describeFailure(error: unknown): string {
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection was closed without a response';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no route to it';
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'the connection timed out';
    default:
      return `${describeError(error).slice(0, 200)}${code === '' ? '' : ` (${code})`}`;
  }
}

// The addresses of an endpoint's host: it is resolved and every address is checked. One refused address refuses all:
// a name that mixes public and private addresses is an attack or a mistake. The caller connects only to these
// addresses, and never resolves the name again.

type EndpointAddresses =
  /** IPv4 first: more of our hosts have a route for it. */
  { kind: 'found'; ips: string[] } | { kind: 'refused'; reason: string } | { kind: 'unavailable'; reason: string };

interface AddressKit {
  resolver: Pick<Resolver, 'a' | 'aaaa'>;
  policy: TargetPolicy;
}

export async function endpointAddresses(url: URL, { resolver, policy }: AddressKit): Promise<EndpointAddresses> {
  const refused = refuseTarget(url, policy);
  if (refused !== null) return { kind: 'refused', reason: `Not called: ${refused}` };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return { kind: 'found', ips: [host] };
  // RFC 6761 section 6.3: never sent to DNS.
  if (isLocalhost(host)) return { kind: 'found', ips: LOOPBACK.filter((ip) => policy.allows(ip)) };
  const addresses = policy.addressesOf(host);
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const ips = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  for (const ip of ips) {
    const reason = refuseAddress(ip, addresses);
    if (reason !== null) return { kind: 'refused', reason: `Not called: ${host} resolves to ${reason}` };
  }
  if (ips.length > 0) return { kind: 'found', ips };
  const failure = answers.find((answer) => answer.kind === 'unavailable');
  const why = failure?.kind === 'unavailable' ? `DNS does not answer: ${failure.reason}` : 'it has no IP address';
  return { kind: 'unavailable', reason: `The host ${host} can't be resolved: ${why}.` };
}
