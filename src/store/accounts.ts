// Contract: sessions of people who are signed in to the portal. The store knows a session's token only by
// its SHA-256, and says nothing of sessions that are over.

import type { SealedSecret } from '../base/vault.ts';
import type { MemberRole, Tenant, User } from './tenants.ts';

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

interface SessionSight {
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

// Contract: second factors of users (TOTP), and recovery codes for when the device is lost. The secret is
// sealed; of recovery codes the store knows the SHA-256.

export interface SecondFactor {
  secret: SealedSecret;
  /** Of the last code that was taken, counted in time steps. */
  lastStep: number;
  createdAt: number;
  /** Null until the first code proved that the device has the secret: it protects nothing until then. */
  confirmedAt: number | null;
  recoveryCodes: number;
}

interface Confirmation {
  step: number;
  at: number;
  recoveryCodeHashes: readonly Buffer[];
}

export interface SecondFactorStore {
  findSecondFactor(userId: string): Promise<SecondFactor | null>;
  /** Takes the place of one that was never confirmed. False when a confirmed one is there, or no such user. */
  beginSecondFactor(userId: string, secret: SealedSecret, at: number): Promise<boolean>;
  /** False when none waits for it. */
  confirmSecondFactor(userId: string, confirmation: Confirmation): Promise<boolean>;
  /** False when a code of this step or of a later one was taken before. */
  takeStep(userId: string, step: number): Promise<boolean>;
  /** Each works once. Null when the user has no such code, otherwise how many are left. */
  takeRecoveryCode(userId: string, codeHash: Buffer): Promise<number | null>;
  /** False without a confirmed second factor. */
  replaceRecoveryCodes(userId: string, codeHashes: readonly Buffer[]): Promise<boolean>;
  /** With its recovery codes. False when there was none. */
  dropSecondFactor(userId: string): Promise<boolean>;
}

// Contract: links in mails that prove who reads an address, each good for one use, and what they do: set a
// password, confirm the address of a sign-up, join a tenant. What a link does happens in the transaction
// that uses it up. The store knows a link's token only by its SHA-256.

export interface MailLink {
  id: string;
  tokenHash: Buffer;
  purpose: 'reset' | 'confirmation' | 'invitation';
  /** Lower case. */
  email: string;
  /** Null in an invitation: the user comes with its use. */
  userId: string | null;
  /** Of an invitation. */
  tenantId: string | null;
  /** Of an invitation. */
  role: MemberRole | null;
  createdAt: number;
  expiresAt: number;
}

export interface Joining {
  userId: string;
  passwordHash: string;
  at: number;
}

export interface SignUp {
  tenant: Tenant;
  user: User;
}

export interface MailLinkStore {
  /** Ends earlier links of the same user and purpose, or of the same invitation. */
  keepMailLink(link: MailLink): Promise<void>;
  /** As keepMailLink, unless the tenant has `maxOpen` other invitations that still hold. */
  keepInvitation(link: MailLink, maxOpen: number): Promise<'kept' | 'too_many'>;
  /** Null when nobody has it, when it was used, or when its time is over. */
  findMailLink(tokenHash: Buffer, now: number): Promise<MailLink | null>;
  /** Those that still hold, oldest first. */
  listInvitations(tenantId: string, now: number): Promise<MailLink[]>;
  /** False when the tenant has no such invitation. */
  cancelInvitation(tenantId: string, id: string): Promise<boolean>;

  /**
   * Uses up a link for a new password: sets it and ends all sessions. Whoever reads the address has confirmed it,
   * too. Null when the link does not hold.
   */
  resetByLink(tokenHash: Buffer, passwordHash: string, now: number): Promise<User | null>;
  /**
   * Uses up an invitation and makes its user; a sign-up with the address that was never confirmed is forgotten. Null
   * when it does not hold; 'exists' leaves it as it is.
   */
  joinByLink(tokenHash: Buffer, joining: Joining): Promise<User | 'exists' | null>;
  /** Uses up the link of a sign-up: its tenant goes into review. Null when it does not hold. */
  confirmByLink(tokenHash: Buffer, now: number): Promise<SignUp | null>;

  /** 'exists' when the address already has a user. */
  signUp(signUp: SignUp): Promise<'created' | 'exists'>;
  /** Whether the user came by a sign-up whose address nobody has confirmed. */
  isUnconfirmed(userId: string): Promise<boolean>;

  /** Of links whose time is over, at most `limit`; how many they were. */
  eraseMailLinks(now: number, limit: number): Promise<number>;
  /** Forgets sign-ups from before then that were never confirmed; how many. One that an operator has touched stays. */
  eraseSignUps(before: number, limit: number): Promise<number>;
}
