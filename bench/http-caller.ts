// One keep-alive connection to the daemon's API, on a bare socket: a full HTTP client would use more
// of the two cores than the daemon's own HTTP server. It reads no more of an answer than it needs
// and expects answers with Content-Length and an ASCII body.
import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  body: string;
}

export class HttpCaller {
  readonly #socket: Socket;
  #heard = '';
  #settle: ((answer: HttpAnswer) => void) | null = null;
  #onLoss: (why: string) => void;

  constructor(port: number, onLoss: (why: string) => void) {
    this.#onLoss = onLoss;
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#hear(text));
    this.#socket.on('error', (error) => this.#onLoss(error.message));
    this.#socket.on('close', () => this.#onLoss('connection closed by the daemon'));
  }

  /** One call at a time. */
  call(request: Buffer, settle: (answer: HttpAnswer) => void): void {
    this.#settle = settle;
    this.#socket.write(request);
  }

  close(): void {
    this.#onLoss = () => {};
    this.#socket.destroy();
  }

  #hear(text: string): void {
    this.#heard += text;
    const headEnd = this.#heard.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#heard.slice(0, headEnd))?.[1];
    if (length === undefined) {
      this.#onLoss('an answer without Content-Length');
      return;
    }
    const bodyStart = headEnd + 4;
    if (this.#heard.length < bodyStart + Number(length)) return;
    const answer = { status: Number(this.#heard.slice(9, 12)), body: this.#heard.slice(bodyStart) };
    this.#heard = '';
    const settle = this.#settle;
    this.#settle = null;
    settle?.(answer);
  }
}
