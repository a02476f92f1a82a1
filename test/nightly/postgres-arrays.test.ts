// The PostgreSQL driver passes the conformance of mail where each statement that has a form over arrays is sent in it; those
// of the hottest verbs are in the long stage.
import t from 'tap';
import { type Group, storeConformance } from '../store/conformance/store-conformance.ts';
import { openerOn } from '../support/postgres-opener.ts';
import { postgresMissing, startPostgres } from '../support/postgres-server.ts';

const MAIL: readonly Group[] = [
  ...(['batches', 'scheduled', 'letters', 'written mails', 'queue: orphans', 'queue: own addresses'] as const),
  ...(['owners of slots', 'events', 'suppressions', 'mail that comes back for messages'] as const),
  ...(['deliveries to webhooks', 'attempts at webhooks'] as const),
];

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const open = await openerOn(await startPostgres(t), { minItems: 1 });
  storeConformance(t, 'postgres, over arrays', open, MAIL);
});
