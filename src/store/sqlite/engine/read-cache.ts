// What was looked up about tenants, their keys, domains and lanes: read at every call, changed
// hardly ever. Everything is forgotten as soon as a verb runs that may have changed any of it, and
// nothing is kept until that verb's group is committed or rolled back: so it is never older than
// the database, and never shows what is not committed.

// Some 500 bytes each. The one that does not fit any more empties it, and it fills again.
const MAX_ENTRIES = 50_000;

export class ReadCache {
  readonly #found = new Map<string, unknown>();
  #suspended = false;

  cached<T>(name: string, look: () => T): T {
    const known = this.#found.get(name);
    if (known !== undefined) return known as T;
    const found = look();
    // What does not exist is not kept: whoever asks for names at random must not push out the others.
    if (this.#suspended || found === null || found === undefined) return found;
    if (this.#found.size >= MAX_ENTRIES) this.#found.clear();
    this.#found.set(name, found);
    return found;
  }

  clear(): void {
    if (this.#found.size > 0) this.#found.clear();
  }

  suspend(): void {
    this.#suspended = true;
    this.clear();
  }

  resume(): void {
    this.#suspended = false;
  }
}
