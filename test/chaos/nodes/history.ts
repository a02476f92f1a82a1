// What happened in a run, one JSON object per line, in the order in which it was seen: each call with what became of it, each
// fault, each problem. It is kept when a promise was broken, and beside it what the daemons logged.
import fs from 'node:fs';
import path from 'node:path';

export class History {
  readonly file: string;
  readonly #folder: string;
  readonly #stream: fs.WriteStream;
  readonly #startedAt = performance.now();

  constructor(folder: string) {
    this.#folder = folder;
    this.file = path.join(folder, 'history.jsonl');
    this.#stream = fs.createWriteStream(this.file);
  }

  note(what: string, facts: object = {}): void {
    const ms = Math.round(performance.now() - this.#startedAt);
    this.#stream.write(`${JSON.stringify({ ms, what, ...facts })}\n`);
  }

  keep(name: string, text: string): void {
    fs.writeFileSync(path.join(this.#folder, name), text);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(resolve));
  }
}
