// The server that was used last, noted in a file: a daemon that starts while only an old primary answers must not take it for
// the primary, as one that knew its successor would not.
import fs from 'node:fs';

export interface ServerNote {
  /** The same for a primary and its standbys, and for no other server; empty: not known. */
  system: string;
  /** In hexadecimal digits, always as many: grows with each promotion. */
  timeline: string;
}

/** Null: there is none that could be read. */
export function readServerNote(file: string): ServerNote | null {
  try {
    const { system, timeline } = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<ServerNote>;
    return typeof system === 'string' && typeof timeline === 'string' ? { system, timeline } : null;
  } catch {
    return null;
  }
}

export function writeServerNote(file: string, note: ServerNote): void {
  const made = `${file}.${process.pid}`;
  fs.writeFileSync(made, `${JSON.stringify(note)}\n`, { mode: 0o644 });
  fs.renameSync(made, file);
}
