// A scripted SMTP server for tests: it says exactly what the script says, byte by byte if it
// must, and nothing else. One script per connection; the last one serves all further ones.
// A client that speaks differently from the script fails `close()`, and with it the test.
//   await startPeer([async (c) => { await c.welcome('PIPELINING'); await c.takeMessage(); c.say('250 ok'); }])
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } from './smtp-peer-tls.ts';

export type PeerScript = (connection: PeerConnection) => Promise<void> | void;

export interface Peer {
  port: number;
  /** Every line that clients have sent, bodies excepted, in order of arrival. */
  heard: string[];
  /** Bodies as they came, dot-stuffed, without the final dot. */
  bodies: Buffer[];
  connections: number;
  /** Drops what is open and rejects with the first thing that went against a script. */
  close(): Promise<void>;
}

export async function startPeer(scripts: readonly PeerScript[]): Promise<Peer> {
  const sockets = new Set<Socket>();
  const complaints: unknown[] = [];
  let closing = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const script = scripts[Math.min(peer.connections++, scripts.length - 1)]!;
    Promise.resolve(script(new PeerConnection(socket, peer))).catch((error) => {
      if (!closing) complaints.push(error);
      socket.destroy();
    });
  });
  const port = await listen(server);
  const peer: Peer = {
    port,
    heard: [],
    bodies: [],
    connections: 0,
    async close() {
      closing = true;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (complaints.length > 0) throw complaints[0];
    },
  };
  return peer;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}

/** What a script can do with its connection. */
export class PeerConnection {
  socket: Socket;
  readonly #peer: Peer;
  #buffer: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(socket: Socket, peer: Peer) {
    this.socket = socket;
    this.#peer = peer;
    this.#listen();
  }

  /** Lines, each with CRLF, in one write. */
  say(...lines: string[]): void {
    this.sayRaw(`${lines.join('\r\n')}\r\n`);
  }

  sayRaw(bytes: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** The same in packets of one byte. */
  async saySlowly(bytes: string): Promise<void> {
    this.socket.setNoDelay(true);
    for (const byte of Buffer.from(bytes)) {
      await new Promise((resolve) => this.socket.write(Buffer.of(byte), resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits for one line and insists on its beginning. */
  async expect(start: string): Promise<string> {
    const line = await this.#takeLine();
    this.#peer.heard.push(line);
    if (!line.toUpperCase().startsWith(start.toUpperCase())) throw new Error(`expected ${start}, heard ${line}`);
    return line;
  }

  /** `expect`, then `say`. */
  async answer(start: string, ...lines: string[]): Promise<string> {
    const line = await this.expect(start);
    this.say(...lines);
    return line;
  }

  /** 220 and an EHLO reply with these keywords. */
  async welcome(...keywords: string[]): Promise<void> {
    this.say('220 mx.peer.test ESMTP');
    await this.hello(...keywords);
  }

  async hello(...keywords: string[]): Promise<void> {
    const lines = ['mx.peer.test', ...keywords];
    await this.answer('EHLO', ...lines.map((line, at) => `250${at < lines.length - 1 ? '-' : ' '}${line}`));
  }

  /** One message that goes well, up to and with its body; the reply to the dot is the script's. */
  async takeMessage(): Promise<Buffer> {
    await this.answer('MAIL FROM:', '250 2.1.0 sender ok');
    await this.answer('RCPT TO:', '250 2.1.5 recipient ok');
    await this.answer('DATA', '354 go ahead');
    return await this.takeBody();
  }

  /** The commands of a message, not answered yet. */
  async hearCommands(): Promise<void> {
    for (const command of ['MAIL FROM:', 'RCPT TO:', 'DATA']) await this.expect(command);
  }

  /** As a server with PIPELINING: a first message up to its dot, and the commands of the next one behind it. */
  async hearFirstAndCommands(): Promise<void> {
    await this.welcome('PIPELINING');
    await this.takeMessage();
    await this.hearCommands();
  }

  /** That the client has sent nothing beyond what was read. */
  assertQuiet(): void {
    if (this.#buffer.length > 0) throw new Error(`the client speaks out of turn: ${this.#buffer.toString('latin1')}`);
  }

  /** The bytes up to the final dot. */
  async takeBody(): Promise<Buffer> {
    for (;;) {
      if (this.#buffer.subarray(0, 3).equals(Buffer.from('.\r\n'))) return this.#cutBody(0, 3);
      const end = this.#buffer.indexOf('\r\n.\r\n');
      if (end >= 0) return this.#cutBody(end + 2, end + 5);
      await this.#more();
    }
  }

  /** Reads nothing more, so that the client's window fills up. */
  stopReading(): void {
    this.socket.pause();
  }

  /** Answers 220 to STARTTLS (unless told otherwise) and does the handshake. */
  async startTls(reply = '220 2.0.0 go ahead\r\n'): Promise<void> {
    await this.expect('STARTTLS');
    this.sayRaw(reply);
    this.socket.removeAllListeners('data');
    const secureContext = createSecureContext({ key: TEST_ONLY_KEY, cert: TEST_ONLY_CERTIFICATE });
    const secured = new TLSSocket(this.socket, { isServer: true, secureContext });
    secured.on('error', () => {});
    await new Promise((resolve, reject) => {
      secured.on('secure', resolve);
      secured.on('close', () => reject(new Error('closed during the TLS handshake')));
    });
    this.socket = secured;
    this.#listen();
  }

  /** FIN. */
  hangUp(): void {
    this.socket.end();
  }

  /** RST. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Until the client closes the connection. */
  async closed(): Promise<void> {
    while (!this.#ended) await this.#more().catch(() => {});
  }

  #listen(): void {
    this.socket.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      this.#wake?.();
    });
    const ended = () => {
      this.#ended = true;
      this.#wake?.();
    };
    this.socket.on('error', ended);
    this.socket.on('end', ended);
    this.socket.on('close', ended);
  }

  async #takeLine(): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n');
      if (end >= 0) {
        const line = this.#buffer.toString('utf8', 0, end);
        this.#buffer = this.#buffer.subarray(end + 2);
        return line;
      }
      await this.#more();
    }
  }

  #cutBody(end: number, next: number): Buffer {
    const body = this.#buffer.subarray(0, end);
    this.#buffer = this.#buffer.subarray(next);
    this.#peer.bodies.push(body);
    return body;
  }

  async #more(): Promise<void> {
    if (this.#ended) throw new Error(`the client is gone, left: ${this.#buffer.toString('latin1').slice(0, 80)}`);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
