// What an error of SQLite means: whether it affects the whole group or one verb, and what callers get. Only the log
// gets SQLite's own message.
import { describeError, Fault } from '../../../base/errors.ts';

/** Another connection holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/** Failures of the disk or of memory affect the whole group, whatever SQLite itself rolled back. */
export function isGroupFatal(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|BUSY|PROTOCOL|CANTOPEN)/.test(codeOf(error));
}

/** Of the disk or of memory at the moment, and not damage: what was asked for may be there. */
export function isPassing(error: unknown): boolean {
  return isGroupFatal(error) && !/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
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
