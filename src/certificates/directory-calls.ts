// HTTPS calls to an ACME directory, in place of the client library's own: limited in time and size, without proxies and
// redirects, with another root certificate if one is given, and without silent repetitions, since an attempt is counted
// before it is made (certificate-keeper.ts).
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { axios } from 'acme-client';
import { SECOND_MS } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import { readRetryAfter } from '../base/retry-after.ts';
import { MAX_RETRY_AFTER_MS } from './next-attempt.ts';

export interface DirectoryCalls {
  /** PEM; trusted besides the usual roots. */
  root: string | null;
  signal: AbortSignal;
}

/** The directory asks to be left alone for some time (RFC 8555 section 6.6). */
export class TooManyCalls extends Fault {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

type Adapter = Extract<NonNullable<typeof axios.defaults.adapter>, (config: never) => unknown>;
type Call = Parameters<Adapter>[0];

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
    if (status === 429 || status === 503) throw new TooManyCalls(detailOf(body, status), retryAfter(headers));
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
function detailOf(body: string, status: number): string {
  try {
    const { detail } = JSON.parse(body) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
  } catch {
    // Some proxy in front of the directory.
  }
  return `the directory answered ${status}`;
}

function retryAfter(headers: IncomingMessage['headers']): number {
  return Math.min(readRetryAfter(headers['retry-after'], Date.now()) ?? 0, MAX_RETRY_AFTER_MS);
}
