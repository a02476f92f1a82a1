// The HTTP kernel on uWebSockets through hyper-express, which contributes listening and TLS.
// Requests are taken from the native server beneath it, because hyper-express' own reading of
// bodies never settles when a client goes away, its own sending waits for the whole request, and
// its two objects per request cost a tenth of the time in which a message is accepted. A native response must not be touched after it ended or was aborted.

import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { Server } from 'hyper-express';
import type { EngineOptions } from './engine-options.ts';
import { readFraming } from './framing.ts';
import { HEADER_LIMIT_BYTES, type HttpServer } from './http.ts';
import { InFlight } from './in-flight.ts';
import { IncomingRequest } from './incoming-request.ts';
import { kernelReply, toWire, type WireReply } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import { reservePort } from './reserve-port.ts';
import { respond } from './respond.ts';
import { readTlsPair, watchTlsPair } from './tls-files.ts';
import { UwsExchange } from './uws-exchange.ts';

export type HyperExpressModule = Pick<typeof import('hyper-express'), 'Server'>;

export async function loadHyperExpress(): Promise<HyperExpressModule> {
  // The addon takes its header limit (4 KiB otherwise) from the environment when it is
  // loaded, and from nowhere else; hence also the import at run time.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADER_LIMIT_BYTES);
  return import('hyper-express');
}

export async function startUws(uws: HyperExpressModule, options: EngineOptions): Promise<HttpServer> {
  const inUse = options.tls && (await readTlsPair(options.tls));
  const port = await reservePort(options.host, options.port);
  const engine = new UwsEngine(uws, port, options);
  await engine.listen();
  const stopWatch =
    options.tls &&
    inUse &&
    watchTlsPair({
      files: options.tls,
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
  /** The last one listens; earlier ones serve the connections that they have. */
  readonly #servers: Server[] = [];
  #closing = false;

  constructor(uws: HyperExpressModule, port: number, options: EngineOptions) {
    this.#uws = uws;
    this.#port = port;
    this.#options = options;
  }

  /**
   * A certificate is fixed for the life of a listener. For a renewed one, a second listener
   * opens on the same port (SO_REUSEPORT) before the first closes, so that no connection is
   * turned away, except those that the system had set up but not yet handed over.
   */
  async listen(): Promise<void> {
    const { host, tls } = this.#options;
    const server = new this.#uws.Server({
      // Signals are for main to handle.
      auto_close: false,
      // Limits are the handler's; hyper-express would answer 413 without a body.
      max_body_length: Number.MAX_SAFE_INTEGER,
      ...(tls && { cert_file_name: tls.certFile, key_file_name: tls.keyFile }),
    });
    server.any('/*', () => {}); // or it would put a page of its own in the place of the next line
    server.uws_instance.any('/*', (response, request) => void this.#serve(request, response));
    await server.listen(this.#port, host);
    this.#servers.at(-1)?.close();
    this.#servers.push(server);
    if (this.#closing) this.#hangUp();
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#servers.at(-1)?.close();
    const endsAt = performance.now() + graceMs;
    do {
      await this.#inFlight.idle(Math.max(0, endsAt - performance.now()));
      // What has just been answered is still in this turn's send buffer; and what was read in it is answered now.
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
      // Not before uWebSockets has looked at all that came in: while this request is open it
      // hangs up on a next one, where after the answer it would still serve it. And with a
      // body even after HEAD, for only such an answer ends the connection.
      setImmediate(() => exchange.sendAndHangUp(toWire(kernelReply(framing.code), 'GET')));
      return;
    }
    const body = exchange.receive(framing.declaredBytes);
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
      // uWebSockets skips the rest of the body by itself, and finds the next request.
      return exchange.send(reply, last);
    }
    // One byte of the answer is held back until the body is over. With the last one, the native
    // response is gone: with it the power to stop reading a body without a foreseeable end, and
    // a connection that is to close, over unread bytes. That sends a reset, which can overtake
    // the answer.
    exchange.sendAllButLast(reply);
    const ending = await body.drain(drainBytes, drainIdleMs);
    // What is not read any more goes by the idle timeout, 11 s after the answer.
    if (ending === 'over') exchange.stopReading();
    exchange.sendLast(reply);
  }

  /** Nothing is read behind a chunked body (see UwsExchange.receive), so that the connection ends. */
  async #sendAfterChunks({ exchange, body, reply }: Omit<Answered, 'lastByClient'>): Promise<void> {
    const { drainBytes, drainIdleMs } = this.#options.limits;
    const small = canHoldBack(reply);
    // Most are complete when all that came along with the header has been looked at.
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
  /** The client wants the connection to end with this answer. */
  lastByClient: boolean;
}

/** RFC 9112 section 9.6. */
function asksToClose(connection: string | undefined): boolean {
  return connection?.split(',').some((option) => option.trim().toLowerCase() === 'close') ?? false;
}

/** Answers that surely fit into the system's send buffer at once. */
const HELD_BACK_BYTES = 16 * 1024;

/** Copies the header, for the native request lives only as long as the call that brought it. */
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
