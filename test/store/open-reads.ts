// What the portal asks of a database, for the tests of drivers.
import type { Test } from 'tap';
import type { PortalReads } from '../../src/store/reads.ts';
import { openPortalReads } from '../../src/store/sqlite/reading/reading.ts';

/** Patient: a busy machine must not decide what is found. */
export function openReads(t: Test, file: string): PortalReads {
  const limits = { queryMs: 60_000, waitMs: 60_000, startMs: 60_000 };
  const reading = openPortalReads({ file, onTrouble: (reason) => t.fail(reason), limits });
  t.teardown(() => reading.close());
  return reading.reads;
}
