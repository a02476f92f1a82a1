// A process that receives mail as fast as it can: SMTP with pipelining on bare sockets (RFC 5321,
// RFC 2920), no TLS, everything accepted and thrown away. It notes when each message arrived, by
// its Message-ID, and tells whoever connects to a second port how many it has.
import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';

export type SinkRequest =
  /** `greets: false`: connections are taken and never hear a word. */
  | { kind: 'start'; greets: boolean }
  | { kind: 'total' }
  /** Writes a line `<left side of Message-ID> <monotonic ms>` per message since the last call. */
  | { kind: 'arrivals'; file: string };

export interface SinkAnswer {
  smtpPort: number;
  progressPort: number;
  total: number;
  /** Of messages, with their ends. */
  bytes: number;
}

const CRLF = Buffer.from('\r\n');
const END_OF_DATA = Buffer.from('\r\n.\r\n');
// As the daemon writes it; a general parser would cost more than the rest of the sink.
const MESSAGE_ID = Buffer.from('\r\nMessage-ID: <');
const AT = 0x40;
// A thousand times a second would cost the processors that are measured a hundredth of what they do.
const PROGRESS_EVERY_MS = 5;

const NO_BYTES = Buffer.alloc(0);
const arrivals: string[] = [];
let total = 0;
let bytes = 0;

function noteArrival(message: Buffer, length: number): void {
  total++;
  bytes += length;
  const start = message.indexOf(MESSAGE_ID) + MESSAGE_ID.length;
  const id = start < MESSAGE_ID.length ? '-' : message.toString('latin1', start, message.indexOf(AT, start));
  arrivals.push(`${id} ${monotonicMs()}`);
  progress.changed();
}

/** The running total, a line each, to the load generator that keeps the queue short. */
class Progress {
  readonly #listeners = new Set<Socket>();
  #timer: NodeJS.Timeout | null = null;

  add(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#listeners.delete(socket));
    this.#listeners.add(socket);
    socket.write(`${total}\n`);
  }

  changed(): void {
    if (this.#listeners.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const socket of this.#listeners) socket.write(`${total}\n`);
    }, PROGRESS_EVERY_MS);
  }
}
const progress = new Progress();

const REPLIES: Record<string, string> = {
  EHLO: '250-sink.test\r\n250-PIPELINING\r\n250-SIZE 10485760\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 ENHANCEDSTATUSCODES\r\n',
  HELO: '250 sink.test\r\n',
  MAIL: '250 2.1.0 OK\r\n',
  RCPT: '250 2.1.5 OK\r\n',
  RSET: '250 2.0.0 OK\r\n',
  NOOP: '250 2.0.0 OK\r\n',
  DATA: '354 go ahead\r\n',
};

// Messages beyond this are only counted: collecting megabytes would cost more than receiving them.
const KEPT_BYTES = 16 * 1024;

/** One connection. What could not be used yet waits in `#rest`. */
class Peer {
  readonly #socket: Socket;
  #rest: Buffer = NO_BYTES;
  #inData = false;
  /** The beginning of a large message, and how much of it was let go. */
  #start: Buffer | null = null;
  #dropped = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    socket.write('220 sink.test ESMTP\r\n');
  }

  #hear(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let replies = '';
    for (let reply = this.#next(); reply !== null; reply = this.#next()) replies += reply;
    if (replies !== '') this.#socket.write(replies);
  }

  /** The answer to the next command or message; null when it is not complete. */
  #next(): string | null {
    return this.#inData ? this.#message() : this.#command();
  }

  #message(): string | null {
    // The CRLF of DATA itself is kept in front, so that an empty message ends like any other.
    const end = this.#rest.indexOf(END_OF_DATA);
    if (end < 0) {
      this.#dropRest();
      return null;
    }
    const next = end + END_OF_DATA.length;
    noteArrival(this.#start ?? this.#rest.subarray(0, end), this.#dropped + next);
    this.#rest = this.#rest.subarray(next);
    this.#start = null;
    this.#dropped = 0;
    this.#inData = false;
    return '250 2.0.0 taken\r\n';
  }

  /** All but what may be the beginning of the end. */
  #dropRest(): void {
    const excess = this.#rest.length - (END_OF_DATA.length - 1);
    if (excess < KEPT_BYTES && this.#start === null) return;
    this.#start ??= this.#rest.subarray(0, KEPT_BYTES);
    this.#dropped += Math.max(0, excess);
    this.#rest = this.#rest.subarray(Math.max(0, excess));
  }

  #command(): string | null {
    const end = this.#rest.indexOf(CRLF);
    if (end < 0) return null;
    const verb = this.#rest.toString('latin1', 0, Math.min(4, end)).toUpperCase();
    this.#inData = verb === 'DATA';
    this.#rest = this.#rest.subarray(this.#inData ? end : end + CRLF.length);
    if (verb !== 'QUIT') return REPLIES[verb] ?? '500 5.5.1 unknown\r\n';
    this.#socket.end('221 2.0.0 bye\r\n');
    return null;
  }
}

async function listen(server: Server): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

let smtpPort = 0;
let progressPort = 0;

answerParent<SinkRequest, SinkAnswer>(async (request) => {
  if (request.kind === 'start') {
    const { greets } = request;
    smtpPort = await listen(
      createServer((socket) => (greets ? void new Peer(socket) : void socket.on('error', () => {}))),
    );
    progressPort = await listen(createServer((socket) => progress.add(socket)));
  }
  if (request.kind === 'arrivals') fs.writeFileSync(request.file, arrivals.splice(0).join('\n'));
  return { smtpPort, progressPort, total, bytes };
});
