// Contract: sessions of people who are signed in to the portal. The store knows a session's token only by
// its SHA-256, and says nothing of sessions that are over.
import type { Tenant, User } from './tenants.ts';

export interface Session {
  id: string;
  userId: string;
  tokenHash: Buffer;
  /** What the browser calls itself. */
  client: string | null;
  /** Where it was last seen. */
  address: string;
  createdAt: number;
  lastSeenAt: number;
  /** Over from then on, unless it is seen before. */
  expiresAt: number;
  /** Over from then on, whatever happens. */
  endsAt: number;
}

/** Somebody who is signed in. */
export interface Visitor {
  session: Session;
  user: User;
  /** Null for an operator of the platform. */
  tenant: Tenant | null;
}

export interface SessionSight {
  at: number;
  expiresAt: number;
  address: string;
}

export interface SessionStore {
  /** Of a user's sessions only the `maxLive` youngest stay. False when there is no such user any more. */
  createSession(session: Session, maxLive: number): Promise<boolean>;
  /** Null when nobody has it, when it is over, or when its user is gone. */
  findSession(tokenHash: Buffer, now: number): Promise<Visitor | null>;
  touchSession(userId: string, id: string, sight: SessionSight): Promise<void>;
  /** Those that are not over, the one that was seen last first. */
  listSessions(userId: string, now: number): Promise<Session[]>;
  /** False when the user has no such session. */
  endSession(userId: string, id: string): Promise<boolean>;
  /** How many ended. */
  endSessionsOf(userId: string, exceptId?: string): Promise<number>;
  /** Of those that are over, at most `limit`; how many they were. */
  eraseSessions(now: number, limit: number): Promise<number>;
}
