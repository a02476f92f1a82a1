// One-time links in mails and their effects, in SQLite.
import type { Joining, MailLink, MailLinkStore, SignUp } from '../../accounts.ts';
import type { User } from '../../tenants.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { fromId, fromOptionalId, type Row, toId } from '../engine/values.ts';
import { insertTenant, readTenant } from './tenants.ts';
import { insertUser, readUser } from './users.ts';

type MailLinkVerbs = Work<Omit<MailLinkStore, keyof SignUpVerbs>>;

export function mailLinkVerbs(db: Transaction): MailLinkVerbs {
  return {
    keepMailLink: (link) => keepLink(db, link),
    keepInvitation: (link, maxOpen) => {
      const others = openInvitations(db, link.tenantId!, link.createdAt).filter(({ email }) => email !== link.email);
      if (others.length >= maxOpen) return 'too_many';
      keepLink(db, link);
      return 'kept';
    },
    findMailLink: (tokenHash, now) => readLink(db, tokenHash, now),
    listInvitations: (tenantId, now) => openInvitations(db, tenantId, now),
    cancelInvitation: (tenantId, id) => {
      const cancel = db.sql(`DELETE FROM mail_links WHERE tenant_id = +? AND id = +? AND purpose = 'invitation'`);
      return cancel.run(toId(tenantId), toId(id)).changes === 1;
    },
    resetByLink: (tokenHash, passwordHash, now) => resetByLink(db, { tokenHash, passwordHash, now }),
    joinByLink: (tokenHash, joining) => joinByLink(db, tokenHash, joining),
    confirmByLink: (tokenHash, now) => {
      const link = readLink(db, tokenHash, now);
      if (link?.purpose !== 'confirmation') return null;
      dropLink(db, link);
      return confirmSignUp(db, link.userId!);
    },
    eraseMailLinks: (now, limit) => {
      const erase = 'DELETE FROM mail_links WHERE id IN (SELECT id FROM mail_links WHERE expires_at <= +? LIMIT +?)';
      return db.sql(erase).run(now, limit).changes;
    },
  };
}

function keepLink(db: Transaction, link: MailLink): void {
  const [user, tenant] = [link.userId && toId(link.userId), link.tenantId && toId(link.tenantId)];
  if (user) db.sql('DELETE FROM mail_links WHERE user_id = +? AND purpose = +?').run(user, link.purpose);
  if (tenant) db.sql('DELETE FROM mail_links WHERE tenant_id = +? AND email = +?').run(tenant, link.email);
  db.sql(
    `INSERT INTO mail_links (id, token_hash, purpose, email, user_id, tenant_id, role, created_at, expires_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?)`,
  ).run(
    toId(link.id),
    link.tokenHash,
    link.purpose,
    link.email,
    user,
    tenant,
    link.role,
    link.createdAt,
    link.expiresAt,
  );
}

function dropLink(db: Transaction, { id }: MailLink): void {
  db.sql('DELETE FROM mail_links WHERE id = +?').run(toId(id));
}

function readLink(db: Transaction, tokenHash: Buffer, now: number): MailLink | null {
  const row = db.sql('SELECT * FROM mail_links WHERE token_hash = +? AND expires_at > +?').get(tokenHash, now);
  return row === undefined ? null : linkFromRow(row as Row);
}

function openInvitations(db: Transaction, tenantId: string, now: number): MailLink[] {
  const list = 'SELECT * FROM mail_links WHERE tenant_id = +? AND expires_at > +? ORDER BY id';
  return (db.sql(list).all(toId(tenantId), now) as Row[]).map(linkFromRow);
}

interface Reset {
  tokenHash: Buffer;
  passwordHash: string;
  now: number;
}

function resetByLink(db: Transaction, { tokenHash, passwordHash, now }: Reset): User | null {
  const link = readLink(db, tokenHash, now);
  if (link?.purpose !== 'reset') return null;
  const user = toId(link.userId!);
  // Links that were sent for the old password, or to confirm the address, are no longer needed.
  db.sql('DELETE FROM mail_links WHERE user_id = +?').run(user);
  db.sql('DELETE FROM sessions WHERE user_id = +?').run(user);
  db.sql('UPDATE users SET password_hash = +? WHERE id = +?').run(passwordHash, user);
  confirmSignUp(db, link.userId!);
  return readUser(db, link.userId!);
}

function joinByLink(db: Transaction, tokenHash: Buffer, { userId, passwordHash, at }: Joining): User | 'exists' | null {
  const link = readLink(db, tokenHash, at);
  if (link?.purpose !== 'invitation') return null;
  const { tenantId, email, role } = link;
  const user: User = { id: userId, tenantId, email, role: role!, passwordHash, createdAt: at };
  dropSignUpOf(db, email);
  if (!insertUser(db, user)) return 'exists';
  dropLink(db, link);
  return user;
}

function linkFromRow(row: Row): MailLink {
  return {
    id: fromId(row.id),
    tokenHash: row.token_hash as Buffer,
    purpose: row.purpose as MailLink['purpose'],
    email: row.email as string,
    userId: fromOptionalId(row.user_id),
    tenantId: fromOptionalId(row.tenant_id),
    role: row.role as MailLink['role'],
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
  };
}

// Sign-ups in SQLite: until their address is confirmed they also have a row in sign_ups, and they are erased when that
// never happens.

type SignUpVerbs = Work<Pick<MailLinkStore, 'signUp' | 'isUnconfirmed' | 'eraseSignUps'>>;

export function signUpVerbs(db: Transaction): SignUpVerbs {
  return {
    signUp: (signUp) => writeSignUp(db, signUp),
    isUnconfirmed: (userId) => db.sql('SELECT 1 FROM sign_ups WHERE user_id = +?').get(toId(userId)) !== undefined,
    eraseSignUps: (before, limit) => eraseSignUps(db, before, limit),
  };
}

function writeSignUp(db: Transaction, { tenant, user }: SignUp): 'created' | 'exists' {
  if (db.sql('SELECT 1 FROM users WHERE email = +?').get(user.email) !== undefined) return 'exists';
  insertTenant(db, tenant);
  insertUser(db, user);
  const note = db.sql('INSERT INTO sign_ups (tenant_id, user_id, created_at) VALUES (+?, +?, +?)');
  note.run(toId(tenant.id), toId(user.id), tenant.createdAt);
  return 'created';
}

/** Null when the user did not sign up, or is confirmed already. */
function confirmSignUp(db: Transaction, userId: string): SignUp | null {
  const row = db.sql('DELETE FROM sign_ups WHERE user_id = +? RETURNING tenant_id').get(toId(userId));
  if (row === undefined) return null;
  const tenantId = (row as Row).tenant_id;
  // An operator may have decided earlier.
  db.sql(`UPDATE tenants SET status = 'in_review' WHERE id = +? AND status = 'pending_verification'`).run(tenantId);
  const [tenant, user] = [readTenant(db, fromId(tenantId)), readUser(db, userId)];
  return tenant && user ? { tenant, user } : null;
}

function eraseSignUps(db: Transaction, before: number, limit: number): number {
  const old = db.sql('SELECT tenant_id FROM sign_ups WHERE created_at < +? LIMIT +?', 'column');
  const tenants = old.all(before, limit) as Buffer[];
  for (const tenant of tenants) {
    db.sql('DELETE FROM sign_ups WHERE tenant_id = +?').run(tenant);
    if (!isTouched(db, tenant)) eraseTenant(db, tenant);
  }
  return tenants.length;
}

/** The invited person has proved the address, so an unconfirmed sign-up with it must not block the invitation. */
function dropSignUpOf(db: Transaction, email: string): void {
  const begun = db.sql(
    'SELECT s.tenant_id FROM sign_ups s JOIN users u ON u.id = s.user_id WHERE u.email = +?',
    'column',
  );
  const tenant = begun.get(email) as Buffer | undefined;
  if (tenant === undefined || isTouched(db, tenant)) return;
  db.sql('DELETE FROM sign_ups WHERE tenant_id = +?').run(tenant);
  eraseTenant(db, tenant);
}

/** An operator has changed it: then it is no longer a mere sign-up. */
function isTouched(db: Transaction, tenant: Buffer): boolean {
  const touched = db.sql(
    `SELECT 1 FROM tenants t WHERE t.id = +@tenant AND (t.status <> 'pending_verification'
       OR EXISTS (SELECT 1 FROM api_keys k WHERE k.tenant_id = +@tenant)
       OR EXISTS (SELECT 1 FROM domains d WHERE d.tenant_id = +@tenant))`,
  );
  return touched.get({ tenant }) !== undefined;
}

function eraseTenant(db: Transaction, tenant: Buffer): void {
  db.sql('DELETE FROM users WHERE tenant_id = +?').run(tenant);
  db.sql('DELETE FROM tenants WHERE id = +?').run(tenant);
}
