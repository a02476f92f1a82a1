// Parsed templates by their source, the least recently used forgotten first. By source and not
// by id: what was replaced cannot be found any more, and needs no notice.
import type { Template } from 'liquidjs';

export interface ParsedTemplate {
  templates: Template[];
  /** What it takes in memory, by estimate. */
  bytes: number;
}

export class ParsedTemplates {
  readonly #maxBytes: number;
  readonly #bySource = new Map<string, ParsedTemplate>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(source: string): Template[] | null {
    const known = this.#bySource.get(source);
    if (!known) return null;
    this.#bySource.delete(source);
    this.#bySource.set(source, known);
    return known.templates;
  }

  /** `source` must be new. */
  add(source: string, parsed: ParsedTemplate): void {
    this.#bySource.set(source, parsed);
    this.#bytes += parsed.bytes;
    for (const [oldest, { bytes }] of this.#bySource) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#bySource.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
