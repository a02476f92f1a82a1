// The request as handlers see it, the same for both engines. Parts are computed when they are read: most requests never
// use the query, addresses or more than four headers.
import { normaliseAddress } from '../../base/ip-address.ts';
import type { TrustedProxies } from '../client-address.ts';
import type { BodyResult, BodyRoom, HttpRequest } from '../http.ts';
import type { RequestBody } from '../request-body.ts';

export interface IncomingParts {
  method: string;
  path: string;
  queryText: string;
  /** By lower-case name. */
  header(name: string): string | undefined;
  /** In the engine's spelling. */
  peer(): string;
  overTls: boolean;
  body: RequestBody;
}

/** What all requests of one server share. */
export interface RequestContext {
  proxies: TrustedProxies;
  bodyIdleMs: number;
  bodyPaceMs: number;
}

export class IncomingRequest implements HttpRequest {
  readonly #parts: IncomingParts;
  readonly #context: RequestContext;
  #peerAddress: string | null = null;
  #query: URLSearchParams | null = null;

  constructor(parts: IncomingParts, context: RequestContext) {
    this.#parts = parts;
    this.#context = context;
  }

  get method(): string {
    return this.#parts.method;
  }

  get path(): string {
    return this.#parts.path;
  }

  get queryText(): string {
    return this.#parts.queryText;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#parts.queryText);
    return this.#query;
  }

  header(name: string): string | undefined {
    return this.#parts.header(name.toLowerCase());
  }

  get peerAddress(): string {
    this.#peerAddress ??= normaliseAddress(this.#parts.peer()) ?? '';
    return this.#peerAddress;
  }

  get clientAddress(): string {
    return this.#context.proxies.clientBehind(this.peerAddress, this.header('x-forwarded-for'));
  }

  get secure(): boolean {
    if (this.#parts.overTls) return true;
    // The last value is that of the nearest proxy, as with X-Forwarded-For.
    const forwarded = this.header('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase();
    return forwarded === 'https' && this.#context.proxies.trusts(this.peerAddress);
  }

  get declaredBodyBytes(): number | null {
    return this.#parts.body.declaredBytes;
  }

  readBody(limitBytes: number, room?: BodyRoom): Promise<BodyResult> {
    const { bodyIdleMs: idleMs, bodyPaceMs: paceMs } = this.#context;
    return this.#parts.body.read({ limitBytes, idleMs, paceMs, ...(room && { room }) });
  }
}
