// Speaks HTTP/1.1 over a bare socket, for tests that need to send what no client library
// would: in pieces, malformed, too long, or not to the end. Reads whole answers back.
//
//   const connection = await RawHttp.connect(port);
//   await connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
//   const { status, headers, text } = await connection.answer();
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { patience } from './patience.ts';

export interface RawAnswer {
  status: number;
  /** By lower-case name; repeated lines are joined by line feeds. */
  headers: Map<string, string>;
  /** As it stood on the wire, chunked coding removed. */
  text: string;
}

export interface RawAnswerOptions {
  /** The answer belongs to a HEAD request: it has no body, whatever its headers say. */
  head?: boolean;
}

const PATIENCE_MS = 10_000;

export class RawHttp {
  readonly socket: Socket;
  #pieces: Buffer[] = [];
  #size = 0;
  #ended = false;
  #wake: () => void = () => {};

  static async connect(port: number, host = '127.0.0.1'): Promise<RawHttp> {
    const socket = connectTcp({ port, host });
    await once(socket, 'connect');
    return new RawHttp(socket);
  }

  /** Takes any certificate: look at `(connection.socket as TLSSocket).getPeerCertificate()`. */
  static async connectTls(port: number, host = '127.0.0.1'): Promise<RawHttp> {
    const socket: TLSSocket = connectTls({ port, host, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return new RawHttp(socket);
  }

  constructor(socket: Socket) {
    this.socket = socket;
    const ended = () => {
      this.#ended = true;
      this.#wake();
    };
    socket.setNoDelay(true);
    socket.on('data', (bytes) => {
      this.#pieces.push(bytes);
      this.#size += bytes.length;
      this.#wake();
    });
    socket.on('end', ended).on('close', ended).on('error', ended);
  }

  /** Resolves when the system has taken the bytes; false if the other side does not take them. */
  send(bytes: string | Buffer): Promise<boolean> {
    return new Promise((resolve) => this.socket.write(bytes, (error) => resolve(!error)));
  }

  /** The next whole answer; informational ones (100) count. */
  async answer(options: RawAnswerOptions = {}): Promise<RawAnswer> {
    const head = await this.#take(() => {
      const end = this.#received().indexOf('\r\n\r\n');
      return end < 0 ? null : end + 4;
    });
    const [statusLine = '', ...lines] = head.toString('latin1').trimEnd().split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name = line, value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
      const earlier = headers.get(name.toLowerCase());
      headers.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}\n${value}`);
    }
    const bodiless = options.head || status < 200 || status === 204 || status === 304;
    return { status, headers, text: bodiless ? '' : (await this.#body(headers)).toString() };
  }

  /** Everything until the other side closes. */
  async rest(): Promise<string> {
    return (await this.#untilClosed()).toString();
  }

  /** No more requests will come, but answers are still read. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #body(headers: Map<string, string>): Promise<Buffer> {
    const length = headers.get('content-length');
    if (length !== undefined) {
      return this.#take(() => (this.#size < Number(length) ? null : Number(length)));
    }
    if (headers.get('transfer-encoding') !== 'chunked') return this.#untilClosed();
    const parts: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt((await this.#line()).toString(), 16);
      const part = await this.#take(() => (this.#size < size + 2 ? null : size + 2));
      if (size === 0) return Buffer.concat(parts);
      parts.push(part.subarray(0, size));
    }
  }

  #line(): Promise<Buffer> {
    return this.#take(() => {
      const end = this.#received().indexOf('\r\n');
      return end < 0 ? null : end + 2;
    });
  }

  #untilClosed(): Promise<Buffer> {
    return this.#take(() => (this.#ended ? this.#size : null));
  }

  /** Waits until `enough` says how many bytes to take. */
  async #take(enough: () => number | null): Promise<Buffer> {
    const deadline = Date.now() + patience(PATIENCE_MS);
    for (;;) {
      const count = enough();
      if (count !== null) {
        const received = this.#received();
        this.#pieces = [received.subarray(count)];
        this.#size -= count;
        return received.subarray(0, count);
      }
      if (this.#ended) throw new Error(`closed after ${this.#shown()}`);
      if (Date.now() >= deadline) throw new Error(`no more after ${this.#shown()}`);
      await this.#more(deadline - Date.now());
    }
  }

  #received(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #more(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #shown(): string {
    return JSON.stringify(this.#received().subarray(0, 500).toString('latin1'));
  }
}

/** One request on a connection of its own. */
export async function askOnce(port: number, request: string | Buffer, options?: RawAnswerOptions): Promise<RawAnswer> {
  const connection = await RawHttp.connect(port);
  try {
    await connection.send(request);
    return await connection.answer(options);
  } finally {
    connection.destroy();
  }
}
