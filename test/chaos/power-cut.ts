// Power cuts. A small C library in the daemon (unsynced.c) notes each write that no fsync has made durable yet. After
// a kill this file takes such writes back, all or some of them, in blocks of 512 bytes and without regard to
// their order, as a disk does that loses its power. It does not simulate: directory entries that are
// lost, disks that lie about fsync, and blocks that are damaged although they were durable.
import fs from 'node:fs';
import path from 'node:path';
import { compileLibrary, noCompiler } from '../support/preloaded-library.ts';

const SOURCE = path.join(import.meta.dirname, 'unsynced.c');
const BLOCK_BYTES = 512;
/** Must match unsynced.c: five numbers of 64 bits. */
const HEAD_BYTES = 40;
const WRITE = 1;
const TRUNCATE = 2;
const SYNC = 3;

export interface PowerCuts {
  /** For the daemon. */
  env: Record<string, string>;
  /** Call before each start: forgets notes about files that no longer exist. */
  tidy(): void;
  /** Takes back what was not durable; `survives` is the share that the disk wrote all the same. */
  cut(survives: number, random: () => number): CutResult;
}

export interface CutResult {
  /** Writes that were not durable, and how many blocks of them were taken back. */
  writes: number;
  blocksLost: number;
}

interface Note {
  kind: number;
  offset: number;
  length: number;
  oldSize: number;
  old: Buffer;
  data: Buffer;
  /** Where the note begins. */
  at: number;
}

/** Null where there is no C compiler. */
export function preparePowerCuts(dataFolder: string, workFolder: string): PowerCuts | null {
  if (noCompiler !== false) return null;
  const library = compileLibrary(SOURCE, workFolder);
  const notes = path.join(workFolder, 'unsynced');
  fs.mkdirSync(notes, { recursive: true });
  const noted = () => {
    const files = new Map(filesBelow(dataFolder).map((file) => [fs.statSync(file).ino, file]));
    const found = fs
      .readdirSync(notes)
      .map((name) => ({ note: path.join(notes, name), file: files.get(Number(name)) }));
    // By file, and not in the order of inodes: the same draws must mean the same cut.
    return found.toSorted((a, b) => ((a.file ?? '') < (b.file ?? '') ? -1 : 1));
  };
  return {
    env: { LD_PRELOAD: library, CHAOS_DATA: fs.realpathSync(dataFolder), CHAOS_UNSYNCED: notes },
    tidy() {
      for (const { note, file } of noted()) if (file === undefined) fs.rmSync(note);
    },
    cut(survives, random) {
      const result: CutResult = { writes: 0, blocksLost: 0 };
      for (const { note, file } of noted()) {
        if (file !== undefined) takeBack(file, unsynced(fs.readFileSync(note)), { survives, random, result });
        fs.rmSync(note); // after the cut, what there is is durable
      }
      for (const file of filesBelow(dataFolder)) if (file.endsWith('-shm')) fs.rmSync(file);
      return result;
    },
  };
}

function filesBelow(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Those that no later sync covers. A note that the kill cut off was of a write that did not happen. */
function unsynced(bytes: Buffer): Note[] {
  const found: Note[] = [];
  let durable = 0;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const [kind, offset, length, oldLength, oldSize] = [0, 8, 16, 24, 32].map((place) =>
      Number(bytes.readBigUInt64LE(at + place)),
    ) as [number, number, number, number, number];
    const oldAt = at + HEAD_BYTES;
    const end = oldAt + oldLength + (kind === WRITE ? length : 0);
    if (end > bytes.length) break;
    if (kind === SYNC) durable = Math.max(durable, offset);
    const old = bytes.subarray(oldAt, oldAt + oldLength);
    found.push({ kind, offset, length, oldSize, old, data: bytes.subarray(oldAt + oldLength, end), at });
    at = end;
  }
  return found.filter(({ at, kind }) => at >= durable && kind !== SYNC);
}

interface Cut {
  survives: number;
  random: () => number;
  result: CutResult;
}

function takeBack(file: string, notes: Note[], { survives, random, result }: Cut): void {
  const fd = fs.openSync(file, 'r+');
  try {
    for (const note of notes.toReversed()) {
      if (note.old.length > 0) fs.writeSync(fd, note.old, 0, note.old.length, note.offset);
      if (fs.fstatSync(fd).size > note.oldSize) fs.ftruncateSync(fd, note.oldSize);
    }
    for (const note of notes) {
      result.writes++;
      if (note.kind === TRUNCATE) {
        if (random() < survives) fs.ftruncateSync(fd, note.offset);
        continue;
      }
      for (let at = 0; at < note.length; at += BLOCK_BYTES) {
        const block = note.data.subarray(at, at + BLOCK_BYTES);
        if (random() < survives) fs.writeSync(fd, block, 0, block.length, note.offset + at);
        else result.blocksLost++;
      }
    }
  } finally {
    fs.closeSync(fd);
  }
}
