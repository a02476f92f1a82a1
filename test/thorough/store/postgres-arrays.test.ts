// The PostgreSQL driver passes the conformance of mail also where each statement that has a form over arrays is sent in it,
// for a single item as well: otherwise most cases, which call one verb after the other, would not know that form.
import t from 'tap';
import { type Group, storeConformance } from '../../store/conformance/store-conformance.ts';
import { openerOn } from '../../support/postgres-opener.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';

const MAIL: readonly Group[] = [
  ...(['submissions', 'batches', 'scheduled', 'letters', 'written mails', 'calls of one turn'] as const),
  ...(['queue: claiming', 'queue: recording', 'queue: orphans', 'queue: own addresses', 'owners of slots'] as const),
  ...(['events', 'suppressions', 'mail that comes back for messages'] as const),
  ...(['deliveries to webhooks', 'attempts at webhooks', 'two handles: mail'] as const),
];

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const open = await openerOn(await startPostgres(t), { minItems: 1 });
  storeConformance(t, 'postgres, over arrays', open, MAIL);
});
