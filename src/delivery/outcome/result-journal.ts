// The file beside the database for results that the database did not accept. Each one is an answer of a receiving
// server, so the next start reads the file before it sends anything. Its disk space is reserved at the start: a full
// disk is the most likely reason why results can't be stored. Writes are synchronous, because they are rare and the
// process may be about to end; syncs are asynchronous, because a disk that hangs must not block the thread that reports
// it. One line per result; after the last one the file is zeros.

import fs from 'node:fs';
import { describeError } from '../../base/errors.ts';
import { OncePerTick } from '../../base/per-tick.ts';
import type { Logger } from '../../observe/log.ts';
import type { MessageUpdate } from '../../store/queue.ts';

/** A result with its attempt: only these are kept, everything else is found out again. */
export type JournalResult = MessageUpdate & { attempt: NonNullable<MessageUpdate['attempt']> };

const MIB = 1024 * 1024;
// A result takes one to three KiB, and hundreds can be in progress.
const RESERVED_BYTES = 4 * MIB;
const FORMAT = 1;

export class ResultJournal {
  /** Results left by an earlier run. */
  readonly earlier: readonly JournalResult[];
  readonly #log: Logger;
  readonly #fd: number;
  /** In the file but not in the database. */
  readonly #open: Set<MessageUpdate>;
  #end: number;
  readonly #syncSoon = new OncePerTick(() => this.#syncInBackground());
  #isSyncing = false;
  /** Writes that are not synced yet. */
  #unsynced = 0;
  /** A fault is logged once until writing works again. */
  #faulty = false;
  /** A closed descriptor's number is soon reused for another file. */
  #closed = false;

  constructor(file: string, log: Logger) {
    this.#log = log;
    this.#fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    const { results, end } = read(this.#fd, (reason) => log.error({}, `${file}: ${reason}`));
    this.earlier = results;
    this.#open = new Set(results);
    this.#end = end;
    this.#safely(() => reserve(this.#fd));
    if (this.#open.size === 0) this.#clear();
  }

  get size(): number {
    return this.#open.size;
  }

  /** False: nothing to keep, or no space. A written line survives a crash at once, a power cut after the next sync. */
  add(update: MessageUpdate): boolean {
    if (this.#closed || update.attempt === null) return false;
    // The zero ends the file even if clearing it has failed; the next line overwrites it.
    const line = Buffer.from(`${JSON.stringify({ format: FORMAT, update })}\n\0`);
    const added = this.#safely(() => writeAll(this.#fd, line, this.#end));
    if (!added) return false;
    this.#end += line.length - 1;
    this.#open.add(update);
    this.#noteWritten();
    return true;
  }

  /** Syncs the rest, at the end of the process. */
  sync(): void {
    this.#syncSoon.cancel();
    if (this.#unsynced === 0) return;
    this.#unsynced = 0;
    this.#safely(() => fs.fdatasyncSync(this.#fd));
  }

  /** The result is in the database now. The file is emptied when all are. */
  settle(update: MessageUpdate): void {
    if (this.#closed) return; // the next start finds that it is stored
    if (this.#open.delete(update) && this.#open.size === 0) this.#clear();
  }

  close(): void {
    this.sync();
    this.#closed = true;
    fs.closeSync(this.#fd);
  }

  /** One sync at a time: a disk that hangs must not use up libuv's thread pool. */
  #syncInBackground(): void {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    const writes = this.#unsynced;
    fs.fdatasync(this.#fd, (error) => {
      this.#isSyncing = false;
      if (this.#closed) return; // by then all was synced
      if (error) {
        this.#logFault(error);
        return;
      }
      this.#unsynced = Math.max(0, this.#unsynced - writes);
      if (this.#unsynced > 0) this.#syncInBackground();
    });
  }

  /**
   * Whatever becomes of it, new lines are written from the beginning: behind zeros nobody would find them. What stays of the
   * old ones is in the database, and the next start finds that, too.
   */
  #clear(): void {
    const end = this.#end;
    if (end === 0) return;
    this.#end = 0;
    this.#safely(() => {
      writeAll(this.#fd, Buffer.alloc(Math.min(end, RESERVED_BYTES)), 0);
      if (end >= RESERVED_BYTES) fs.ftruncateSync(this.#fd, RESERVED_BYTES);
    });
    this.#noteWritten();
  }

  #noteWritten(): void {
    this.#unsynced++;
    this.#syncSoon.request();
  }

  #safely(work: () => void): boolean {
    try {
      work();
      this.#faulty = false;
      return true;
    } catch (error) {
      this.#logFault(error);
      return false;
    }
  }

  #logFault(error: unknown): void {
    if (!this.#faulty) this.#log.error({ error }, `the journal of results cannot be written: ${describeError(error)}`);
    this.#faulty = true;
  }
}

/** Reads up to the first zero; a last line without its end was cut off by a crash and is ignored. */
function read(fd: number, onDamage: (reason: string) => void): { results: JournalResult[]; end: number } {
  const bytes = readWhole(fd);
  const zero = bytes.indexOf(0);
  const written = zero < 0 ? bytes : bytes.subarray(0, zero);
  const end = written.lastIndexOf(0x0a) + 1;
  const lines = written.subarray(0, end).toString().split('\n').slice(0, -1);
  const results: JournalResult[] = [];
  for (const line of lines) {
    const result = parse(line);
    if (result) results.push(result);
    else onDamage('a line of the journal of results cannot be read; its message may be sent again');
  }
  return { results, end };
}

function parse(line: string): JournalResult | null {
  try {
    const { format, update } = JSON.parse(line);
    return format === FORMAT && typeof update?.attempt?.attempt === 'number' ? update : null;
  } catch {
    return null;
  }
}

/** Reads from the beginning, at explicit positions. */
function readWhole(fd: number): Buffer {
  const bytes = Buffer.alloc(fs.fstatSync(fd).size);
  let length = 0;
  while (length < bytes.length) {
    const count = fs.readSync(fd, bytes, length, bytes.length - length, length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

/** Writes zeros, not a hole: only written blocks are available when the disk is full. */
function reserve(fd: number): void {
  const { size } = fs.fstatSync(fd);
  if (size >= RESERVED_BYTES) return;
  writeAll(fd, Buffer.alloc(RESERVED_BYTES - size), size);
  fs.fdatasyncSync(fd);
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}
