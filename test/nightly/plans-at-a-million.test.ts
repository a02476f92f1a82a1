// The plans of hot verbs on PostgreSQL with a million messages, and as many submissions, events and webhook deliveries.
import t from 'tap';
import { testPlans } from '../store/postgres/plans/bounded-plans.ts';
import { PLANS_LOGGED } from '../store/postgres/plans/plan-log.ts';
import { postgresMissing, startPostgres } from '../support/postgres-server.ts';

const MESSAGES = Number(process.env.MESSAGES ?? 1_000_000);

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  await testPlans(t, await startPostgres(t, { settings: { ...PLANS_LOGGED, max_wal_size: '4GB' } }), MESSAGES);
});
