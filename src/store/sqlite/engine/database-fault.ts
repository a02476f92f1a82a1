// What an error of SQLite means for those who wait: for the whole group or one verb, and what they
// are told. Only the log hears SQLite's own words.
import { describeError, Fault } from '../../../base/errors.ts';

/** Somebody else holds the lock that it takes. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** Failures of the disk or of memory concern the whole group, whatever SQLite rolled back by itself. */
export function isGroupFatal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|BUSY|PROTOCOL|CANTOPEN)/.test(code);
}

/** What `work` reads; where the database fails, what whoever waits is told of it. */
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
