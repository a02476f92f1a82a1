// What all nodes have taken of limits on sending: a row for each sixtieth of a span in which something was taken.
import type { Portion, PortionStore, PortionWish } from '../../../limits.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';

const SLOTS = 60;

interface Taken {
  goneAt: number;
  messages: number;
}

export function portionVerbs(db: Transaction): Work<PortionStore> {
  return {
    *takePortions(wishes) {
      const now = yield* db.clock();
      return yield* db.forAll(wishes, (wish) => takePortion(db, wish, now));
    },
    *erasePortions(limit) {
      const erase = `DELETE FROM sent_portions WHERE (subject, gone_at) IN
        (SELECT subject, gone_at FROM sent_portions WHERE gone_at <= +? ORDER BY gone_at LIMIT +?)`;
      return (yield* db.sql(erase).run(yield* db.clock(), limit)).changes;
    },
  };
}

function* takePortion(db: Transaction, wish: PortionWish, now: number): Steps<Portion> {
  const { subject, limit, wanted, returned } = wish;
  const read = db.sql('SELECT gone_at AS "goneAt", messages FROM sent_portions WHERE subject = +? ORDER BY gone_at');
  const found = (yield* read.all(subject)) as Taken[];
  const counted = found.filter(({ goneAt }) => goneAt > now);
  if (counted.length < found.length)
    yield* db.sql('DELETE FROM sent_portions WHERE subject = +? AND gone_at <= +?').run(subject, now);
  const changed = takeBack(counted, returned);
  const granted = Math.min(wanted, Math.max(0, limit - sumOf(counted)));
  if (granted > 0) changed.add(add(counted, granted, goneAtOf(wish, now)));
  const save = `INSERT INTO sent_portions (subject, gone_at, messages) VALUES (+?, +?, +?)
    ON CONFLICT (subject, gone_at) DO UPDATE SET messages = excluded.messages`;
  for (const { goneAt, messages } of changed) yield* db.sql(save).run(subject, goneAt, messages);
  return { granted, taken: sumOf(counted), freeInMs: freeInMs(counted, limit, now) };
}

/** From the latest, where it must have been counted. Returns what it has changed. */
function takeBack(counted: readonly Taken[], returned: number): Set<Taken> {
  const changed = new Set<Taken>();
  let left = returned;
  for (const one of counted.toReversed()) {
    if (left === 0) break;
    const less = Math.min(left, one.messages);
    one.messages -= less;
    left -= less;
    changed.add(one);
  }
  return changed;
}

function add(counted: Taken[], messages: number, goneAt: number): Taken {
  const last = counted.at(-1);
  if (last && last.goneAt >= goneAt) {
    last.messages += messages;
    return last;
  }
  const made = { goneAt, messages };
  counted.push(made);
  return made;
}

/** One slot more than the span: what was taken at the end of a slot is only then a whole span old. */
function goneAtOf({ spanMs }: PortionWish, now: number): number {
  const slotMs = spanMs / SLOTS;
  return (Math.floor(now / slotMs) + SLOTS + 1) * slotMs;
}

function freeInMs(counted: readonly Taken[], limit: number, now: number): number {
  let taken = sumOf(counted);
  if (taken < limit) return 0;
  for (const { goneAt, messages } of counted) {
    taken -= messages;
    if (taken < limit) return goneAt - now;
  }
  return 0;
}

function sumOf(counted: readonly Taken[]): number {
  return counted.reduce((sum, { messages }) => sum + messages, 0);
}
