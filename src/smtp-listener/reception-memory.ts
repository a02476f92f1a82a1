// The bytes of all mails that a listener is receiving, and their limit: large mails are rare, and many at once must not
// exhaust what the daemon has. One network may have a share of it, so that others always find room.
import { networkOf } from '../base/ip-address.ts';

export class ReceptionMemory {
  readonly #maxBytes: number;
  readonly #maxBytesPerNetwork: number;
  #bytes = 0;
  /** Of networks that hold any. */
  readonly #byNetwork = new Map<string, number>();

  constructor(maxBytes: number, maxBytesPerNetwork = maxBytes) {
    this.#maxBytes = maxBytes;
    this.#maxBytesPerNetwork = maxBytesPerNetwork;
  }

  /** For a mail of this peer. */
  isFull(ip: string): boolean {
    return this.#bytes >= this.#maxBytes || this.#bytesOf(networkOf(ip)) >= this.#maxBytesPerNetwork;
  }

  /** Memory that `take` counts is released when `work` settles, or before that by a negative number. */
  async hold<T>(ip: string, work: (take: (bytes: number) => boolean) => Promise<T>): Promise<T> {
    let held = 0;
    const take = (bytes: number) => {
      held += bytes;
      this.#count(networkOf(ip), bytes);
      return !this.isFull(ip);
    };
    try {
      return await work(take);
    } finally {
      this.#count(networkOf(ip), -held);
    }
  }

  #bytesOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  #count(network: string, bytes: number): void {
    this.#bytes += bytes;
    const held = this.#bytesOf(network) + bytes;
    if (held === 0) this.#byNetwork.delete(network);
    else this.#byNetwork.set(network, held);
  }
}
