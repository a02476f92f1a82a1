// The PostgreSQL driver passes the conformance suite of the store.
import t from 'tap';
import { storeConformance } from '../../store/conformance/store-conformance.ts';
import { openerOn } from '../../support/postgres-opener.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  storeConformance(t, 'postgres', await openerOn(await startPostgres(t)));
});
