// The plans of hot verbs on PostgreSQL, with as many messages as can be made within the time of this test; the nightly one asks
// the same of a million.
import t from 'tap';
import { testPlans } from '../../../store/postgres/plans/bounded-plans.ts';
import { PLANS_LOGGED } from '../../../store/postgres/plans/plan-log.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  await testPlans(t, await startPostgres(t, { settings: PLANS_LOGGED }), 50_000);
});
