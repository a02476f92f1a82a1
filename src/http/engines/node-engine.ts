// The HTTP kernel on node:http and node:https. What node would answer without a body, or drop (missing Host, malformed
// requests, CONNECT), is answered in the kernel's JSON format.
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { HEADER_LIMIT_BYTES, type HttpServer } from '../http.ts';
import { InFlight } from '../in-flight.ts';
import { kernelReply, toWire, type WireReply } from '../reply.ts';
import { RequestBody } from '../request-body.ts';
import { respond } from '../respond.ts';
import type { StallWatch } from '../stall-watch.ts';
import { sourceOf, type TlsSource, watchTlsPair } from '../tls-files.ts';
import type { KernelAnswerCode } from './engine-limits.ts';
import type { EngineOptions } from './engine-options.ts';
import { readFraming } from './framing.ts';
import { IncomingRequest } from './incoming-request.ts';

const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: HEADER_LIMIT_BYTES,
  // The kernel itself refuses a missing Host, with a body.
  requireHostHeader: false,
  joinDuplicateHeaders: true,
  // As uWebSockets: 10 s for the header, 10 s between requests.
  headersTimeout: 10_000,
  keepAliveTimeout: 10_000,
  // 5 MiB in five minutes is 17 KiB/s, about what uWebSockets requires.
  requestTimeout: 300_000,
  connectionsCheckingInterval: 2_000,
};
/** Longer than any handler runs; closes connections whose client does not read its response. */
const SOCKET_IDLE_MS = 120_000;
const TUNNEL_LINGER_MS = 1_000;

const PROOF_PROTOCOL = 'acme-tls/1';

/** Fits into the system's send buffer at once. */
const SMALL_BYTES = 16 * 1024;

/** What node's parser errors mean; all others are malformed requests. */
const PARSER_ERRORS: Record<string, KernelAnswerCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_INVALID_TRANSFER_ENCODING: 'unsupported_transfer_encoding',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export async function startNode(options: EngineOptions): Promise<HttpServer> {
  if (!options.tls) return listen(createServer(SERVER_OPTIONS), options);
  const source = sourceOf(options.tls);
  const pair = await source.read();
  const server = createTlsServer({ ...SERVER_OPTIONS, ...pair, ...withProofs(source) });
  server.on('secureConnection', (socket) => {
    // The handshake was all that the directory wanted, and its certificate is none for anything else.
    if (socket.alpnProtocol === PROOF_PROTOCOL) socket.end();
  });
  const opened = await listen(server, options);
  const stopWatch = watchTlsPair({
    source,
    inUse: pair,
    checkMs: options.limits.tlsCheckMs,
    apply: (renewed) => server.setSecureContext(renewed),
    onFailure: options.onError,
  });
  return {
    ...opened,
    close(graceMs) {
      stopWatch();
      return opened.close(graceMs);
    },
  };
}

/** Whoever asks for the proof of a name sees it, instead of the certificate (RFC 8737). */
function withProofs(source: TlsSource): TlsOptions {
  const { proofFor } = source;
  if (!proofFor) return {};
  return {
    ALPNCallback(this: TLSSocket, { servername, protocols }) {
      if (!protocols.includes(PROOF_PROTOCOL)) return protocols.find((protocol) => protocol === 'http/1.1');
      const proof = proofFor(servername);
      if (proof === null) return undefined;
      this.setKeyCert(proof);
      return PROOF_PROTOCOL;
    },
  };
}

async function listen(server: Server | TlsServer, options: EngineOptions): Promise<HttpServer> {
  const engine = new NodeEngine(server, options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // For example EMFILE while accepting: the server goes on.
  server.on('error', options.onError);
  return {
    port: (server.address() as AddressInfo).port,
    engine: 'node',
    close: (graceMs) => engine.close(graceMs),
  };
}

class NodeEngine {
  readonly #server: Server | TlsServer;
  readonly #options: EngineOptions;
  readonly #inFlight = new InFlight();
  /** The latest exchange of each connection, which parser errors belong to. */
  readonly #exchanges = new WeakMap<Duplex, Exchange>();
  #closing = false;

  constructor(server: Server | TlsServer, options: EngineOptions) {
    this.#server = server;
    this.#options = options;
    // Unlimited: node would silently drop further headers.
    server.maxHeadersCount = 0;
    server.setTimeout(SOCKET_IDLE_MS);
    server.on('request', (message, response) => void this.#serve(message, response, false));
    server.on('checkContinue', (message, response) => void this.#serve(message, response, true));
    // RFC 9110 section 10.1.1: an expectation other than 100-continue may be ignored.
    server.on('checkExpectation', (message, response) => void this.#serve(message, response, false));
    server.on('connect', (_message, socket) => refuseTunnel(socket));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#onClientError(error, socket));
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    await this.#inFlight.idle(graceMs);
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): Promise<void> {
    // Node goes on parsing what was sent after a request that ends the connection.
    if (this.#exchanges.get(message.socket)?.lastOnConnection) return;
    this.#inFlight.begin();
    const closed = new Promise((resolve) => response.once('close', resolve));
    const framing = readFraming({
      host: message.headers.host,
      contentLength: message.headers['content-length'],
      transferEncoding: message.headers['transfer-encoding'],
      hostRequired: message.httpVersionMinor > 0,
    });
    const declaredBytes = framing.kind === 'framed' ? framing.declaredBytes : 0;
    const exchange = new Exchange(message, response, { declaredBytes, awaitsContinue, stalls: this.#options.stalls });
    this.#exchanges.set(message.socket, exchange);
    if (framing.kind === 'framed') {
      await this.#send(exchange, await respond(this.#request(message, exchange.body), this.#options));
    } else {
      const reply = toWire(kernelReply(framing.code), message.method ?? '');
      exchange.writeHead(reply, false);
      response.end(reply.body);
    }
    await closed;
    this.#inFlight.end();
  }

  #request(message: IncomingMessage, body: RequestBody): IncomingRequest {
    // RFC 9112 section 3.2.2: a server must accept the absolute form as well.
    const target = (message.url ?? '').replace(/^https?:\/\/[^/?#]*(?=[/?#]|$)/i, '') || '/';
    const queryAt = target.indexOf('?');
    const peer = message.socket.remoteAddress ?? '';
    const parts = {
      method: message.method ?? '',
      path: queryAt < 0 ? target : target.slice(0, queryAt),
      queryText: queryAt < 0 ? '' : target.slice(queryAt + 1),
      header: (name: string) => headerOf(message, name),
      peer: () => peer,
      overTls: this.#options.tls !== undefined,
      body,
    };
    return new IncomingRequest(parts, this.#options.context);
  }

  async #send(exchange: Exchange, reply: WireReply): Promise<void> {
    const { drainBytes, drainIdleMs } = this.#options.limits;
    const { response, body, isDesynchronized } = exchange;
    const last = body.remainingBytes > drainBytes || !response.shouldKeepAlive || this.#closing;
    exchange.writeHead(reply, !isDesynchronized && !last);
    if (isDesynchronized || !last || body.remainingBytes === 0) {
      body.discard();
      // Node considers a connection idle, and closes it, once `end` was called, even before everything is sent.
      if (reply.body && reply.body.length > SMALL_BYTES) await writeAll(response, reply.body);
      response.end(reply.body && reply.body.length <= SMALL_BYTES ? reply.body : null);
      return;
    }
    // The whole response is sent now, but the connection is only closed when the client has had time to read it:
    // closing over unread bytes sends a reset, which can overtake the response.
    if (reply.body && reply.body.length > 0) response.write(reply.body);
    else response.flushHeaders();
    await body.drain(drainBytes, drainIdleMs);
    response.end();
  }

  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    const exchange = this.#exchanges.get(socket);
    if (exchange?.lastOnConnection) return;
    if (exchange && !exchange.response.writableEnded) exchange.derail();
    else refuseRaw(socket, PARSER_ERRORS[error.code ?? ''] ?? 'malformed_request');
  }
}

/** One request and its response, with the state of their connection. */
class Exchange {
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly #message: IncomingMessage;
  #awaitsContinue: boolean;
  #derailed = false;
  #lastOnConnection = false;
  #attached = false;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    expected: { declaredBytes: number | null; awaitsContinue: boolean; stalls: StallWatch },
  ) {
    this.#message = message;
    this.response = response;
    this.#awaitsContinue = expected.awaitsContinue;
    const source = { flow: () => this.#flow(), pause: () => message.pause() };
    this.body = new RequestBody(expected.declaredBytes, source, expected.stalls);
    // Either everything is answered, or the connection is gone.
    response.once('close', () => this.body.abort());
  }

  writeHead(reply: WireReply, keepAlive: boolean): void {
    const lines = reply.headers.flat();
    if (reply.length !== null) lines.push('Content-Length', String(reply.length));
    if (!keepAlive) lines.push('Connection', 'close');
    this.#lastOnConnection = !keepAlive;
    this.response.writeHead(reply.status, reply.reason, lines);
  }

  /** The client was told that no further response comes. */
  get lastOnConnection(): boolean {
    return this.#lastOnConnection;
  }

  /** It is unknown where the next request on this connection begins. */
  get isDesynchronized(): boolean {
    return this.#derailed || this.body.failed || (this.#awaitsContinue && !this.body.complete);
  }

  /** What came over the connection is not valid HTTP. */
  derail(): void {
    this.#derailed = true;
    this.body.abort();
  }

  #flow(): void {
    const message = this.#message;
    message.resume();
    if (this.#attached) return;
    this.#attached = true;
    if (this.#awaitsContinue && !this.response.headersSent) {
      this.#awaitsContinue = false;
      this.response.writeContinue();
    }
    message.on('data', (piece: Buffer) => this.body.push(piece));
    message.on('end', () => this.body.finish());
    message.on('error', () => this.body.abort());
  }
}

/** Waits until the client has received everything, or is gone. */
function writeAll(response: ServerResponse, body: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(body, () => resolve()));
}

function headerOf(message: IncomingMessage, name: string): string | undefined {
  const value = Object.hasOwn(message.headers, name) ? message.headers[name] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Node gives such a socket away for good: it hears of no error of it any more, and knows it neither at a stop. */
function refuseTunnel(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  // Until the answer has arrived: an end with unread octets would overtake it.
  const end = setTimeout(() => socket.destroy(), TUNNEL_LINGER_MS).unref();
  socket.once('close', () => clearTimeout(end));
  socket.resume();
  refuseRaw(socket, 'malformed_request');
}

/** For input that never became a request, so that there is no response object. */
function refuseRaw(socket: Duplex, code: KernelAnswerCode): void {
  if (!socket.writable) return void socket.destroy();
  const { status, reason, headers, body } = toWire(kernelReply(code), '');
  const head = [`HTTP/1.1 ${status} ${reason}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  head.push(`Content-Length: ${body?.length ?? 0}`, 'Connection: close');
  (socket as Socket).end(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}
