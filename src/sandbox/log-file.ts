// The daemon's log in the sandbox: a file, so that it does not run over what was printed.
// Written synchronously: few lines, and the last one before a crash is there. One old file is
// kept when it has grown large.
import fs from 'node:fs';
import type { LogSink } from '../observe/log.ts';

export interface LogFile extends LogSink {
  close(): void;
}

const LARGE_OCTETS = 10 * 1024 * 1024;

export function openLogFile(file: string): LogFile {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_OCTETS) fs.renameSync(file, `${file}.old`);
  const handle = fs.openSync(file, 'a', 0o600);
  let closed = false;
  return {
    write(line) {
      if (!closed) fs.writeSync(handle, line);
    },
    close() {
      closed = true;
      fs.closeSync(handle);
    },
  };
}
