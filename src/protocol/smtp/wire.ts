// One connection as the client sees it: commands are sent, replies arrive in order, and at some point it is lost, once,
// with a reason in words. It knows nothing of commands. Replies that arrived before the loss are still read first.
import type { Socket } from 'node:net';
import { OCTETS } from './dial.ts';
import { type Reply, ReplyParser } from './reply.ts';

/** The connection is lost, with the reason. */
export interface Loss {
  lost: string;
  /** The server closed it, or it broke; otherwise we have given it up. */
  byServer: boolean;
}

// A server that sends unsolicited replies is disconnected before they fill memory.
const MAX_UNREAD_REPLIES = 20;

export class Wire {
  readonly #socket: Socket;
  readonly #parser = new ReplyParser();
  readonly #replies: Reply[] = [];
  #loss: Loss | null = null;
  /** Set while a caller waits for news; called on a reply and on the loss. */
  #wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', this.#hear);
    socket.on(OCTETS, this.#hear);
    socket.on('end', this.#ended);
    socket.on('close', this.#ended);
    // Never removed: a destroyed socket may still report an error.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#lose({ lost: `connection error: ${error.code ?? error.message}`, byServer: true }),
    );
    socket.resume();
  }

  get loss(): Loss | null {
    return this.#loss;
  }

  /** Whether a reply, or part of one, is buffered: on an idle connection it is unsolicited. */
  get hasUnreadReply(): boolean {
    return this.#replies.length > 0 || this.#parser.midReply;
  }

  /** Connected, and no reply is buffered: data may be sent without reading first. */
  get quiet(): boolean {
    return !this.#loss && !this.hasUnreadReply;
  }

  write(text: string): void {
    if (!this.#loss) this.#socket.write(text);
  }

  /** Sends two pieces with one system call. */
  writePair(first: Uint8Array, second: Uint8Array): void {
    if (this.#loss) return;
    this.#socket.cork();
    this.#socket.write(first);
    this.#socket.write(second);
    this.#socket.uncork();
  }

  /** Waits until the system has accepted the block, or until there is news: check `quiet` then. */
  async writeBlock(block: Uint8Array, timeoutMs: number): Promise<void> {
    if (!this.quiet) return;
    const news = this.#news(timeoutMs, 'no data taken');
    const wake = this.#wake;
    this.#socket.write(block, () => {
      if (this.#wake === wake) wake?.();
    });
    await news;
  }

  async readReply(timeoutMs: number): Promise<Reply | Loss> {
    if (this.#replies.length === 0 && !this.#loss) await this.#news(timeoutMs, 'no reply');
    return this.#replies.shift() ?? this.#loss!;
  }

  /** The first call determines the reason. */
  lose(why: string): void {
    this.#lose({ lost: why, byServer: false });
  }

  #lose(loss: Loss): void {
    if (this.#loss) return;
    this.#loss = loss;
    this.#socket.destroy();
    this.#wake?.();
  }

  /** Returns a function that detaches the signal. */
  loseOn(signal: AbortSignal | undefined): () => void {
    const abort = () => this.lose('aborted');
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    return () => signal?.removeEventListener('abort', abort);
  }

  /** Hands the socket over to TLS; this wire must not be used afterwards. */
  detach(): Socket {
    this.#loss = { lost: 'handed over to TLS', byServer: false };
    this.#socket.off('data', this.#hear);
    this.#socket.off(OCTETS, this.#hear);
    this.#socket.off('end', this.#ended);
    this.#socket.off('close', this.#ended);
    this.#socket.pause();
    return this.#socket;
  }

  readonly #hear = (chunk: Buffer): void => {
    if (this.#loss) return;
    const violation = this.#parser.push(chunk, (reply) => this.#replies.push(reply));
    if (violation) this.lose(`protocol error: ${violation}`);
    else if (this.#replies.length > MAX_UNREAD_REPLIES) this.lose('protocol error: more replies than commands');
    else if (this.#replies.length > 0) this.#wake?.();
  };

  readonly #ended = (): void => this.#lose({ lost: 'connection closed by the server', byServer: true });

  #news(timeoutMs: number, complaint: string): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.lose(`${complaint} within ${timeoutMs / 1000} s`), timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }
}
