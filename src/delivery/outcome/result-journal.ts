// The file beside the database for results that the database did not take. What stands there was answered by a
// receiving server, so the next start reads it before anything is sent again. Its room on the disk is taken at the
// start: a full disk is what keeps results out of the database most of all. Written synchronously, since it is rare and
// the process may be about to end; synced beside the main thread, since a disk that hangs must not stop what tells of it.
// A line per result; behind the last one the file is zeros.

import fs from 'node:fs';
import { describeError } from '../../base/errors.ts';
import { OncePerTick } from '../../base/per-tick.ts';
import type { Logger } from '../../observe/log.ts';
import type { MessageUpdate } from '../../store/queue.ts';

/** A result with the attempt that it came from: only such are kept, everything else is found out again. */
export type AttemptResult = MessageUpdate & { attempt: NonNullable<MessageUpdate['attempt']> };

const MIB = 1024 * 1024;
// A result takes one to three KiB, and hundreds are under way at a time.
const RESERVED_BYTES = 4 * MIB;
const FORMAT = 1;

export class ResultJournal {
  /** What an earlier process has left. */
  readonly earlier: readonly AttemptResult[];
  readonly #log: Logger;
  readonly #fd: number;
  /** In the file and not in the database. */
  readonly #open: Set<MessageUpdate>;
  #end: number;
  readonly #syncSoon = new OncePerTick(() => this.#syncBeside());
  #isSyncing = false;
  /** Lines that no sync has made durable. */
  #unsynced = 0;
  /** A fault is told once until writing works again. */
  #faulty = false;
  /** The number of a closed descriptor soon belongs to another file. */
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

  /** False when there is nothing to keep or no room for it. What is written survives the process at once, a power cut a moment later. */
  add(update: MessageUpdate): boolean {
    if (this.#closed || update.attempt === null) return false;
    const line = Buffer.from(`${JSON.stringify({ format: FORMAT, update })}\n`);
    const added = this.#safely(() => writeAll(this.#fd, line, this.#end));
    if (!added) return false;
    this.#end += line.length;
    this.#open.add(update);
    this.#unsynced++;
    this.#syncSoon.request();
    return true;
  }

  /** At the end: whatever is not durable yet. */
  sync(): void {
    this.#syncSoon.cancel();
    if (this.#unsynced === 0) return;
    this.#unsynced = 0;
    this.#safely(() => fs.fdatasyncSync(this.#fd));
  }

  /** It is in the database now. The file is emptied when all are. */
  settle(update: MessageUpdate): void {
    if (this.#closed) return; // the next start finds that it is stored
    if (this.#open.delete(update) && this.#open.size === 0) this.#clear();
  }

  close(): void {
    this.sync();
    this.#closed = true;
    fs.closeSync(this.#fd);
  }

  /** One at a time: a disk that hangs must not use up the threads that all files share. */
  #syncBeside(): void {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    const lines = this.#unsynced;
    fs.fdatasync(this.#fd, (error) => {
      this.#isSyncing = false;
      if (this.#closed) return; // by then all was synced
      if (error) {
        this.#tellFault(error);
        return;
      }
      this.#unsynced = Math.max(0, this.#unsynced - lines);
      if (this.#unsynced > 0) this.#syncBeside();
    });
  }

  #clear(): void {
    if (this.#end === 0) return;
    const cleared = this.#safely(() => {
      writeAll(this.#fd, Buffer.alloc(Math.min(this.#end, RESERVED_BYTES)), 0);
      if (this.#end > RESERVED_BYTES) fs.ftruncateSync(this.#fd, RESERVED_BYTES);
      fs.fdatasyncSync(this.#fd);
    });
    // Should it stay: its results are known to be stored, and the next start finds that, too.
    if (!cleared) return;
    this.#end = 0;
    this.#unsynced = 0;
  }

  #safely(work: () => void): boolean {
    try {
      work();
      this.#faulty = false;
      return true;
    } catch (error) {
      this.#tellFault(error);
      return false;
    }
  }

  #tellFault(error: unknown): void {
    if (!this.#faulty) this.#log.error({ error }, `the journal of results cannot be written: ${describeError(error)}`);
    this.#faulty = true;
  }
}

/** Up to the first zero; a last line without its end was cut off by a crash and is not counted. */
function read(fd: number, onDamage: (reason: string) => void): { results: AttemptResult[]; end: number } {
  const bytes = readWhole(fd);
  const zero = bytes.indexOf(0);
  const written = zero < 0 ? bytes : bytes.subarray(0, zero);
  const end = written.lastIndexOf(0x0a) + 1;
  const lines = written.subarray(0, end).toString().split('\n').slice(0, -1);
  const results: AttemptResult[] = [];
  for (const line of lines) {
    const result = parse(line);
    if (result) results.push(result);
    else onDamage('a line of the journal of results cannot be read; its message may be sent again');
  }
  return { results, end };
}

function parse(line: string): AttemptResult | null {
  try {
    const { format, update } = JSON.parse(line);
    return format === FORMAT && typeof update?.attempt?.attempt === 'number' ? update : null;
  } catch {
    return null;
  }
}

/** From its beginning, whatever was read or written before. */
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

/** Zeros and not a hole: only written blocks are there when the disk is full. */
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
