// What operators ask of many rows reads only what waits.
import path from 'node:path';
import t from 'tap';
import { OPERATOR_QUERIES } from '../../src/store/sql/reading/operator-reads.ts';
import { ReadingConnection } from '../../src/store/sqlite/engine/reading-connection.ts';
import { perform } from '../../src/store/sqlite/engine/statements.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';
import { atOnce } from './at-once.ts';
import { Bench } from './conformance/harness.ts';

const QUERIES = atOnce(OPERATOR_QUERIES);

t.test('only what waits is read, along its index', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  await (await openSqliteStore({ file })).close();
  const db = new ReadingConnection(file);
  const plans: string[] = [];
  const explaining = {
    sql(text: string) {
      const values = Array(text.split('?').length - 1).fill(null);
      const steps = perform(db.sql(`EXPLAIN QUERY PLAN ${text}`).all(...values)) as { detail: string }[];
      plans.push(...steps.map(({ detail }) => detail));
      return db.sql(text);
    },
  } as ReadingConnection;
  QUERIES.queueOverview(explaining, null);
  QUERIES.queueSlice(explaining, null, { tenantId: new Bench({} as never).id(), lanes: 9, messages: 9 });
  QUERIES.parkedMessages(explaining, null, 9);
  QUERIES.recentResultsOf(explaining, null, [new Bench({} as never).id()], 9);
  const text = plans.join('\n');
  t.match(text, /SEARCH m USING (COVERING )?INDEX messages_due \(lane>\?\)/);
  t.match(text, /SEARCH messages USING (COVERING )?INDEX messages_of_tenant \(tenant_id=\?\)/);
  t.notMatch(text, /SCAN (m|messages)$/m, text);
});
