// Attempts to sign in and to make the service send mail.
import { countTry, type Tries, waitAfter } from '../../../../base/throttle-rule.ts';
import type { Gate, ThrottleStore } from '../../../limits.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';

export function throttleVerbs(db: Transaction): Work<ThrottleStore> {
  return {
    takeAttempt: (gates, now) => takeAttempt(db, gates, now),
    settleAttempt: (settled) => settleAttempt(db, settled),
    *forgottenBeyond(kept) {
      const beyond = 'SELECT forgotten_at FROM throttles ORDER BY forgotten_at DESC LIMIT 1 OFFSET +?';
      return ((yield* db.sql(beyond, 'column').get(kept)) as number | undefined) ?? null;
    },
    *eraseAttempts(forgottenBy, limit) {
      const erase = 'DELETE FROM throttles WHERE key IN (SELECT key FROM throttles WHERE forgotten_at <= +? LIMIT +?)';
      return (yield* db.sql(erase).run(forgottenBy, limit)).changes;
    },
  };
}

function* takeAttempt(db: Transaction, gates: readonly Gate[], now: number): Steps<number> {
  const find = db.sql('SELECT count, open_at, forgotten_at FROM throttles WHERE key = +?');
  const sorted = gates.toSorted((a, b) => Buffer.compare(a.key, b.key));
  const known = yield* eachOf(sorted, function* (gate) {
    const row = (yield* find.get(gate.key)) as Row | undefined;
    return { gate, tries: row && triesFromRow(row) };
  });
  const waitMs = Math.max(0, ...known.map(({ tries }) => waitAfter(tries, now)));
  if (waitMs > 0) return waitMs;
  const write = db.sql(
    `INSERT INTO throttles (key, count, open_at, forgotten_at) VALUES (+?, +?, +?, +?)
     ON CONFLICT (key) DO UPDATE SET count = excluded.count, open_at = excluded.open_at, forgotten_at = excluded.forgotten_at`,
  );
  for (const { gate, tries } of known) {
    const { count, openAt, forgottenAt } = countTry(gate.rule, tries, now);
    yield* write.run(gate.key, count, openAt, forgottenAt);
  }
  return 0;
}

function* settleAttempt(
  db: Transaction,
  { forgiven, refunded }: { forgiven: readonly Buffer[]; refunded: readonly Buffer[] },
): Steps<void> {
  const forget = db.sql('DELETE FROM throttles WHERE key = +?');
  for (const key of forgiven.toSorted(Buffer.compare)) yield* forget.run(key);
  const takeBack = db.sql('UPDATE throttles SET count = count - 1, open_at = 0 WHERE key = +?');
  const forgetEmpty = db.sql('DELETE FROM throttles WHERE key = +? AND count < 1');
  for (const key of refunded.toSorted(Buffer.compare)) {
    yield* takeBack.run(key);
    yield* forgetEmpty.run(key);
  }
}

function triesFromRow(row: Row): Tries {
  return {
    count: row.count as number,
    openAt: row.open_at as number,
    forgottenAt: row.forgotten_at as number,
  };
}
