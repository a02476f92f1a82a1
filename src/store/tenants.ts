// Contract: tenants, their users and their API keys.

export const TENANT_STATUSES = ['pending_verification', 'in_review', 'active', 'suspended'] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

export const TIERS = ['1k', '10k', 'uncapped'] as const;
export type Tier = (typeof TIERS)[number];

export const USER_ROLES = ['operator', 'owner', 'member', 'viewer'] as const;
export type UserRole = (typeof USER_ROLES)[number];

export const SCOPES = [
  'emails:send',
  'domains:write',
  'webhooks:write',
  'templates:write',
  'suppressions:write',
] as const;
export type Scope = (typeof SCOPES)[number];

export interface Tenant {
  id: string;
  name: string;
  status: TenantStatus;
  statusReason: string | null;
  tier: Tier;
  /** An operator has fixed the tier: age and results do not change it. */
  tierPinned: boolean;
  openTracking: boolean;
  clickTracking: boolean;
  unsubscribe: boolean;
  bouncesDomain: string | null;
  createdAt: number;
}

export type TenantChange = Partial<Omit<Tenant, 'id' | 'createdAt'>>;

/** Results of a tenant's last messages. */
export interface RecentResults {
  messages: number;
  hardBounces: number;
  complaints: number;
}

export interface User {
  id: string;
  /** Null for an operator of the platform. */
  tenantId: string | null;
  email: string;
  role: UserRole;
  passwordHash: string;
  createdAt: number;
}

export interface ApiKey {
  id: string;
  tenantId: string;
  publicId: string;
  name: string;
  scopes: Scope[];
  boundDomain: string | null;
  secretHash: Buffer;
  createdAt: number;
  revokedAt: number | null;
}

export interface TenantStore {
  createTenant(tenant: Tenant): Promise<void>;
  getTenant(id: string): Promise<Tenant | null>;
  listTenants(): Promise<Tenant[]>;
  /** Null when there is no such tenant. */
  updateTenant(id: string, change: TenantChange): Promise<Tenant | null>;

  /** Over the tenant's last `window` finished messages. */
  recentResultsOf(tenantId: string, window: number): Promise<RecentResults>;
  /** False, and nothing changes, when an operator has pinned the tier. */
  raiseTier(tenantId: string, tier: Tier): Promise<boolean>;
}

export interface UserStore {
  /** 'exists' when the address already has a user. */
  createUser(user: User): Promise<'created' | 'exists'>;
  findUserByEmail(email: string): Promise<User | null>;
  /** Invalidates earlier links for a new password. */
  setPassword(userId: string, passwordHash: string): Promise<void>;
}

export interface ApiKeyStore {
  /** Refused when the tenant already has `maxLive` keys that are not revoked. */
  createApiKey(key: ApiKey, maxLive: number): Promise<'created' | 'too_many'>;
  findApiKey(publicId: string): Promise<{ key: ApiKey; tenant: Tenant } | null>;
  /**
   * The key with its tenant, for a caller that knows its secret: every authenticated call needs it. Unknown IDs and
   * wrong secrets take the same steps, so that timing reveals nothing.
   */
  findApiKeyBySecret(publicId: string, secretHash: Buffer): Promise<{ key: ApiKey; tenant: Tenant } | null>;
  listApiKeys(tenantId: string): Promise<ApiKey[]>;
  /** False when the tenant has no such live key. */
  revokeApiKey(tenantId: string, id: string, at: number): Promise<boolean>;
}

// Contract: the people of a tenant, and the operators of the platform.

export type MemberRole = Exclude<UserRole, 'operator'>;

export interface Member extends Omit<User, 'passwordHash'> {
  /** Null: the user has no stored session. */
  lastSeenAt: number | null;
  /** Signs in with a second factor. */
  hasSecondFactor: boolean;
}

/** Only operators could help a tenant without an owner, so its last one stays. */
export type MemberChange = 'changed' | 'unknown' | 'last_owner';

export interface MemberStore {
  getUser(id: string): Promise<User | null>;
  /** Oldest first. */
  listMembers(tenantId: string): Promise<Member[]>;
  /** Oldest first. */
  listOperators(): Promise<Member[]>;
  changeRole(tenantId: string, userId: string, role: MemberRole): Promise<MemberChange>;
  /** With sessions, second factor and all other data of the user. */
  removeMember(tenantId: string, userId: string): Promise<MemberChange>;
}

// Contract: when API keys were last used. Written in batches, some time after it happened.

export interface KeyUse {
  keyId: string;
  /** Ignored when it is earlier than the stored time. */
  at: number;
}

export interface KeyUseStore {
  /** Keys of any tenant. Unknown keys are ignored. */
  noteKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Only keys that were used. */
  lastKeyUses(tenantId: string): Promise<KeyUse[]>;
}
