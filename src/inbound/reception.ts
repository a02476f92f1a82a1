// Takes the data of one mail: within the limit of its size, of the time that it may take, and of
// the memory that all mails on their way in may take together.
import type { SMTPServerDataStream } from 'smtp-server';
import { lineAt, loneLineEndAt } from './line-ends.ts';

export interface SmtpReply {
  code: number;
  /** Begins with the enhanced code of RFC 3463. */
  text: string;
}

export type Received =
  | { kind: 'mail'; content: Buffer }
  | { kind: 'refused'; why: Refusal; reply: SmtpReply; sizeOctets: number; hangUp: boolean };

export type Refusal = 'bare_line_end' | 'too_large' | 'no_room';

export interface ReceptionLimits {
  maxOctets: number;
  maxReadOctets: number;
  reply: SmtpReply;
  take(octets: number): boolean;
}

export class ReceptionRoom {
  readonly #mostOctets: number;
  #octets = 0;

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets;
  }

  get isFull(): boolean {
    return this.#octets >= this.#mostOctets;
  }

  /** What is taken is given back when the promise settles: by then the mail is stored or gone. Or before, as less than 0. */
  async hold<T>(work: (take: (octets: number) => boolean) => Promise<T>): Promise<T> {
    let held = 0;
    const take = (octets: number) => {
      held += octets;
      this.#octets += octets;
      return !this.isFull;
    };
    try {
      return await work(take);
    } finally {
      this.#octets -= held;
    }
  }
}

export const NO_ROOM: SmtpReply = { code: 452, text: '4.3.1 No storage for mail at the moment; try again later' };

/**
 * Rejects when the connection breaks off; `reply` is for a mail that is larger than `maxOctets`. Such a mail is read and
 * dropped to its end, because only a reply behind the final dot ends it for good: a sender whose connection is cut tries
 * again for days. Beyond `maxReadOctets` it is cut off all the same.
 */
export async function receive(
  stream: SMTPServerDataStream,
  { maxOctets, maxReadOctets, reply, take }: ReceptionLimits,
): Promise<Received> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > maxReadOctets) {
      return { kind: 'refused', why: 'too_large', reply, sizeOctets: octets, hangUp: true };
    }
    if (octets > maxOctets) {
      take(-chunks.reduce((sum, { length }) => sum + length, 0));
      chunks.length = 0;
      continue;
    }
    if (!take(chunk.length)) {
      return { kind: 'refused', why: 'no_room', reply: NO_ROOM, sizeOctets: octets, hangUp: true };
    }
    chunks.push(chunk);
  }
  if (octets > maxOctets) return { kind: 'refused', why: 'too_large', reply, sizeOctets: octets, hangUp: false };
  const content = Buffer.concat(chunks, octets);
  const loneAt = loneLineEndAt(content);
  if (loneAt < 0) return { kind: 'mail', content };
  const text = `5.6.11 Line ${lineAt(content, loneAt)} of the mail has a bare CR or LF; lines must end with CR LF (RFC 5321 section 2.3.8)`;
  return { kind: 'refused', why: 'bare_line_end', reply: { code: 554, text }, sizeOctets: octets, hangUp: false };
}
