// A client that says to an SMTP server exactly what a test wants, octet by octet, and hands out the
// replies one by one.
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { patience } from './patience.ts';

const PATIENCE_MS = 10_000;
/** For the reply to a final dot: the mail may still have to become durable, beside others of its size. */
const AFTER_DOT_MS = 60_000;

export class SmtpClient {
  #socket: Socket;
  #heard = '';
  #isOver = false;
  #waiting: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen(socket);
  }

  /** After the greeting. */
  static async open(
    port: number,
    from = '127.0.0.1',
    host = '127.0.0.1',
  ): Promise<{ client: SmtpClient; greeting: string }> {
    const client = new SmtpClient(connect({ port, host, localAddress: from }));
    return { client, greeting: await client.reply() };
  }

  /** After EHLO. */
  static async hello(port: number, from?: string, host?: string): Promise<SmtpClient> {
    const { client } = await SmtpClient.open(port, from, host);
    await client.ask('EHLO client.test');
    return client;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  write(octets: string | Buffer): void {
    this.#socket.write(octets);
  }

  /** One command, its whole reply. */
  ask(command: string): Promise<string> {
    this.write(`${command}\r\n`);
    return this.reply();
  }

  /** The next reply with all its lines; empty when the connection is over. */
  async reply(silenceMs = PATIENCE_MS): Promise<string> {
    for (;;) {
      const whole = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\r\n/.exec(this.#heard)?.[0];
      if (whole !== undefined) {
        this.#heard = this.#heard.slice(whole.length);
        return whole.trimEnd();
      }
      if (this.#isOver) return '';
      await this.#more(silenceMs);
    }
  }

  /** The reply to the final dot of a mail. */
  replyToMail(): Promise<string> {
    return this.reply(AFTER_DOT_MS);
  }

  /** MAIL, RCPT and DATA; the reply to each that was refused, or to the final dot. */
  async send(mail: { from: string; to: string; data: string | Buffer }): Promise<string> {
    for (const command of [`MAIL FROM:<${mail.from}>`, `RCPT TO:<${mail.to}>`]) {
      const reply = await this.ask(command);
      if (!reply.startsWith('2')) return reply;
    }
    const go = await this.ask('DATA');
    if (!go.startsWith('354')) return go;
    this.write(typeof mail.data === 'string' ? mail.data.replace(/^\./gm, '..') : mail.data);
    this.write('\r\n.\r\n');
    return this.replyToMail();
  }

  async startTls(options: ConnectionOptions): Promise<ReturnType<typeof connectTls>> {
    await this.ask('STARTTLS');
    return this.secure(options);
  }

  /** The handshake alone. */
  async secure(options: ConnectionOptions): Promise<ReturnType<typeof connectTls>> {
    this.#socket.removeAllListeners('data');
    const secure = connectTls({ socket: this.#socket, ...options });
    this.#socket = secure;
    await new Promise<void>((resolve, reject) => secure.once('secureConnect', resolve).once('error', reject));
    this.#listen(secure);
    return secure;
  }

  /** Settles when the other side has ended the connection. */
  async ended(): Promise<void> {
    while (!this.#isOver) await this.#more();
  }

  close(): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    const wake = () => this.#waiting?.();
    socket.on('data', (part: Buffer) => {
      this.#heard += part.toString('latin1');
      wake();
    });
    const over = () => {
      this.#isOver = true;
      wake();
    };
    socket.on('end', over).on('close', over).on('error', over);
  }

  /** A server that still takes what was written is not silent. */
  #more(silenceMs = PATIENCE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      let unsent = this.#socket.writableLength;
      const look = () => {
        const before = unsent;
        unsent = this.#socket.writableLength;
        if (unsent === before) reject(new Error(`the server is silent after: ${this.#heard}`));
        else timer = setTimeout(look, patience(silenceMs));
      };
      let timer = setTimeout(look, patience(silenceMs));
      this.#waiting = () => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve();
      };
    });
  }
}
