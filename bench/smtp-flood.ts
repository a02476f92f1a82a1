// A process that sends one ready-made message over and over: to the sink, what a client can hand over when nothing has to
// be stored, composed or signed; to the SMTP door, what an application can. MAIL, RCPT and DATA in one write.
import { connect, type Socket } from 'node:net';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';

export interface FloodJob {
  smtpPort: number;
  connections: number;
  durationMs: number;
  messageBytes: number;
  /** For the SMTP door. */
  application?: { key: string; from: string; to: string };
}

export interface FloodReport {
  perSecond: number;
}

type Waiting = 'greeting' | 'ehlo' | 'auth' | 'data' | 'dot';

/** The reply that ends each wait; the ones that come before it in the same group are not looked at. */
const AWAITED: Record<Waiting, string> = { greeting: '220 ', ehlo: '250 ', auth: '235 ', data: '354 ', dot: '250 ' };

const NOBODY = { from: 'a@sender.test', to: 'b@in1.test' };
const LINE = `${'x'.repeat(74)}\r\n`;

class Flood {
  readonly over = Promise.withResolvers<number>();
  readonly #message: Buffer;
  readonly #envelope: string;
  readonly #login: string | null;
  readonly #endsAtMs: number;
  readonly #socket: Socket;
  #waiting: Waiting = 'greeting';
  #heard = '';
  #taken = 0;

  constructor({ smtpPort, messageBytes, durationMs, application }: FloodJob) {
    const { from, to } = application ?? NOBODY;
    this.#envelope = `MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`;
    this.#login = application ? Buffer.from(`\0bench\0${application.key}`).toString('base64') : null;
    const body = LINE.repeat(Math.ceil(messageBytes / LINE.length));
    this.#message = Buffer.from(
      `From: ${from}\r\nTo: ${to}\r\nSubject: flood\r\nMessage-ID: <flood@sender.test>\r\n\r\n${body}.\r\n`,
    );
    this.#endsAtMs = monotonicMs() + durationMs;
    this.#socket = connect({ host: '127.0.0.1', port: smtpPort, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('error', (error) => this.over.reject(error));
    this.#socket.on('close', () => this.over.reject(new Error('connection closed by the sink')));
    this.#socket.on('data', (text: string) => this.#hear(text));
  }

  #hear(text: string): void {
    this.#heard += text;
    if (!this.#heard.endsWith('\r\n')) return;
    // Otherwise it was half of a multi-line reply, or of the three replies to one write.
    if (!this.#heard.split('\r\n').at(-2)!.startsWith(AWAITED[this.#waiting])) return;
    this.#heard = '';
    this.#proceed();
  }

  #proceed(): void {
    if (this.#waiting === 'greeting') this.#say('EHLO bench.test\r\n', 'ehlo');
    else if (this.#waiting === 'ehlo' && this.#login !== null) this.#say(`AUTH PLAIN ${this.#login}\r\n`, 'auth');
    else if (this.#waiting === 'data') this.#say(this.#message, 'dot');
    else {
      if (this.#waiting === 'dot') this.#taken++;
      if (monotonicMs() < this.#endsAtMs) this.#say(this.#envelope, 'data');
      else {
        this.over.resolve(this.#taken);
        this.#socket.end('QUIT\r\n');
      }
    }
  }

  #say(what: string | Buffer, waiting: Waiting): void {
    this.#waiting = waiting;
    this.#socket.write(what);
  }
}

answerParent<FloodJob, FloodReport>(async (job) => {
  const startedAtMs = monotonicMs();
  const floods = Array.from({ length: job.connections }, () => new Flood(job).over.promise);
  const taken = (await Promise.all(floods)).reduce((sum, count) => sum + count, 0);
  return { perSecond: (taken * 1000) / (monotonicMs() - startedAtMs) };
});
