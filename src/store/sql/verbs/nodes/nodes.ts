// The nodes that share the store: renewing their slots is how they show that they live.
import type { KeepRequest, NodeView, Owner, OwnerStore } from '../../../owners.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';

type NodeVerbs = Work<Pick<OwnerStore, 'keepSlots' | 'listNodes' | 'drainNode' | 'forgetNode' | 'readClock'>>;

export function nodeVerbs(db: Transaction): NodeVerbs {
  return {
    keepSlots: (request) => keepSlots(db, request),
    *listNodes() {
      return ((yield* db.sql('SELECT * FROM nodes ORDER BY node').all()) as Row[]).map(nodeFromRow);
    },
    *drainNode(node, draining) {
      const drain = db.sql('UPDATE nodes SET draining = +? WHERE node = +?');
      return (yield* drain.run(draining ? 1 : 0, node)).changes === 1;
    },
    *forgetNode(node, seenBy) {
      const forget = db.sql(
        `DELETE FROM nodes WHERE node = +? AND seen_at <= +?
           AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.node = nodes.node AND s.lease_until IS NULL)`,
      );
      return (yield* forget.run(node, seenBy)).changes === 1;
    },
    readClock: () => db.clock(),
  };
}

function* keepSlots(db: Transaction, { owners, leaseUntil, now, ...note }: KeepRequest): Steps<Owner[]> {
  const { node, version, startedAt } = note;
  yield* db
    .sql(
      `INSERT INTO nodes (node, version, started_at, seen_at) VALUES (+?, +?, +?, +?)
       ON CONFLICT (node) DO UPDATE SET version = excluded.version, started_at = excluded.started_at,
         seen_at = excluded.seen_at`,
    )
    .run(node, version, startedAt, now);
  const renew = db.sql('UPDATE slots SET lease_until = +? WHERE slot = +? AND epoch = +?');
  const lost = yield* eachOf(owners, function* (owner) {
    return (yield* renew.run(leaseUntil, owner.slot, owner.epoch)).changes === 1 ? [] : [owner];
  });
  return lost.flat();
}

function nodeFromRow(row: Row): NodeView {
  return {
    node: row.node as string,
    version: row.version as string,
    startedAt: row.started_at as number,
    seenAt: row.seen_at as number,
    isDraining: row.draining === 1,
  };
}
