// One-time links in mails and their effects.

import type { Joining, MailLink, MailLinkStore, SignUp } from '../../../accounts.ts';
import type { User } from '../../../tenants.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, fromOptionalId, type Row, toId } from '../../values.ts';
import { insertTenant, readTenant } from './tenants.ts';
import { insertUser, readUser } from './users.ts';

type MailLinkVerbs = Work<Omit<MailLinkStore, keyof SignUpVerbs>>;

export function mailLinkVerbs(db: Transaction): MailLinkVerbs {
  return {
    keepMailLink: (link) => keepLink(db, link),
    *keepInvitation(link, maxOpen) {
      const others = (yield* openInvitations(db, link.tenantId!, link.createdAt)).filter(
        ({ email }) => email !== link.email,
      );
      if (others.length >= maxOpen) return 'too_many';
      yield* keepLink(db, link);
      return 'kept';
    },
    findMailLink: (tokenHash, now) => readLink(db, tokenHash, now),
    listInvitations: (tenantId, now) => openInvitations(db, tenantId, now),
    *cancelInvitation(tenantId, id) {
      const cancel = db.sql(`DELETE FROM mail_links WHERE tenant_id = +? AND id = +? AND purpose = 'invitation'`);
      return (yield* cancel.run(toId(tenantId), toId(id))).changes === 1;
    },
    resetByLink: (tokenHash, passwordHash, now) => resetByLink(db, { tokenHash, passwordHash, now }),
    joinByLink: (tokenHash, joining) => joinByLink(db, tokenHash, joining),
    *confirmByLink(tokenHash, now) {
      const link = yield* readLink(db, tokenHash, now);
      if (link?.purpose !== 'confirmation') return null;
      yield* dropLink(db, link);
      return yield* confirmSignUp(db, link.userId!);
    },
    *eraseMailLinks(now, limit) {
      const erase = 'DELETE FROM mail_links WHERE id IN (SELECT id FROM mail_links WHERE expires_at <= +? LIMIT +?)';
      return (yield* db.sql(erase).run(now, limit)).changes;
    },
  };
}

function* keepLink(db: Transaction, link: MailLink): Steps<void> {
  const [user, tenant] = [link.userId && toId(link.userId), link.tenantId && toId(link.tenantId)];
  if (user) yield* db.sql('DELETE FROM mail_links WHERE user_id = +? AND purpose = +?').run(user, link.purpose);
  if (tenant) yield* db.sql('DELETE FROM mail_links WHERE tenant_id = +? AND email = +?').run(tenant, link.email);
  yield* db
    .sql(
      `INSERT INTO mail_links (id, token_hash, purpose, email, user_id, tenant_id, role, created_at, expires_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
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

function* dropLink(db: Transaction, { id }: MailLink): Steps<void> {
  yield* db.sql('DELETE FROM mail_links WHERE id = +?').run(toId(id));
}

function* readLink(db: Transaction, tokenHash: Buffer, now: number): Steps<MailLink | null> {
  const row = yield* db.sql('SELECT * FROM mail_links WHERE token_hash = +? AND expires_at > +?').get(tokenHash, now);
  return row === undefined ? null : linkFromRow(row as Row);
}

function* openInvitations(db: Transaction, tenantId: string, now: number): Steps<MailLink[]> {
  const list = 'SELECT * FROM mail_links WHERE tenant_id = +? AND expires_at > +? ORDER BY id';
  return ((yield* db.sql(list).all(toId(tenantId), now)) as Row[]).map(linkFromRow);
}

interface Reset {
  tokenHash: Buffer;
  passwordHash: string;
  now: number;
}

function* resetByLink(db: Transaction, { tokenHash, passwordHash, now }: Reset): Steps<User | null> {
  const link = yield* readLink(db, tokenHash, now);
  if (link?.purpose !== 'reset') return null;
  const user = toId(link.userId!);
  // Links that were sent for the old password, or to confirm the address, are no longer needed.
  yield* db.sql('DELETE FROM mail_links WHERE user_id = +?').run(user);
  yield* db.sql('DELETE FROM sessions WHERE user_id = +?').run(user);
  yield* db.sql('UPDATE users SET password_hash = +? WHERE id = +?').run(passwordHash, user);
  yield* confirmSignUp(db, link.userId!);
  return yield* readUser(db, link.userId!);
}

function* joinByLink(
  db: Transaction,
  tokenHash: Buffer,
  { userId, passwordHash, at }: Joining,
): Steps<User | 'exists' | null> {
  const link = yield* readLink(db, tokenHash, at);
  if (link?.purpose !== 'invitation') return null;
  const { tenantId, email, role } = link;
  const user: User = { id: userId, tenantId, email, role: role!, passwordHash, createdAt: at };
  yield* dropSignUpOf(db, email);
  if (!(yield* insertUser(db, user))) return 'exists';
  yield* dropLink(db, link);
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

// Sign-ups: until their address is confirmed they also have a row in sign_ups, and they are erased when that
// never happens, unless their tenant has become more than that.

type SignUpVerbs = Work<Pick<MailLinkStore, 'signUp' | 'isUnconfirmed' | 'confirmAddress' | 'eraseSignUps'>>;

export function signUpVerbs(db: Transaction): SignUpVerbs {
  return {
    signUp: (signUp) => writeSignUp(db, signUp),
    *isUnconfirmed(userId) {
      return (yield* db.sql('SELECT 1 FROM sign_ups WHERE user_id = +?').get(toId(userId))) !== undefined;
    },
    confirmAddress: (userId) => confirmSignUp(db, userId),
    eraseSignUps: (before, limit) => eraseSignUps(db, before, limit),
  };
}

function* writeSignUp(db: Transaction, { tenant, user }: SignUp): Steps<'created' | 'exists'> {
  if ((yield* db.sql('SELECT 1 FROM users WHERE email = +?').get(user.email)) !== undefined) return 'exists';
  yield* insertTenant(db, tenant);
  yield* insertUser(db, user);
  const note = db.sql('INSERT INTO sign_ups (tenant_id, user_id, created_at) VALUES (+?, +?, +?)');
  yield* note.run(toId(tenant.id), toId(user.id), tenant.createdAt);
  return 'created';
}

/** Null when the user did not sign up, or is confirmed already. */
function* confirmSignUp(db: Transaction, userId: string): Steps<SignUp | null> {
  const row = yield* db.sql('DELETE FROM sign_ups WHERE user_id = +? RETURNING tenant_id').get(toId(userId));
  if (row === undefined) return null;
  const tenantId = (row as Row).tenant_id;
  // An operator may have decided earlier.
  yield* db
    .sql(`UPDATE tenants SET status = 'in_review' WHERE id = +? AND status = 'pending_verification'`)
    .run(tenantId);
  const [tenant, user] = [yield* readTenant(db, fromId(tenantId)), yield* readUser(db, userId)];
  return tenant && user ? { tenant, user } : null;
}

/** Where it was touched, its row stays as well: the address is still unconfirmed. */
function* eraseSignUps(db: Transaction, before: number, limit: number): Steps<number> {
  const old = db.sql(
    `SELECT s.tenant_id FROM sign_ups s JOIN tenants t ON t.id = s.tenant_id
     WHERE s.created_at < +? AND ${UNTOUCHED} LIMIT +?`,
    'column',
  );
  const tenants = (yield* old.all(before, limit)) as Buffer[];
  for (const tenant of tenants) yield* eraseSignUp(db, tenant);
  return tenants.length;
}

/** The invited person has proved the address, so an unconfirmed sign-up with it must not block the invitation. */
function* dropSignUpOf(db: Transaction, email: string): Steps<void> {
  const begun = db.sql(
    `SELECT s.tenant_id FROM users u JOIN sign_ups s ON s.user_id = u.id JOIN tenants t ON t.id = s.tenant_id
     WHERE u.email = +? AND ${UNTOUCHED}`,
    'column',
  );
  const tenant = (yield* begun.get(email)) as Buffer | undefined;
  if (tenant !== undefined) yield* eraseSignUp(db, tenant);
}

/**
 * Of a sign-up `s` of the tenant `t`: nobody has added or changed anything since, which would make it more than a mere
 * sign-up. Everything else that a tenant may have, such as mail, needs a domain or a key.
 */
const UNTOUCHED = `t.status = 'pending_verification' AND t.status_reason IS NULL AND t.tier_pinned = 0
       AND t.open_tracking = 0 AND t.click_tracking = 0 AND t.unsubscribe = 0
       AND t.bounces_domain IS NULL AND t.content_days IS NULL
       AND NOT EXISTS (SELECT 1 FROM users WHERE tenant_id = t.id AND id <> s.user_id)
       AND NOT EXISTS (SELECT 1 FROM mail_links WHERE tenant_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM api_keys WHERE tenant_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM domains WHERE tenant_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM templates WHERE tenant_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM webhooks WHERE tenant_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM suppressions WHERE tenant_id = t.id)`;

/** Its links and its row in sign_ups go with the user. */
function* eraseSignUp(db: Transaction, tenant: Buffer): Steps<void> {
  yield* db.sql('DELETE FROM users WHERE tenant_id = +?').run(tenant);
  yield* db.sql('DELETE FROM tenants WHERE id = +?').run(tenant);
}
