// HTTPS calls to an ACME directory, in place of the client library's own: limited in time and size, without proxies and
// redirects, with another root certificate if one is given, and without silent repetitions, since an attempt is counted
// before it is made (certificate-keeper.ts). A refusal is thrown with its type, which the library's errors do not have.
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { axios } from 'acme-client';
import { SECOND_MS } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import { readRetryAfter } from '../base/text/retry-after.ts';
import { MAX_RETRY_AFTER_MS } from './next-attempt.ts';

export interface DirectoryCalls {
  /** PEM; trusted besides the usual roots. */
  root: string | null;
  signal: AbortSignal;
  /** Called with the directory's own time, of each answer that has it. */
  onTime?(at: number): void;
}

/** The directory asks to be left alone for some time (RFC 8555 section 6.6). */
export class TooManyCalls extends Fault {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Any other refusal; `type` is that of RFC 8555 section 6.7, without its prefix. */
export class DirectoryProblem extends Fault {
  readonly status: number;
  readonly type: string | null;

  constructor(message: string, { status, type }: { status: number; type: string | null }) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

type Adapter = Extract<NonNullable<typeof axios.defaults.adapter>, (config: never) => unknown>;
type Call = Parameters<Adapter>[0];

/** RFC 8555 section 6.7. */
const PROBLEMS = 'urn:ietf:params:acme:error:';
const CALL_MS = 30 * SECOND_MS;
/** A chain has some 5 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** An adapter of axios; what it throws reaches the caller unchanged. */
export function directoryCalls(options: DirectoryCalls): Adapter {
  const ca = options.root === null ? undefined : [...rootCertificates, options.root];
  return async (config) => {
    const url = URL.parse(config.url ?? '');
    // RFC 8555 section 6.1; also for the URLs that the directory's answers contain.
    if (url?.protocol !== 'https:') throw new Fault(`the directory names a URL that is not https: ${config.url}`);
    const { answer, body } = await call(url, config, { ca, signal: options.signal });
    const { statusCode: status = 0, statusMessage: statusText = '', headers } = answer;
    const time = Date.parse(headers.date ?? '');
    if (Number.isFinite(time)) options.onTime?.(time);
    const problem = problemOf(body, status);
    if (status === 429 || status === 503) throw new TooManyCalls(problem.detail, retryAfter(headers));
    // The library answers this one itself, with another nonce (RFC 8555 section 6.5).
    const isAnswered = problem.type === 'badNonce' && status === 400;
    if (status >= 400 && !isAnswered) throw new DirectoryProblem(problem.detail, { status, type: problem.type });
    return { status, statusText, headers: { ...headers } as Record<string, string>, data: body, config };
  };
}

interface Answered {
  answer: IncomingMessage;
  body: string;
}

function call(
  url: URL,
  { method, headers, data }: Call,
  { ca, signal }: { ca: string[] | undefined; signal: AbortSignal },
): Promise<Answered> {
  const limits = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown) =>
      reject(
        new Fault(`${url.host} could not be called: ${limits.aborted ? 'no answer in time' : describeError(cause)}`),
      );
    const outgoing = { method: method?.toUpperCase(), headers: { ...headers } as Record<string, string>, agent: false };
    const calling = request(url, { ...outgoing, ca, signal: limits }, (answer) => {
      readAnswer(answer).then((body) => resolve({ answer, body }), failed);
    });
    calling.on('error', failed);
    calling.end(data);
  });
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) {
      answer.destroy();
      throw new Fault('its answer is too large');
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** RFC 7807, or any other page. */
function problemOf(body: string, status: number): { type: string | null; detail: string } {
  const { type, detail } = parsed(body);
  return {
    type: typeof type === 'string' && type.startsWith(PROBLEMS) ? type.slice(PROBLEMS.length) : null,
    detail: typeof detail === 'string' ? detail : `the directory answered ${status}`,
  };
}

function parsed(body: string): { type?: unknown; detail?: unknown } {
  try {
    return (JSON.parse(body) ?? {}) as { type?: unknown; detail?: unknown };
  } catch {
    // Some proxy in front of the directory, or a certificate.
    return {};
  }
}

function retryAfter(headers: IncomingMessage['headers']): number {
  return Math.min(readRetryAfter(headers['retry-after'], Date.now()) ?? 0, MAX_RETRY_AFTER_MS);
}
