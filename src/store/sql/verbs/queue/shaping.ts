// What holds mail back: pauses, suspensions, the state of each MX group, and the MX group of each recipient
// domain. Operations on messages by lane are in queue-pauses.ts.

import {
  GROUP_MEMORY_MS,
  type GroupConcurrency,
  type OperatorNote,
  type QueueTarget,
  type ShapingChanges,
  type ShapingSnapshot,
  type ShapingStore,
  type SharedHolds,
  type Suspension,
  type TenantPace,
} from '../../../shaping.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { pauseFromRow } from './queue-pauses.ts';

const NO_TENANT = Buffer.alloc(0);

type ShapingVerbs = Work<
  Pick<
    ShapingStore,
    | 'loadShaping'
    | 'saveShaping'
    | 'readHolds'
    | 'liftSuspensions'
    | 'addOperatorNote'
    | 'listOperatorNotes'
    | 'isKnownGroup'
  >
>;

export function shapingVerbs(db: Transaction): ShapingVerbs {
  return {
    loadShaping: (now, node = null) => loadShaping(db, now, node),
    saveShaping: (changes, node = null) => saveShaping(db, changes, node),
    readHolds: (now, node = null) => readHolds(db, now, node),
    liftSuspensions: (of) => liftSuspensions(db, of),
    addOperatorNote: (note) => addOperatorNote(db, note),
    listOperatorNotes: (filter) => listOperatorNotes(db, filter),
    isKnownGroup: (mxGroup) => isKnownGroup(db, mxGroup),
  };
}

function* loadShaping(db: Transaction, now: number, node: string | null): Steps<ShapingSnapshot> {
  yield* db.sql('DELETE FROM suspensions WHERE until <= +?').run(now);
  yield* db.sql('DELETE FROM group_states WHERE changed_at <= +?').run(now - GROUP_MEMORY_MS);
  yield* forgetFinished(db);
  const pauses = (yield* db.sql('SELECT * FROM queue_pauses ORDER BY kind, target').all()) as Row[];
  const suspensions = (yield* db
    .sql('SELECT * FROM suspensions ORDER BY mx_group, scope, tenant_id, subject')
    .all()) as Row[];
  const groups = (yield* db.sql('SELECT mx_group, state, changed_at FROM group_states').all()) as Row[];
  const paces = (yield* db.sql('SELECT tenant_id, slots FROM tenant_paces').all()) as Row[];
  return {
    pauses: pauses.map(pauseFromRow),
    // Without a node: stored while there was one daemon, or by a version before this.
    suspensions: suspensions.filter((row) => isOf(node, row) || isOf(null, row)).map(suspensionFromRow),
    groups: groups.map((row) => ({
      mxGroup: row.mx_group as string,
      concurrency: JSON.parse(row.state as string) as GroupConcurrency,
      at: row.changed_at as number,
    })),
    paces: paces.map((row) => ({
      tenantId: fromId(row.tenant_id),
      slots: JSON.parse(row.slots as string) as TenantPace['slots'],
    })),
  };
}

function* readHolds(db: Transaction, now: number, node: string | null): Steps<SharedHolds> {
  const pauses = db.sql(`SELECT * FROM queue_pauses WHERE kind <> 'message' ORDER BY kind, target`);
  const suspensions = db.sql('SELECT * FROM suspensions WHERE until > +? ORDER BY mx_group, scope, tenant_id, subject');
  return {
    pauses: ((yield* pauses.all()) as Row[]).map(pauseFromRow),
    suspensions: ((yield* suspensions.all(now)) as Row[]).filter((row) => isOf(node, row)).map(suspensionFromRow),
  };
}

/** A paused message can end, since its lifetime goes on. */
function* forgetFinished(db: Transaction): Steps<void> {
  const waits = db.sql('SELECT 1 FROM messages WHERE id = +? AND finished_at IS NULL');
  const forget = db.sql(`DELETE FROM queue_pauses WHERE kind = 'message' AND target = +?`);
  const paused = (yield* db.sql(`SELECT target FROM queue_pauses WHERE kind = 'message'`).all()) as {
    target: string;
  }[];
  for (const { target } of paused) if ((yield* waits.get(toId(target))) === undefined) yield* forget.run(target);
}

function* saveShaping(
  db: Transaction,
  { suspensions, groups, paces }: ShapingChanges,
  node: string | null,
): Steps<void> {
  for (const suspension of suspensions ?? []) yield* saveSuspension(db, suspension, node);
  for (const { mxGroup, concurrency, at } of groups ?? []) {
    if (concurrency === null) {
      yield* db.sql('DELETE FROM group_states WHERE mx_group = +? AND changed_at <= +?').run(mxGroup, at);
    } else {
      const save = `INSERT INTO group_states (mx_group, state, changed_at) VALUES (+?, +?, +?)
        ON CONFLICT (mx_group) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at`;
      yield* db.sql(save).run(mxGroup, JSON.stringify(concurrency), at);
    }
  }
  for (const { tenantId, slots } of paces ?? []) {
    if (slots.length === 0) yield* db.sql('DELETE FROM tenant_paces WHERE tenant_id = +?').run(toId(tenantId));
    else {
      const save = `INSERT INTO tenant_paces (tenant_id, slots) VALUES (+?, +?)
        ON CONFLICT (tenant_id) DO UPDATE SET slots = excluded.slots`;
      yield* db.sql(save).run(toId(tenantId), JSON.stringify(slots));
    }
  }
}

function* saveSuspension(db: Transaction, suspension: Suspension, node: string | null): Steps<void> {
  const { mxGroup, scope, tenantId, rule, reply, since, until } = suspension;
  const subject = scope === 'source' && node !== null ? `${suspension.subject} ${node}` : suspension.subject;
  const save = `INSERT INTO suspensions (mx_group, scope, tenant_id, subject, rule, reply, since, until)
    VALUES (+?, +?, +?, +?, +?, +?, +?, +?) ON CONFLICT (mx_group, scope, tenant_id, subject)
    DO UPDATE SET rule = excluded.rule, reply = excluded.reply, since = excluded.since, until = excluded.until`;
  yield* db
    .sql(save)
    .run(mxGroup, scope, tenantId === null ? NO_TENANT : toId(tenantId), subject, rule, reply, since, until);
}

function* liftSuspensions(
  db: Transaction,
  of: { mxGroup: string } | { tenantId: string } | { domain: string },
): Steps<Suspension[]> {
  const lifted = function* () {
    if ('mxGroup' in of)
      return yield* db.sql('DELETE FROM suspensions WHERE mx_group = +? RETURNING *').all(of.mxGroup);
    // Few rows: only active suspensions have one.
    if ('tenantId' in of)
      return yield* db.sql('DELETE FROM suspensions WHERE tenant_id = +? RETURNING *').all(toId(of.tenantId));
    return yield* db.sql(`DELETE FROM suspensions WHERE scope = 'domain' AND subject = +? RETURNING *`).all(of.domain);
  };
  return ((yield* lifted()) as Row[]).map(suspensionFromRow);
}

function* addOperatorNote(db: Transaction, { at, by, action, kind, key, note, messages }: OperatorNote): Steps<void> {
  const add = `INSERT INTO operator_notes (at, made_by, action, kind, target, note, messages) VALUES (+?, +?, +?, +?, +?, +?, +?)`;
  yield* db.sql(add).run(at, by, action, kind, key, note, messages);
}

function* listOperatorNotes(
  db: Transaction,
  { target, limit }: { target?: QueueTarget; limit: number },
): Steps<OperatorNote[]> {
  const rows = target
    ? yield* db
        .sql('SELECT * FROM operator_notes WHERE kind = +? AND target = +? ORDER BY id DESC LIMIT +?')
        .all(target.kind, target.key, limit)
    : yield* db.sql('SELECT * FROM operator_notes ORDER BY id DESC LIMIT +?').all(limit);
  return (rows as Row[]).map((row) => ({
    kind: row.kind as OperatorNote['kind'],
    key: row.target as string,
    by: row.made_by as string,
    note: row.note as string,
    at: row.at as number,
    action: row.action as OperatorNote['action'],
    messages: row.messages as number | null,
  }));
}

function* isKnownGroup(db: Transaction, mxGroup: string): Steps<boolean> {
  const known = db.sql(
    `SELECT EXISTS (SELECT 1 FROM groups_of_domains WHERE mx_group = +@name)
       OR EXISTS (SELECT 1 FROM group_states WHERE mx_group = +@name)
       OR EXISTS (SELECT 1 FROM suspensions WHERE mx_group = +@name) AS known`,
  );
  return ((yield* known.get({ name: mxGroup })) as { known: number }).known === 1;
}

/** The subject of a source is its address and, behind a space, the node that it is of. */
function isOf(node: string | null, { scope, subject }: Row): boolean {
  return scope !== 'source' || ((subject as string).split(' ')[1] ?? null) === node;
}

function suspensionFromRow(row: Row): Suspension {
  const tenant = row.tenant_id as Uint8Array;
  return {
    mxGroup: row.mx_group as string,
    scope: row.scope as Suspension['scope'],
    tenantId: tenant.length === 0 ? null : fromId(tenant),
    subject: row.scope === 'source' ? (row.subject as string).split(' ')[0]! : (row.subject as string),
    rule: row.rule as string,
    reply: row.reply as string,
    since: row.since as number,
    until: row.until as number,
  };
}
