// Tenants that come by themselves, in SQLite: until their address is confirmed they are remembered apart,
// and forgotten when that never happens.
import type { MailLinkStore, SignUp } from '../../mail-links.ts';
import type { Connection } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { insertTenant, readTenant } from './tenants.ts';
import { insertUser, readUser } from './users.ts';

type SignUpVerbs = Pick<MailLinkStore, 'signUp' | 'isUnconfirmed' | 'eraseSignUps'>;

export function signUpVerbs(db: Connection): SignUpVerbs {
  return {
    signUp: (signUp) => db.write(() => writeSignUp(db, signUp)),
    isUnconfirmed: (userId) =>
      db.read(() => db.sql('SELECT 1 FROM sign_ups WHERE user_id = ?').get(toId(userId)) !== undefined),
    eraseSignUps: (before, limit) => db.write(() => eraseSignUps(db, before, limit)),
  };
}

function writeSignUp(db: Connection, { tenant, user }: SignUp): 'created' | 'exists' {
  if (db.sql('SELECT 1 FROM users WHERE email = ?').get(user.email) !== undefined) return 'exists';
  insertTenant(db, tenant);
  insertUser(db, user);
  const note = db.sql('INSERT INTO sign_ups (tenant_id, user_id, created_at) VALUES (?, ?, ?)');
  note.run(toId(tenant.id), toId(user.id), tenant.createdAt);
  return 'created';
}

/** Null when the user did not come by a sign-up, or has confirmed it before. */
export function confirmSignUp(db: Connection, userId: string): SignUp | null {
  const row = db.sql('DELETE FROM sign_ups WHERE user_id = ? RETURNING tenant_id').get(toId(userId));
  if (row === undefined) return null;
  const tenantId = (row as Row).tenant_id;
  // An operator may have decided before.
  db.sql(`UPDATE tenants SET status = 'in_review' WHERE id = ? AND status = 'pending_verification'`).run(tenantId);
  const [tenant, user] = [readTenant(db, fromId(tenantId)), readUser(db, userId)];
  return tenant && user ? { tenant, user } : null;
}

function eraseSignUps(db: Connection, before: number, limit: number): number {
  const old = db.sql('SELECT tenant_id FROM sign_ups WHERE created_at < ? LIMIT ?', 'column');
  const tenants = old.all(before, limit) as Buffer[];
  for (const tenant of tenants) {
    db.sql('DELETE FROM sign_ups WHERE tenant_id = ?').run(tenant);
    if (!isTouched(db, tenant)) eraseTenant(db, tenant);
  }
  return tenants.length;
}

/** Whoever has this address has proved it, and wants something else than what somebody has begun with it. */
export function dropSignUpOf(db: Connection, email: string): void {
  const begun = db.sql(
    'SELECT s.tenant_id FROM sign_ups s JOIN users u ON u.id = s.user_id WHERE u.email = ?',
    'column',
  );
  const tenant = begun.get(email) as Buffer | undefined;
  if (tenant === undefined || isTouched(db, tenant)) return;
  db.sql('DELETE FROM sign_ups WHERE tenant_id = ?').run(tenant);
  eraseTenant(db, tenant);
}

/** By an operator: then it is no longer a mere sign-up. */
function isTouched(db: Connection, tenant: Buffer): boolean {
  const touched = db.sql(
    `SELECT 1 FROM tenants t WHERE t.id = @tenant AND (t.status <> 'pending_verification'
       OR EXISTS (SELECT 1 FROM api_keys k WHERE k.tenant_id = @tenant)
       OR EXISTS (SELECT 1 FROM domains d WHERE d.tenant_id = @tenant))`,
  );
  return touched.get({ tenant }) !== undefined;
}

function eraseTenant(db: Connection, tenant: Buffer): void {
  db.sql('DELETE FROM users WHERE tenant_id = ?').run(tenant);
  db.sql('DELETE FROM tenants WHERE id = ?').run(tenant);
}
