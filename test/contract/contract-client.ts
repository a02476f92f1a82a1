// A client as a tenant would write one, over kept connections. Each answer that it reads is held
// to the rules that all answers of the API share, whatever a test goes on to ask of it.
import http from 'node:http';
import https from 'node:https';
import { isUuid } from '../../src/base/ids.ts';
import { REFUSALS } from '../../src/base/refusals.ts';
import { checkAnswer } from '../support/openapi-check.ts';

export interface Call {
  key?: string | null;
  /** Sent as JSON, unless it is a text or bytes; undefined sends none. */
  body?: unknown;
  /** Undefined takes a header away. */
  headers?: Record<string, string | undefined>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Null when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect to be there
  body: any;
}

export interface ContractClientOptions {
  port: number;
  /** Takes any certificate: who signed it is not what is tested. */
  tls?: boolean;
  /** As a client on this address, which has to be one of this machine. */
  localAddress?: string;
}

/** Enough for 200 calls at once; the other end of each is a connection of the daemon, too. */
const MAX_CONNECTIONS = 200;
/** Well below the 11 s after which uWebSockets drops an idle connection, maybe just when a call is written to it. */
const IDLE_MS = 4000;

export class ContractClient {
  /** How many answers it has read. */
  answers = 0;
  readonly #options: ContractClientOptions;
  readonly #agent: http.Agent;

  constructor(options: ContractClientOptions) {
    this.#options = options;
    const agentOptions = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
    this.#agent = options.tls ? new https.Agent(agentOptions) : new http.Agent(agentOptions);
  }

  /** `route` is a method and a path: `POST /emails`. */
  async call(route: string, { key, body, headers = {} }: Call = {}): Promise<Answer> {
    const [method, path] = route.split(' ') as [string, string];
    const bytes = toBytes(body);
    const all = {
      ...(typeof key === 'string' && { Authorization: `Bearer ${key}` }),
      ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
      ...headers,
    };
    const given = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
    const answer = await this.#ask({ method, path, headers: Object.fromEntries(given) }, bytes);
    holdToRules(method, path, answer);
    checkAnswer({ method, path, ...answer, headers: new Headers(answer.headers) });
    this.answers++;
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(request: http.RequestOptions, bytes: Buffer | undefined): Promise<Answer> {
    const { port, tls, localAddress } = this.#options;
    const options = {
      ...{ host: '127.0.0.1', port, agent: this.#agent, ...request },
      ...(localAddress && { localAddress }),
      ...(tls && { rejectUnauthorized: false }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = (tls ? https : http).request(options, (incoming) => {
        readAnswer(incoming).then(resolve, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }
}

function toBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function readAnswer(incoming: http.IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  // Not ours to describe: a proxy's name for itself.
  if (headers.server?.startsWith('nginx')) delete headers.server;
  const body = bytes.length === 0 ? null : JSON.parse(bytes.toString());
  return { status: incoming.statusCode!, headers, body };
}

/** Fields beside `error` and `message`, by code. */
const EXTRA_FIELDS: Record<string, string[]> = {
  rate_limited: ['retry_after_secs'],
  verification_failed: ['domain', 'check'],
};

/** A path of this machine, a source file, a line of a stack, an engine's own words. */
const INSIDES = /\.ts\b|node_modules|\bat \S+ \(|\/(?:tmp|work|home|usr|var)\/|SQLITE|sqlite|<html/;

/** What holds for every answer, on top of what the API description says of each. */
function holdToRules(method: string, path: string, { status, headers, body }: Answer): void {
  const fail = (what: string): never => {
    throw new Error(`${what}: ${status} ${JSON.stringify(headers)} ${JSON.stringify(body)}`);
  };
  if (!isUuid(headers['x-request-id'] ?? '')) fail('there is no X-Request-Id');
  if (status === 204) {
    if (body !== null || 'content-type' in headers || 'content-length' in headers) fail('a 204 has no body');
    return;
  }
  if (headers['content-type'] !== 'application/json') fail('the content type is exactly application/json');
  if (method === 'HEAD') return;
  if (body === null) fail('there is no body');
  if (status < 400 || status === 503) return;
  if (REFUSALS[body.error as keyof typeof REFUSALS]?.status !== status) fail('no such code with this status');
  if (typeof body.message !== 'string' || body.message === '') fail('an error has a message');
  const ofBatch = path === '/emails/batch' && 'index' in body ? ['index'] : [];
  const names = ['error', 'message', ...(EXTRA_FIELDS[body.error] ?? []), ...ofBatch];
  if (Object.keys(body).join() !== names.join()) fail(`an error has exactly the fields ${names}`);
  if (INSIDES.test(body.message)) fail('a message shows the inside of the service');
}
