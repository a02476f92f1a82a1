// What has to be known about the body of a written mail, found while it arrives: its size, its DKIM body hash, and
// whether it needs a server with 8BITMIME. Keeps nothing of it.
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { BodyCanonicalizer } from '../dkim/dkim-canonical.ts';

export interface BodyFacts {
  bytes: number;
  /** As hashBody() computes it. */
  bodyHash: string;
  /** Has octets above 127. */
  eightBit: boolean;
}

/** Takes the body in chunks, which may end anywhere. Every line ends with CRLF, as SMTP transmits a mail. */
export class WrittenBody {
  readonly #hash = createHash('sha256');
  readonly #canonicalizer = new BodyCanonicalizer((octets) => this.#hash.update(octets));
  #bytes = 0;
  #eightBit = false;

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#eightBit ||= !isAscii(chunk);
    this.#canonicalizer.push(chunk);
  }

  end(): BodyFacts {
    this.#canonicalizer.end();
    return { bytes: this.#bytes, bodyHash: this.#hash.digest('base64'), eightBit: this.#eightBit };
  }
}
