// What an error of SQLite means: whether it affects the whole group or one verb, and what callers get. Only the log
// gets SQLite's own message.
import { describeError, Fault } from '../../../base/errors.ts';

/** Another connection holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** Failures of the disk or of memory affect the whole group, whatever SQLite itself rolled back. */
export function isGroupFatal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|BUSY|PROTOCOL|CANTOPEN)/.test(code);
}

/** The result of `work`; if the database fails, throws the fault that callers may see. */
export function readOrFault<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeFault(error);
  }
}

export function storeFault(error: unknown): unknown {
  if (error instanceof Fault) return error;
  return new Fault('the database could not be used', { detail: describeError(error), cause: error });
}
