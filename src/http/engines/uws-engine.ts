// The HTTP kernel on uWebSockets through hyper-express, which contributes listening and TLS. Requests are taken from
// the native server beneath it, because hyper-express's reading of bodies never settles when a client goes away, its
// sending waits for the whole request, and its two objects per request cost a tenth of the time to accept a message. A
// native response must not be touched after it has ended or was aborted.

import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { Server } from 'hyper-express';
import { HEADER_LIMIT_BYTES, type HttpServer } from '../http.ts';
import { InFlight } from '../in-flight.ts';
import { kernelReply, toWire, type WireReply } from '../reply.ts';
import type { RequestBody } from '../request-body.ts';
import { reservePort } from '../reserve-port.ts';
import { respond } from '../respond.ts';
import { sourceOf, type TlsFiles, watchTlsPair } from '../tls-files.ts';
import type { EngineOptions } from './engine-options.ts';
import { readFraming } from './framing.ts';
import { IncomingRequest } from './incoming-request.ts';
import { UwsExchange } from './uws-exchange.ts';

export type HyperExpressModule = Pick<typeof import('hyper-express'), 'Server'>;

export async function loadHyperExpress(): Promise<HyperExpressModule> {
  // The addon reads its header limit (4 KiB by default) only from the environment, when it is loaded; hence also the
  // import at run time.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADER_LIMIT_BYTES);
  return import('hyper-express');
}

export async function startUws(uws: HyperExpressModule, options: EngineOptions): Promise<HttpServer> {
  const source = options.tls && sourceOf(options.tls);
  const inUse = await source?.read();
  const port = await reservePort(options.host, options.port);
  const engine = new UwsEngine(uws, port, options);
  await engine.listen();
  const stopWatch =
    source &&
    inUse &&
    watchTlsPair({
      source,
      inUse,
      checkMs: options.limits.tlsCheckMs,
      apply: () => engine.listen(),
      onFailure: options.onError,
    });
  return {
    port,
    engine: 'uws',
    close(graceMs) {
      stopWatch?.();
      return engine.close(graceMs);
    },
  };
}

class UwsEngine {
  readonly #uws: HyperExpressModule;
  readonly #port: number;
  readonly #options: EngineOptions;
  readonly #inFlight = new InFlight();
  /** The last one listens; earlier ones serve their open connections. */
  readonly #servers: Server[] = [];
  #closing = false;

  constructor(uws: HyperExpressModule, port: number, options: EngineOptions) {
    this.#uws = uws;
    this.#port = port;
    this.#options = options;
  }

  /**
   * A certificate is fixed for the life of a listener. For a renewed one, a second listener opens on the same port
   * (SO_REUSEPORT) before the first closes, so that no connection is refused, except those that the system had set up
   * but not yet passed on.
   */
  async listen(): Promise<void> {
    const { tls } = this.#options;
    const server = tls ? await sourceOf(tls).inFiles((files) => this.#open(files)) : await this.#open();
    this.#servers.at(-1)?.close();
    this.#servers.push(server);
    if (this.#closing) this.#hangUp();
  }

  /** The files are read before it has opened. */
  async #open(tls?: TlsFiles): Promise<Server> {
    const server = new this.#uws.Server({
      // The main program handles signals.
      auto_close: false,
      // Handlers set limits; hyper-express would answer 413 without a body.
      max_body_length: Number.MAX_SAFE_INTEGER,
      ...(tls && { cert_file_name: tls.certFile, key_file_name: tls.keyFile }),
    });
    server.any('/*', () => {}); // otherwise it would replace the next line by its own page
    server.uws_instance.any('/*', (response, request) => void this.#serve(request, response));
    await server.listen(this.#port, this.#options.host);
    return server;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#servers.at(-1)?.close();
    const endsAt = performance.now() + graceMs;
    do {
      await this.#inFlight.idle(Math.max(0, endsAt - performance.now()));
      // Responses of this turn are still in its send buffer; and requests that were read in it are answered now.
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#inFlight.count > 0 && performance.now() < endsAt);
    this.#hangUp();
  }

  #hangUp(): void {
    for (const server of this.#servers.splice(0)) {
      server.close();
      server.uws_instance.close();
    }
  }

  async #serve(native: NativeRequest, raw: NativeResponse): Promise<void> {
    const header = readHeader(native);
    const exchange = new UwsExchange(raw, this.#inFlight);
    const method = native.getMethod().toUpperCase();
    const framing = readFraming({
      host: header('host'),
      contentLength: header('content-length'),
      transferEncoding: header('transfer-encoding'),
      hostRequired: true,
    });
    if (framing.kind === 'refused') {
      // Not before uWebSockets has parsed everything received: while this request is open it closes on a next one,
      // while after the response it would still serve it. And with a body even for HEAD, since only such a response
      // ends the connection.
      setImmediate(() => exchange.sendAndHangUp(toWire(kernelReply(framing.code), 'GET')));
      return;
    }
    const body = exchange.receive(framing.declaredBytes, this.#options.stalls);
    const peer = raw.getRemoteAddressAsText();
    const parts = {
      method,
      path: native.getUrl(),
      queryText: native.getQuery(),
      header,
      peer: () => Buffer.from(peer).toString('latin1'),
      overTls: this.#options.tls !== undefined,
      body,
    };
    const reply = await respond(new IncomingRequest(parts, this.#options.context), this.#options);
    await this.#send({ exchange, body, reply, lastByClient: asksToClose(header('connection')) });
  }

  async #send({ exchange, body, reply, lastByClient }: Answered): Promise<void> {
    const { drainBytes, drainIdleMs } = this.#options.limits;
    if (body.failed) return exchange.sendAndHangUp(reply);
    if (body.chunked) return this.#sendAfterChunks({ exchange, body, reply });
    const endless = body.remainingBytes > drainBytes;
    const last = endless || this.#closing;
    const lingers = body.remainingBytes > 0 && (last || lastByClient);
    if (!lingers || !canHoldBack(reply)) {
      body.discard();
      // uWebSockets itself skips the rest of the body, and finds the next request.
      return exchange.send(reply, last);
    }
    // One byte of the response is held back until the body has ended. After the last byte the native response is gone,
    // and with it the means to stop reading an endless body. A connection that is to be closed would be closed over
    // unread bytes: that sends a reset, which can overtake the response.
    exchange.sendAllButLast(reply);
    const ending = await body.drain(drainBytes, drainIdleMs);
    // Connections that are not read any more end by the idle timeout, 11 s after the response.
    if (ending === 'over') exchange.stopReading();
    exchange.sendLast(reply);
  }

  /** Nothing is read after a chunked body (see UwsExchange.receive), so the connection ends. */
  async #sendAfterChunks({ exchange, body, reply }: Omit<Answered, 'lastByClient'>): Promise<void> {
    const { drainBytes, drainIdleMs } = this.#options.limits;
    const small = canHoldBack(reply);
    // Most are complete once everything received with the header is parsed.
    for (let turn = 0; turn < 2 && !body.complete; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (body.complete) return small ? exchange.sendAndHangUp(reply) : exchange.send(reply, true);
    if (small) exchange.sendAllButLast(reply);
    await body.drain(drainBytes, drainIdleMs);
    exchange.stopReading();
    if (small) exchange.sendLast(reply);
    else exchange.send(reply, true);
  }
}

function canHoldBack({ body }: WireReply): boolean {
  return body !== null && body.length > 0 && body.length <= HELD_BACK_BYTES;
}

interface Answered {
  exchange: UwsExchange;
  body: RequestBody;
  reply: WireReply;
  /** The client asked to close the connection after this response. */
  lastByClient: boolean;
}

/** RFC 9112 section 9.6. */
function asksToClose(connection: string | undefined): boolean {
  return connection?.split(',').some((option) => option.trim().toLowerCase() === 'close') ?? false;
}

/** Responses of this size certainly fit into the system's send buffer at once. */
const HELD_BACK_BYTES = 16 * 1024;

/** Copies the header, since the native request is only valid during its callback. */
function readHeader(native: NativeRequest): (name: string) => string | undefined {
  const names: string[] = [];
  const values: string[] = [];
  native.forEach((name, value) => {
    names.push(name);
    values.push(value);
  });
  return (wanted) => {
    const first = names.indexOf(wanted);
    if (first < 0) return undefined;
    if (names.indexOf(wanted, first + 1) < 0) return values[first];
    return values.filter((_value, at) => names[at] === wanted).join(wanted === 'cookie' ? '; ' : ', ');
  };
}
