// Users: people who sign in, of a tenant or of the platform.

import type { Member, MemberChange, MemberStore, User, UserStore } from '../../../tenants.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, fromOptionalId, type Row, toId } from '../../values.ts';

export function userVerbs(db: Transaction): Work<UserStore> {
  return {
    *createUser(user) {
      return (yield* insertUser(db, user)) ? 'created' : 'exists';
    },
    *findUserByEmail(email) {
      const row = (yield* db.sql('SELECT * FROM users WHERE email = +?').get(email.toLowerCase())) as Row | undefined;
      return row ? userFromRow(row) : null;
    },
    *setPassword(userId, passwordHash) {
      yield* db.sql('UPDATE users SET password_hash = +? WHERE id = +?').run(passwordHash, toId(userId));
      yield* db.sql(`DELETE FROM mail_links WHERE user_id = +? AND purpose = 'reset'`).run(toId(userId));
    },
  };
}

/** False when the address has a user. */
export function* insertUser(db: Transaction, user: User): Steps<boolean> {
  const insert = db.sql(
    `INSERT INTO users (id, tenant_id, email, role, password_hash, created_at) VALUES (+?, +?, +?, +?, +?, +?)
     ON CONFLICT (email) DO NOTHING`,
  );
  const tenant = user.tenantId === null ? null : toId(user.tenantId);
  const email = user.email.toLowerCase();
  return (yield* insert.run(toId(user.id), tenant, email, user.role, user.passwordHash, user.createdAt)).changes === 1;
}

export function* readUser(db: Transaction, id: string): Steps<User | null> {
  const row = (yield* db.sql('SELECT * FROM users WHERE id = +?').get(toId(id))) as Row | undefined;
  return row ? userFromRow(row) : null;
}

function userFromRow(row: Row): User {
  return {
    id: fromId(row.id),
    tenantId: fromOptionalId(row.tenant_id),
    email: row.email as string,
    role: row.role as User['role'],
    passwordHash: row.password_hash as string,
    createdAt: row.created_at as number,
  };
}

// The people of a tenant, and operators.

export function memberVerbs(db: Transaction): Work<MemberStore> {
  return {
    getUser: (id) => readUser(db, id),
    *listMembers(tenantId) {
      const list = `SELECT u.*, ${FACTS} FROM users u WHERE u.tenant_id = +? ORDER BY u.id`;
      return ((yield* db.sql(list).all(toId(tenantId))) as Row[]).map(memberFromRow);
    },
    *listOperators() {
      const list = `SELECT u.*, ${FACTS} FROM users u WHERE u.tenant_id IS NULL ORDER BY u.id`;
      return ((yield* db.sql(list).all()) as Row[]).map(memberFromRow);
    },
    *changeRole(tenantId, userId, role) {
      const problem = yield* changeProblem(db, { tenantId, userId, staysOwner: role === 'owner' });
      if (problem) return problem;
      yield* db
        .sql('UPDATE users SET role = +? WHERE tenant_id = +? AND id = +?')
        .run(role, toId(tenantId), toId(userId));
      return 'changed';
    },
    *removeMember(tenantId, userId) {
      const problem = yield* changeProblem(db, { tenantId, userId, staysOwner: false });
      if (problem) return problem;
      yield* db.sql('DELETE FROM users WHERE tenant_id = +? AND id = +?').run(toId(tenantId), toId(userId));
      return 'changed';
    },
  };
}

/** Facts about a user that are not in its own row. */
const FACTS = `(SELECT max(last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at,
  EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS has_second_factor`;

interface Change {
  tenantId: string;
  userId: string;
  staysOwner: boolean;
}

function* changeProblem(db: Transaction, { tenantId, userId, staysOwner }: Change): Steps<MemberChange | null> {
  const tenant = toId(tenantId);
  const role = yield* db
    .sql('SELECT role FROM users WHERE tenant_id = +? AND id = +?', 'column')
    .get(tenant, toId(userId));
  if (role === undefined) return 'unknown';
  if (role !== 'owner' || staysOwner) return null;
  const owners = yield* db
    .sql(`SELECT count(*) FROM users WHERE tenant_id = +? AND role = 'owner'`, 'column')
    .get(tenant);
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
