// How far a render thread has come: written by it at every step, read by the main thread when
// it had to be killed, so that even then the error can name a line and a column.
import { PARTS, type Part, type TemplatePosition, type TemplateSource } from './render-job.ts';

/** Part (0: none yet) and offset in its source. */
const CELLS = 2;

export function createProgressMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
}

export class Progress {
  #cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  enter(part: Part): void {
    this.#cells[0] = PARTS.indexOf(part) + 1;
    this.#cells[1] = 0;
  }

  at(offset: number): void {
    this.#cells[1] = offset;
  }

  /** The next job has memory of its own. */
  use(memory: SharedArrayBuffer): void {
    this.#cells = new Int32Array(memory);
  }

  /** Where the thread is. Before any part was entered: the beginning of the first that there is. */
  read(source: TemplateSource): { part: Part; place: TemplatePosition } {
    const part = PARTS[this.#cells[0]! - 1] ?? (source.html === null ? 'text' : 'html');
    return { part, place: placeAt(source[part] ?? '', this.#cells[1]!) };
  }
}

function placeAt(source: string, offset: number): TemplatePosition {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
