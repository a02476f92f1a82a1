// A folder of a test's own, removed when all that the test has opened is closed.
import type { Test } from 'tap';

/**
 * `t.testdir()` alone removes the folder before the teardowns that were registered after it: a store would still be
 * open there, and its threads could create files while they are being removed. What is registered first runs last.
 */
export function testFolder(t: Test, content?: Parameters<Test['testdir']>[0]): string {
  t.teardown(() => {});
  return t.testdir(content);
}
