// A process that sends one file to many recipients in the cheapest way: it reads the row, encodes it and writes it, for
// each message anew, on as many connections as the daemon may have.
import { connect, type Socket } from 'node:net';
import Database from 'better-sqlite3';
import { base64LinesLength, writeBase64Lines } from '../src/protocol/mail/compose/base64-lines.ts';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';

export interface BareAttachmentJob {
  smtpPort: number;
  /** A table `files` with a column `content`, and one row. */
  databaseFile: string;
  connections: number;
  messages: number;
}

export interface BareAttachmentReport {
  ms: number;
}

type Waiting = 'greeting' | 'ehlo' | 'data' | 'dot';

/** The reply that ends each wait. */
const AWAITED: Record<Waiting, string> = { greeting: '220 ', ehlo: '250 ', data: '354 ', dot: '250 ' };
const ENVELOPE = 'MAIL FROM:<a@sender.test>\r\nRCPT TO:<b@in1.test>\r\nDATA\r\n';
const HEADER = Buffer.from(
  'Subject: bare\r\nMessage-ID: <bare@sender.test>\r\nContent-Transfer-Encoding: base64\r\n\r\n',
);
const END = Buffer.from('\r\n.\r\n');

interface Work {
  read(): Buffer;
  /** False when all have been sent. */
  next(): boolean;
}

class Sender {
  readonly over = Promise.withResolvers<void>();
  readonly #work: Work;
  readonly #socket: Socket;
  #waiting: Waiting = 'greeting';
  #heard = '';

  constructor(smtpPort: number, work: Work) {
    this.#work = work;
    this.#socket = connect({ host: '127.0.0.1', port: smtpPort, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('error', (error) => this.over.reject(error));
    this.#socket.on('close', () => this.over.reject(new Error('connection closed by the sink')));
    this.#socket.on('data', (text: string) => this.#hear(text));
  }

  #hear(text: string): void {
    this.#heard += text;
    if (!this.#heard.endsWith('\r\n')) return;
    if (!this.#heard.split('\r\n').at(-2)!.startsWith(AWAITED[this.#waiting])) return;
    this.#heard = '';
    if (this.#waiting === 'greeting') this.#say('EHLO bench.test\r\n', 'ehlo');
    else if (this.#waiting === 'data') this.#say(encoded(this.#work.read()), 'dot');
    else if (this.#work.next()) this.#say(ENVELOPE, 'data');
    else {
      this.over.resolve();
      this.#socket.end('QUIT\r\n');
    }
  }

  #say(what: string | Buffer, waiting: Waiting): void {
    this.#waiting = waiting;
    this.#socket.write(what);
  }
}

function encoded(content: Buffer): Buffer {
  const message = Buffer.allocUnsafe(HEADER.length + base64LinesLength(content.length) + END.length);
  const start = HEADER.copy(message);
  END.copy(message, writeBase64Lines(content, message, start));
  return message;
}

answerParent<BareAttachmentJob, BareAttachmentReport>(async ({ smtpPort, databaseFile, connections, messages }) => {
  const db = new Database(databaseFile, { readonly: true });
  const row = db.prepare('SELECT content FROM files').pluck();
  let left = messages;
  const work: Work = { read: () => row.get() as Buffer, next: () => left-- > 0 };
  const startedAtMs = monotonicMs();
  await Promise.all(Array.from({ length: connections }, () => new Sender(smtpPort, work).over.promise));
  const ms = monotonicMs() - startedAtMs;
  db.close();
  return { ms };
});
