// Receives the data of one mail, within limits on its size and on the memory of all mails being
// received; the listener's timeouts limit its time.
import type { SMTPServerDataStream } from 'smtp-server';
import { bareLineEndAt, lineAt } from './line-ends.ts';

export interface SmtpReply {
  code: number;
  /** Begins with an enhanced code (RFC 3463). */
  text: string;
}

export type Received =
  | { kind: 'mail'; content: Buffer }
  | { kind: 'refused'; why: Refusal; reply: SmtpReply; sizeBytes: number; hangUp: boolean };

export type Refusal = 'bare_line_end' | 'too_large' | 'no_room';

export interface ReceptionLimits {
  maxBytes: number;
  maxReadBytes: number;
  reply: SmtpReply;
  take(bytes: number): boolean;
}

export class ReceptionMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Memory that `take` counts is released when `work` settles, or before that by a negative number. */
  async hold<T>(work: (take: (bytes: number) => boolean) => Promise<T>): Promise<T> {
    let held = 0;
    const take = (bytes: number) => {
      held += bytes;
      this.#bytes += bytes;
      return !this.isFull;
    };
    try {
      return await work(take);
    } finally {
      this.#bytes -= held;
    }
  }
}

export const NO_ROOM: SmtpReply = { code: 452, text: '4.3.1 No storage for mail at the moment; try again later' };

/**
 * Rejects when the connection is lost; `reply` is for a mail larger than `maxBytes`. Such a mail is read and dropped up
 * to its end, because only a reply after the final dot is final: a sender whose connection is cut retries for days.
 * Beyond `maxReadBytes` it is cut off all the same.
 */
export async function receive(
  stream: SMTPServerDataStream,
  { maxBytes, maxReadBytes, reply, take }: ReceptionLimits,
): Promise<Received> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxReadBytes) {
      return { kind: 'refused', why: 'too_large', reply, sizeBytes: bytes, hangUp: true };
    }
    if (bytes > maxBytes) {
      take(-chunks.reduce((sum, { length }) => sum + length, 0));
      chunks.length = 0;
      continue;
    }
    if (!take(chunk.length)) {
      return { kind: 'refused', why: 'no_room', reply: NO_ROOM, sizeBytes: bytes, hangUp: true };
    }
    chunks.push(chunk);
  }
  if (bytes > maxBytes) return { kind: 'refused', why: 'too_large', reply, sizeBytes: bytes, hangUp: false };
  const content = Buffer.concat(chunks, bytes);
  const bareAt = bareLineEndAt(content);
  if (bareAt < 0) return { kind: 'mail', content };
  const text = `5.6.11 Line ${lineAt(content, bareAt)} of the mail has a bare CR or LF; lines must end with CR LF (RFC 5321 section 2.3.8)`;
  return { kind: 'refused', why: 'bare_line_end', reply: { code: 554, text }, sizeBytes: bytes, hangUp: false };
}
