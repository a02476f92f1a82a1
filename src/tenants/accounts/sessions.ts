// Sessions of signed-in users: a random token that only the browser has, looked up by its SHA-256. Every sign-in starts
// a session with a new token, whatever cookie the browser sent.

import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { TimerSpec } from '../../base/timers.ts';
import type { Session, Visitor } from '../../store/accounts.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/tenants.ts';
import type { RandomBytes } from '../random-text.ts';
import { newToken, tokenHash } from './secret-tokens.ts';

export interface SessionLives {
  /** Expires after so long without a request. */
  idleMs: number;
  /** Expires after so long in any case. */
  absoluteMs: number;
}

const LIVES: SessionLives = { idleMs: 14 * DAY_MS, absoluteMs: 90 * DAY_MS };
/** Operators can change everything: a machine left unattended must not stay signed in for weeks. */
const LIVES_OF_OPERATORS: SessionLives = { idleMs: DAY_MS, absoluteMs: 7 * DAY_MS };

/** The last use is written at most this often: a page of twenty requests is one write. */
const SEEN_EVERY_MS = MINUTE_MS;
/** More than any user has browsers; a program that signs in again and again must not fill the table. */
const SESSIONS_PER_USER = 50;
const CLIENT_MAX_CHARS = 300;

export interface SessionsKit {
  store: Pick<Store, 'accounts'>;
  clock: Clock;
  ids: IdSource;
  random?: RandomBytes;
}

export interface NewSession {
  user: Pick<User, 'id' | 'role'>;
  /** The User-Agent field of the request, if it had one. */
  client: string | undefined;
  address: string;
  /** The token that the browser had until now, which becomes invalid. */
  replaces?: string | null;
}

export interface StartedSession {
  /** For the cookie; not stored. */
  token: string;
  session: Session;
}

export interface Sessions {
  /** Null when the user was removed in the meantime. */
  startSession(arrival: NewSession): Promise<StartedSession | null>;
  /** The user of the token, if its session has not expired; extends the session. */
  findVisitor(token: string, address?: string): Promise<Visitor | null>;
  /** The same without extending it: for what a page asks by itself, while nobody may be there. */
  peekVisitor(token: string): Promise<Visitor | null>;
  endSession(token: string): Promise<void>;
}

export function createSessions(kit: SessionsKit): Sessions {
  const { store, clock, ids } = kit;
  const find = async (token: string) => {
    const hash = tokenHash(token);
    return hash === null ? null : store.accounts.findSession(hash, clock.now());
  };
  const endSession = async (token: string) => {
    const visitor = await find(token);
    if (visitor) await store.accounts.endSession(visitor.user.id, visitor.session.id);
  };
  return {
    endSession,
    peekVisitor: find,
    async startSession({ user, client, address, replaces }) {
      if (replaces) await endSession(replaces);
      const token = newToken(kit.random);
      const now = clock.now();
      const { idleMs, absoluteMs } = livesOf(user);
      const session: Session = {
        id: ids.next(),
        userId: user.id,
        tokenHash: tokenHash(token)!,
        client: client?.slice(0, CLIENT_MAX_CHARS) ?? null,
        address,
        createdAt: now,
        lastSeenAt: now,
        expiresAt: now + Math.min(idleMs, absoluteMs),
        endsAt: now + absoluteMs,
      };
      return (await store.accounts.createSession(session, SESSIONS_PER_USER)) ? { token, session } : null;
    },
    async findVisitor(token, address) {
      const visitor = await find(token);
      if (!visitor) return null;
      const { session, user } = visitor;
      const now = clock.now();
      if (now - session.lastSeenAt < SEEN_EVERY_MS) return visitor;
      const expiresAt = Math.min(now + livesOf(user).idleMs, session.endsAt);
      const use = { at: now, expiresAt, address: address ?? session.address };
      await store.accounts.touchSession(user.id, session.id, use);
      return { ...visitor, session: { ...session, lastSeenAt: now, expiresAt, address: use.address } };
    },
  };
}

function livesOf({ role }: Pick<User, 'role'>): SessionLives {
  return role === 'operator' ? LIVES_OF_OPERATORS : LIVES;
}

const ERASE_BATCH = 500;

/** Expired sessions are invalid anyway; this only frees their space. */
export function sessionTimer({ store, clock }: Pick<SessionsKit, 'store' | 'clock'>): TimerSpec {
  return {
    name: 'sessions',
    periodMs: HOUR_MS,
    async run(stopped) {
      let erased = 0;
      while (!stopped.aborted) {
        const some = await store.accounts.eraseSessions(clock.now(), ERASE_BATCH);
        erased += some;
        if (some < ERASE_BATCH) break;
      }
      return `${erased} erased`;
    },
  };
}
