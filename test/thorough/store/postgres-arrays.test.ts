// The PostgreSQL driver passes the conformance of the hottest verbs also where each statement that has a form over arrays is
// sent in it, for a single item as well: otherwise most cases, which call one verb after the other, would not know that form.
// The nightly tests do the same for all that has such a form.
import t from 'tap';
import { storeConformance } from '../../store/conformance/store-conformance.ts';
import { openerOn } from '../../support/postgres-opener.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const open = await openerOn(await startPostgres(t), { minItems: 1 });
  const hottest = [
    'submissions',
    'queue: claiming',
    'queue: recording',
    'calls of one turn',
    'two handles: mail',
  ] as const;
  storeConformance(t, 'postgres, over arrays', open, hottest);
});
