// The people of a tenant, and operators, in SQLite.
import type { Member, MemberChange, MemberStore } from '../../members.ts';
import type { Connection } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';
import { readUser, userFromRow } from './users.ts';

export function memberVerbs(db: Connection): MemberStore {
  return {
    getUser: (id) => db.read(() => readUser(db, id)),
    listMembers: (tenantId) =>
      db.read(() => {
        const list = `SELECT u.*, ${SIGNS} FROM users u WHERE u.tenant_id = ? ORDER BY u.id`;
        return (db.sql(list).all(toId(tenantId)) as Row[]).map(memberFromRow);
      }),
    listOperators: () =>
      db.read(() => {
        const list = `SELECT u.*, ${SIGNS} FROM users u WHERE u.tenant_id IS NULL ORDER BY u.id`;
        return (db.sql(list).all() as Row[]).map(memberFromRow);
      }),
    changeRole: (tenantId, userId, role) =>
      db.write(() => {
        const problem = changeProblem(db, { tenantId, userId, staysOwner: role === 'owner' });
        if (problem) return problem;
        db.sql('UPDATE users SET role = ? WHERE tenant_id = ? AND id = ?').run(role, toId(tenantId), toId(userId));
        return 'changed';
      }),
    removeMember: (tenantId, userId) =>
      db.write(() => {
        const problem = changeProblem(db, { tenantId, userId, staysOwner: false });
        if (problem) return problem;
        db.sql('DELETE FROM users WHERE tenant_id = ? AND id = ?').run(toId(tenantId), toId(userId));
        return 'changed';
      }),
  };
}

/** What is known of a user besides its own row. */
const SIGNS = `(SELECT max(last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at,
  EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS has_second_factor`;

interface Change {
  tenantId: string;
  userId: string;
  staysOwner: boolean;
}

function changeProblem(db: Connection, { tenantId, userId, staysOwner }: Change): MemberChange | null {
  const tenant = toId(tenantId);
  const role = db.sql('SELECT role FROM users WHERE tenant_id = ? AND id = ?', 'column').get(tenant, toId(userId));
  if (role === undefined) return 'unknown';
  if (role !== 'owner' || staysOwner) return null;
  const owners = db.sql(`SELECT count(*) FROM users WHERE tenant_id = ? AND role = 'owner'`, 'column').get(tenant);
  return (owners as number) > 1 ? null : 'last_owner';
}

function memberFromRow(row: Row): Member {
  const { passwordHash: _, ...user } = userFromRow(row);
  return {
    ...user,
    lastSeenAt: row.last_seen_at as number | null,
    hasSecondFactor: row.has_second_factor === 1,
  };
}
