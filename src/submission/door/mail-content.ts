// The content of one mail as it arrives at the SMTP door: bounded, and with CR LF as the only line end. Where servers
// disagree about line ends, a mail can smuggle a second one past the first server, so nothing is repaired. A refused
// mail is read to its end and dropped, because only a reply after the final dot is final: many clients send a mail again
// when the connection is cut.

import type { SMTPServerDataStream } from 'smtp-server';
import { lineAt } from '../../smtp-listener/line-ends.ts';
import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';

export interface ContentLimits {
  maxBytes: number;
  /** Counts bytes of all mails that are arriving; false: there is no room. */
  take(bytes: number): boolean;
}

export const NO_ROOM: SmtpReply = {
  code: 452,
  text: '4.3.1 Too much mail is arriving at the moment; try again later',
};

/** Beyond so many times its limit, a mail is not read any further. */
const READ_FACTOR = 4;

export class MailContent implements AsyncIterable<Buffer> {
  readonly #stream: SMTPServerDataStream;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #limits: ContentLimits;
  readonly #lineEnds = new LineEnds();
  #bytes = 0;
  #refusal: SmtpReply | null = null;
  #endsSession = false;
  #isAborted = false;

  constructor(stream: SMTPServerDataStream, limits: ContentLimits) {
    this.#stream = stream;
    this.#chunks = stream.iterator({ destroyOnReturn: false });
    this.#limits = limits;
  }

  /** Why the mail is refused whatever else is decided; null: it is not. */
  get refusal(): SmtpReply | null {
    return this.#refusal;
  }

  /** After this refusal, the connection ends. */
  get endsSession(): boolean {
    return this.#endsSession;
  }

  /** The client went away before the final dot. */
  get isLost(): boolean {
    return this.#stream.destroyed && !this.#stream.writableEnded;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (let chunk = await this.#next(); chunk; chunk = await this.#next()) {
      if (this.#refusal === null) yield chunk;
    }
    if (this.#refusal) throw new Error(`the mail is refused: ${this.#refusal.text}`);
  }

  /** Reads what nobody has read, and drops it. */
  async drain(): Promise<void> {
    while (await this.#next());
  }

  /** Null at the end. */
  async #next(): Promise<Buffer | null> {
    if (this.#isAborted) return null;
    const { done, value } = await this.#chunks.next();
    if (done) {
      this.#refuseLine(this.#lineEnds.end());
      return null;
    }
    this.#bytes += value.length;
    this.#check(value);
    return this.#isAborted ? null : value;
  }

  #check(chunk: Buffer): void {
    const { maxBytes, take } = this.#limits;
    this.#refuseLine(this.#lineEnds.push(chunk));
    if (this.#bytes > maxBytes) {
      this.#refusal ??= { code: 552, text: `5.3.4 The message exceeds ${maxBytes} bytes; send a smaller one` };
      if (this.#bytes > READ_FACTOR * maxBytes) this.#abort();
    } else if (!take(chunk.length)) {
      this.#refusal ??= NO_ROOM;
      this.#abort();
    }
  }

  #abort(): void {
    this.#isAborted = true;
    this.#endsSession = true;
  }

  #refuseLine(fault: LineFault | null): void {
    if (fault === null || this.#refusal) return;
    const text = `5.6.0 Line ${fault.line} has ${fault.has}; lines must end with CR LF, and NUL is not allowed`;
    this.#refusal = { code: 550, text };
    this.#endsSession = true;
  }
}

interface LineFault {
  line: number;
  has: 'a bare CR or LF' | 'a NUL byte';
}

const CR = 0x0d;
const LF = 0x0a;

/** Checks line ends over chunks that may begin and end anywhere. */
class LineEnds {
  #line = 1;
  #isAfterCr = false;

  push(chunk: Buffer): LineFault | null {
    const nul = chunk.indexOf(0);
    if (nul >= 0) return { line: this.#line + lineAt(chunk, nul) - 1, has: 'a NUL byte' };
    let from = 0;
    if (this.#isAfterCr) {
      if (chunk[0] !== LF) return this.#bare();
      this.#line++;
      from = 1;
    }
    this.#isAfterCr = false;
    let [cr, lf] = [chunk.indexOf(CR, from), chunk.indexOf(LF, from)];
    while (cr >= 0 || lf >= 0) {
      if (lf < 0 && cr === chunk.length - 1) {
        this.#isAfterCr = true;
        return null;
      }
      if (cr < 0 || lf !== cr + 1) return this.#bare();
      this.#line++;
      [cr, lf] = [chunk.indexOf(CR, lf + 1), chunk.indexOf(LF, lf + 1)];
    }
    return null;
  }

  end(): LineFault | null {
    return this.#isAfterCr ? this.#bare() : null;
  }

  #bare(): LineFault {
    return { line: this.#line, has: 'a bare CR or LF' };
  }
}
