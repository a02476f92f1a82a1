// Sessions.

import type { Session, SessionStore, Visitor } from '../../../accounts.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, NO_LIMIT, type Row, toId } from '../../values.ts';
import { readTenant } from './tenants.ts';
import { readUser } from './users.ts';

export function sessionVerbs(db: Transaction): Work<SessionStore> {
  return {
    createSession: (session, maxLive) => createSession(db, session, maxLive),
    findSession: (tokenHash, now) => findSession(db, tokenHash, now),
    *touchSession(userId, id, { at, expiresAt, address }) {
      const touch =
        'UPDATE sessions SET last_seen_at = +?, expires_at = min(+?, ends_at), address = +? WHERE id = +? AND user_id = +?';
      yield* db.sql(touch).run(at, expiresAt, address, toId(id), toId(userId));
    },
    *listSessions(userId, now) {
      const live = 'SELECT * FROM sessions WHERE user_id = +? AND expires_at > +? ORDER BY last_seen_at DESC, id DESC';
      return ((yield* db.sql(live).all(toId(userId), now)) as Row[]).map(sessionFromRow);
    },
    *endSession(userId, id) {
      const end = db.sql('DELETE FROM sessions WHERE id = +? AND user_id = +?');
      return (yield* end.run(toId(id), toId(userId))).changes === 1;
    },
    *endSessionsOf(userId, exceptId) {
      const end = db.sql('DELETE FROM sessions WHERE user_id = +? AND id <> +?');
      return (yield* end.run(toId(userId), exceptId === undefined ? NO_ID : toId(exceptId))).changes;
    },
    *eraseSessions(now, limit) {
      const erase = 'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= +? LIMIT +?)';
      return (yield* db.sql(erase).run(now, limit)).changes;
    },
  };
}

/** Not equal to any ID. */
const NO_ID = Buffer.alloc(0);

function* createSession(db: Transaction, session: Session, maxLive: number): Steps<boolean> {
  const user = toId(session.userId);
  if (!(yield* readUser(db, session.userId))) return false;
  yield* db
    .sql(
      `INSERT INTO sessions (id, user_id, token_hash, client, address, created_at, last_seen_at, expires_at, ends_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
      toId(session.id),
      user,
      session.tokenHash,
      session.client,
      session.address,
      session.createdAt,
      session.lastSeenAt,
      session.expiresAt,
      session.endsAt,
    );
  yield* db
    .sql(
      `DELETE FROM sessions WHERE user_id = +@user AND id IN
       (SELECT id FROM sessions WHERE user_id = +@user ORDER BY id DESC LIMIT ${NO_LIMIT} OFFSET +@maxLive)`,
    )
    .run({ user, maxLive });
  return true;
}

function* findSession(db: Transaction, tokenHash: Buffer, now: number): Steps<Visitor | null> {
  const found = 'SELECT * FROM sessions WHERE token_hash = +? AND expires_at > +?';
  const row = (yield* db.sql(found).get(tokenHash, now)) as Row | undefined;
  if (!row) return null;
  const session = sessionFromRow(row);
  const user = yield* readUser(db, session.userId);
  if (!user) return null;
  const tenant = user.tenantId === null ? null : yield* readTenant(db, user.tenantId);
  return { session, user, tenant };
}

function sessionFromRow(row: Row): Session {
  return {
    id: fromId(row.id),
    userId: fromId(row.user_id),
    tokenHash: row.token_hash as Buffer,
    client: row.client as string | null,
    address: row.address as string,
    createdAt: row.created_at as number,
    lastSeenAt: row.last_seen_at as number,
    expiresAt: row.expires_at as number,
    endsAt: row.ends_at as number,
  };
}
