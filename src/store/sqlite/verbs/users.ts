// Users in SQLite: people who sign in, of a tenant or of the platform.
import type { TenantStore, User } from '../../tenants.ts';
import type { Connection } from '../engine/connection.ts';
import { fromId, fromOptionalId, type Row, toId } from '../engine/values.ts';

type UserVerbs = Pick<TenantStore, 'createUser' | 'findUserByEmail' | 'setPassword'>;

export function userVerbs(db: Connection): UserVerbs {
  return {
    createUser: (user) => db.write(() => (insertUser(db, user) ? 'created' : 'exists')),
    findUserByEmail: (email) =>
      db.read(() => {
        const row = db.sql('SELECT * FROM users WHERE email = ?').get(email.toLowerCase()) as Row | undefined;
        return row ? userFromRow(row) : null;
      }),
    setPassword: (userId, passwordHash) =>
      db.write(() => {
        db.sql('UPDATE users SET password_hash = ? WHERE id = ?').run(passwordHash, toId(userId));
        db.sql(`DELETE FROM mail_links WHERE user_id = ? AND purpose = 'reset'`).run(toId(userId));
      }),
  };
}

/** False when the address has a user. */
export function insertUser(db: Connection, user: User): boolean {
  const insert = db.sql(
    `INSERT INTO users (id, tenant_id, email, role, password_hash, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (email) DO NOTHING`,
  );
  const tenant = user.tenantId === null ? null : toId(user.tenantId);
  const email = user.email.toLowerCase();
  return insert.run(toId(user.id), tenant, email, user.role, user.passwordHash, user.createdAt).changes === 1;
}

export function readUser(db: Connection, id: string): User | null {
  const row = db.sql('SELECT * FROM users WHERE id = ?').get(toId(id)) as Row | undefined;
  return row ? userFromRow(row) : null;
}

export function userFromRow(row: Row): User {
  return {
    id: fromId(row.id),
    tenantId: fromOptionalId(row.tenant_id),
    email: row.email as string,
    role: row.role as User['role'],
    passwordHash: row.password_hash as string,
    createdAt: row.created_at as number,
  };
}
