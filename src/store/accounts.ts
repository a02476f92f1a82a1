// Contract: sessions of people who are signed in to the portal. The store keeps only the SHA-256 of a session's
// token, and never returns a session that has expired.

import type { SealedSecret } from '../base/vault.ts';
import type { MemberRole, Tenant, User } from './tenants.ts';

export interface Session {
  id: string;
  userId: string;
  tokenHash: Buffer;
  /** The client's User-Agent, as a short name. */
  client: string | null;
  /** The IP address of its last request. */
  address: string;
  createdAt: number;
  lastSeenAt: number;
  /** It expires at this time unless it is used before. */
  expiresAt: number;
  /** It expires at this time in any case. */
  endsAt: number;
}

/** A signed-in user with the session. */
export interface Visitor {
  session: Session;
  user: User;
  /** Null for an operator of the platform. */
  tenant: Tenant | null;
}

interface SessionUse {
  at: number;
  expiresAt: number;
  address: string;
}

export interface SessionStore {
  /** Keeps only the user's `maxLive` newest sessions. False when the user no longer exists. */
  createSession(session: Session, maxLive: number): Promise<boolean>;
  /** Null when no session has the token, when it has expired, or when its user is gone. */
  findSession(tokenHash: Buffer, now: number): Promise<Visitor | null>;
  touchSession(userId: string, id: string, sight: SessionUse): Promise<void>;
  /** Sessions that have not expired, the one seen last first. */
  listSessions(userId: string, now: number): Promise<Session[]>;
  /** False when the user has no such session. */
  endSession(userId: string, id: string): Promise<boolean>;
  /** Returns how many ended. */
  endSessionsOf(userId: string, exceptId?: string): Promise<number>;
  /** Erases up to `limit` expired sessions; returns how many. */
  eraseSessions(now: number, limit: number): Promise<number>;
}

// Contract: second factors of users (TOTP), and recovery codes for when the device is lost. The secret is
// sealed; of recovery codes the store keeps the SHA-256.

export interface SecondFactor {
  secret: SealedSecret;
  /** The time step of the last code that was accepted. */
  lastStep: number;
  createdAt: number;
  /** Null until the first code proves that the device has the secret; until then it protects nothing. */
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
  /** Replaces one that was never confirmed. False when a confirmed one exists, or no such user. */
  beginSecondFactor(userId: string, secret: SealedSecret, at: number): Promise<boolean>;
  /** False when no second factor is waiting for confirmation. */
  confirmSecondFactor(userId: string, confirmation: Confirmation): Promise<boolean>;
  /** False when a code of this time step or a later one was accepted before. */
  takeStep(userId: string, step: number): Promise<boolean>;
  /** Each code works once. Null when the user has no such code, otherwise how many are left. */
  takeRecoveryCode(userId: string, codeHash: Buffer): Promise<number | null>;
  /** False without a confirmed second factor. */
  replaceRecoveryCodes(userId: string, codeHashes: readonly Buffer[]): Promise<boolean>;
  /** With its recovery codes. False when there was none. */
  dropSecondFactor(userId: string): Promise<boolean>;
}

// Contract: one-time links in mails that prove who reads an address, and what they do: set a password, confirm
// the address of a sign-up, join a tenant. The effect happens in the transaction that uses up the link. The
// store keeps only the SHA-256 of a link's token.

export interface MailLink {
  id: string;
  tokenHash: Buffer;
  purpose: 'reset' | 'confirmation' | 'invitation';
  /** Lower case. */
  email: string;
  /** Null in an invitation: using it creates the user. */
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
  /** As keepMailLink, unless the tenant has `maxOpen` other invitations that are still valid. */
  keepInvitation(link: MailLink, maxOpen: number): Promise<'kept' | 'too_many'>;
  /** Null when no link has the token, when it was used, or when it has expired. */
  findMailLink(tokenHash: Buffer, now: number): Promise<MailLink | null>;
  /** Those that are still valid, oldest first. */
  listInvitations(tenantId: string, now: number): Promise<MailLink[]>;
  /** False when the tenant has no such invitation. */
  cancelInvitation(tenantId: string, id: string): Promise<boolean>;

  /**
   * Uses up a link for a new password: sets it and ends all sessions. The user has proved the address by reading it, so
   * an open sign-up is confirmed, too. Null when the link is not valid.
   */
  resetByLink(tokenHash: Buffer, passwordHash: string, now: number): Promise<User | null>;
  /**
   * Uses up an invitation and creates its user; an unconfirmed sign-up with the same address is erased where
   * `eraseSignUps` would erase it. Null when the invitation is not valid; 'exists' leaves it as it is.
   */
  joinByLink(tokenHash: Buffer, joining: Joining): Promise<User | 'exists' | null>;
  /** Uses up the link of a sign-up: its tenant goes into review. Null when the link is not valid. */
  confirmByLink(tokenHash: Buffer, now: number): Promise<SignUp | null>;

  /** 'exists' when the address already has a user. */
  signUp(signUp: SignUp): Promise<'created' | 'exists'>;
  /** Whether the user signed up and the address is not confirmed yet. */
  isUnconfirmed(userId: string): Promise<boolean>;
  /** As confirmByLink, by the word of an operator. Null when the user did not sign up, or is confirmed already. */
  confirmAddress(userId: string): Promise<SignUp | null>;

  /** Erases up to `limit` expired links; returns how many. */
  eraseMailLinks(now: number, limit: number): Promise<number>;
  /**
   * Erases sign-ups from before `before` that were never confirmed; how many. Those whose tenant was changed, or has
   * anything besides the user who signed up, stay, unconfirmed as they are.
   */
  eraseSignUps(before: number, limit: number): Promise<number>;
}
