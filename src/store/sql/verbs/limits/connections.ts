// Connections to a receiver that all nodes share: a row for each node that has some or wants some.
import type { ConnectionShare, ConnectionStore, ConnectionWish } from '../../../limits.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { goalOf, type Holder, sumOf } from './even-parts.ts';

export function connectionVerbs(db: Transaction): Work<ConnectionStore> {
  return {
    *shareConnections(wishes) {
      const now = yield* db.clock();
      return yield* db.forAll(wishes, (wish) => shareConnections(db, wish, now));
    },
  };
}

function* shareConnections(db: Transaction, wish: ConnectionWish, now: number): Steps<ConnectionShare> {
  const { mxGroup, node, kept, wanted, leaseMs } = wish;
  yield* db.sql('DELETE FROM shared_connections WHERE mx_group = +? AND lease_until <= +?').run(mxGroup, now);
  const read = db.sql('SELECT node, connections, wanted FROM shared_connections WHERE mx_group = +? AND node <> +?');
  const others = (yield* read.all(mxGroup, node)) as Holder[];
  const goal = goalOf(wish, others, now);
  const left = wish.limit - sumOf(others.map(({ connections }) => connections));
  const share = { connections: Math.max(kept, Math.min(goal, left)), goal };
  if (share.connections === 0 && wanted === 0) {
    yield* db.sql('DELETE FROM shared_connections WHERE mx_group = +? AND node = +?').run(mxGroup, node);
    return share;
  }
  const save = `INSERT INTO shared_connections (mx_group, node, connections, wanted, lease_until)
    VALUES (+?, +?, +?, +?, +?) ON CONFLICT (mx_group, node) DO UPDATE SET connections = excluded.connections,
      wanted = excluded.wanted, lease_until = excluded.lease_until`;
  yield* db.sql(save).run(mxGroup, node, share.connections, wanted, now + leaseMs);
  return share;
}
