// Contract: links in mails that prove who reads an address, each good for one use, and what they do: set a
// password, confirm the address of a sign-up, join a tenant. What a link does happens in the transaction
// that uses it up. The store knows a link's token only by its SHA-256.
import type { MemberRole } from './members.ts';
import type { Tenant, User } from './tenants.ts';

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
