// Octets that wait for a decision about them, in few buffers: chunks of a few octets each would cost far more than what
// they hold, and one buffer that grows would leave as much again behind.

/** Most headers of parts; so few are taken from Node's pool. */
const FIRST_BYTES = 512;
const MOST_BYTES = 256 * 1024;

export class HeldBytes {
  /** All but the last are full. */
  readonly #blocks: Buffer[] = [];
  #length = 0;
  /** Free at the end of the last block. */
  #free = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      if (this.#free === 0) this.#addBlock(bytes.length - from);
      const last = this.#blocks.at(-1)!;
      const taken = Math.min(this.#free, bytes.length - from);
      bytes.copy(last, last.length - this.#free, from, from + taken);
      this.#free -= taken;
      this.#length += taken;
      from += taken;
    }
  }

  /** As large as all before it. */
  #addBlock(needed: number): void {
    const block = Buffer.allocUnsafe(Math.min(Math.max(FIRST_BYTES, needed, this.#length), MOST_BYTES));
    this.#blocks.push(block);
    this.#free = block.length;
  }

  /** All of them, as long as nothing is added. */
  get blocks(): Buffer[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, index) => (index === last ? block.subarray(0, block.length - this.#free) : block));
  }

  /** The same in one buffer, which is a copy unless there are few. */
  get bytes(): Buffer {
    const { blocks } = this;
    return blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks, this.#length);
  }
}
