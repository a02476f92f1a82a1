// COPY … FROM STDIN, which `pg` leaves to others. It waits for the socket, so that only a few pieces are in memory.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Query, type QueryResult } from 'pg';

/** What `pg` hands to a query of its own connection. */
interface CopyConnection {
  stream: Socket;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** A larger one is copied as a whole once more, on its way to the socket. */
const MAX_CHUNK_BYTES = 256 * 1024;

/** Nothing else may be sent on the connection until it has ended. */
export class CopyIn extends Query {
  readonly #chunks: AsyncIterable<Buffer>;
  /** What the source of the bytes threw: it says more than the server's answer to that. */
  #fault: { error: unknown } | null = null;
  #isOver = false;

  constructor(text: string, chunks: AsyncIterable<Buffer>) {
    super({ text });
    this.#chunks = chunks;
  }

  run(submit: (query: CopyIn) => void): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const end = (error: unknown, result: unknown) => {
        this.#isOver = true;
        if (this.#fault) reject(this.#fault.error);
        else if (error) reject(error);
        else resolve(result as QueryResult);
      };
      Object.assign(this, { callback: end });
      submit(this);
    });
  }

  /** Called by `pg` when the server is ready for the bytes. */
  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error: unknown) => {
      this.#fault = { error };
      connection.sendCopyFail('the source of the rows failed');
    });
  }

  async #send(connection: CopyConnection): Promise<void> {
    for await (const chunk of this.#chunks) {
      for (let start = 0; start < chunk.length; start += MAX_CHUNK_BYTES) {
        // The server has refused a row, or is gone: what would follow is not read any more.
        if (this.#isOver) return;
        connection.sendCopyFromChunk(chunk.subarray(start, start + MAX_CHUNK_BYTES));
        if (connection.stream.writableNeedDrain) await drained(connection.stream);
      }
    }
    if (!this.#isOver) connection.endCopyFrom();
  }
}

async function drained(stream: Socket): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } finally {
    ended.abort();
  }
}
