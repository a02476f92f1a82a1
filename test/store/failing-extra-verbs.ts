// A writer's thread whose extra verbs cannot be made: for threaded-store.test.ts.
import { Fault } from '../../src/base/errors.ts';
import { serveWriter } from '../../src/store/sqlite/serve-writer.ts';

serveWriter(() => {
  throw new Fault('a rule is wrong', { permanence: 'permanent', detail: 'in line 7' });
});
