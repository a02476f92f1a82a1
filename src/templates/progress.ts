// The progress of a render thread: written by it at every step, read by the main thread when it had to kill the
// thread, so that even then the error can name a line and a column.
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

  /** The next job has its own memory. */
  use(memory: SharedArrayBuffer): void {
    this.#cells = new Int32Array(memory);
  }

  /** The position of the thread. Before it entered a part: the beginning of the first one. */
  read(source: TemplateSource): { part: Part; position: TemplatePosition } {
    const part = PARTS[this.#cells[0]! - 1] ?? (source.html === null ? 'text' : 'html');
    return { part, position: positionAt(source[part] ?? '', this.#cells[1]!) };
  }
}

function positionAt(source: string, offset: number): TemplatePosition {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
