// One request and its response on uWebSockets: guards the native response, which must not be touched once it has ended
// or was aborted, and counts until both handler and response are done.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { InFlight } from '../in-flight.ts';
import type { WireReply } from '../reply.ts';
import { RequestBody } from '../request-body.ts';
import type { StallWatch } from '../stall-watch.ts';

export class UwsExchange {
  readonly #raw: NativeResponse;
  readonly #inFlight: InFlight;
  /** Ended or aborted: the native response is invalid. */
  #over = false;
  #answering = false;
  #paused = false;
  #readingStopped = false;
  #body: RequestBody | null = null;

  constructor(raw: NativeResponse, inFlight: InFlight) {
    this.#raw = raw;
    this.#inFlight = inFlight;
    inFlight.begin();
    raw.onAborted(() => {
      if (this.#over) return;
      this.#over = true;
      this.#body?.abort();
      // A handler that is still running counts until it is done.
      if (this.#answering) inFlight.end();
    });
  }

  receive(declaredBytes: number | null, stalls: StallWatch): RequestBody {
    const source = {
      flow: () => this.#pause(false),
      pause: () => this.#pause(true),
      keepOpen: () => this.#keepOpen(),
    };
    const body = new RequestBody(declaredBytes, source, stalls);
    this.#body = body;
    if (declaredBytes !== 0) {
      this.#raw.onData((piece, isLast) => {
        body.push(new Uint8Array(piece));
        if (!isLast) return;
        if (declaredBytes === null) this.#finishChunked(body);
        else body.finish();
      });
    }
    return body;
  }

  /**
   * uWebSockets takes anything after the last chunk for the next request, even trailers. By the next turn it has parsed
   * everything received: while this request is open, a next one ends the connection, and then this body is broken as
   * well. What comes later is never read.
   */
  #finishChunked(body: RequestBody): void {
    this.stopReading();
    setImmediate(() => body.finish());
  }

  /** Permanently: neither bodies nor requests are read any more. The idle timeout closes, unless a response does. */
  stopReading(): void {
    this.#pause(true);
    this.#readingStopped = true;
  }

  send(reply: WireReply, lastOnConnection: boolean): void {
    this.#answer(() => {
      this.#writeHead(reply, lastOnConnection);
      if (reply.body) this.#writeBody(reply.body);
      else this.#endWithoutBody(reply);
    });
  }

  /** Only a response with a body can close; after others, the idle timeout does. */
  sendAndHangUp(reply: WireReply): void {
    const { body } = reply;
    if (!body) {
      this.send(reply, true);
      return;
    }
    this.#answer(() => {
      this.#writeHead(reply, false);
      this.#raw.end(body, true);
      this.#end();
    });
  }

  sendAllButLast(reply: WireReply): void {
    this.#answer(() => {
      this.#writeHead(reply, true);
      this.#raw.tryEnd(reply.body!.subarray(0, -1), reply.body!.length);
    });
  }

  sendLast(reply: WireReply): void {
    if (this.#over) return;
    this.#raw.cork(() => this.#writeBody(reply.body!, reply.body!.length - 1));
  }

  #answer(write: () => void): void {
    this.#answering = true;
    if (this.#over) this.#inFlight.end();
    else this.#raw.cork(write);
  }

  #writeHead(reply: WireReply, lastOnConnection: boolean): void {
    this.#raw.writeStatus(`${reply.status} ${reply.reason}`);
    for (const [name, value] of reply.headers) this.#raw.writeHeader(name, value);
    if (lastOnConnection) this.#raw.writeHeader('Connection', 'close');
  }

  /** Sends it as the client reads it, so that closing waits for a slow client. */
  #writeBody(body: Buffer, from = 0): void {
    if (this.#tryBody(body, from)) return;
    this.#raw.onWritable((offset) => this.#tryBody(body, offset));
  }

  #tryBody(body: Buffer, from: number): boolean {
    const [, ended] = this.#raw.tryEnd(from > 0 ? body.subarray(from) : body, body.length);
    if (ended) this.#end();
    return ended;
  }

  /**
   * The length is set as a header: given as the argument, uWebSockets considers the response unfinished and closes on
   * the next request; `undefined` becomes 2^63.
   */
  #endWithoutBody(reply: WireReply): void {
    if (reply.length !== null) this.#raw.writeHeader('Content-Length', String(reply.length));
    this.#raw.endWithoutBody();
    this.#end();
  }

  #pause(paused: boolean): void {
    if (this.#over || this.#readingStopped || this.#paused === paused) return;
    this.#paused = paused;
    if (paused) this.#raw.pause();
    else this.#raw.resume();
  }

  /**
   * uWebSockets closes a connection, without any answer, 8 to 12 s after a body has begun, unless it brings 16 KiB a second.
   * That time begins anew when reading does.
   */
  #keepOpen(): void {
    if (this.#over || this.#readingStopped || this.#paused) return;
    this.#raw.pause();
    this.#raw.resume();
  }

  #end(): void {
    this.#over = true;
    this.#inFlight.end();
  }
}
