// The services around accounts over a real store, with a clock of the test's own and mail that is only noted.
import { scryptSync } from 'node:crypto';
import path from 'node:path';
import type { Test } from 'tap';
import { IdSource } from '../../../src/base/ids.ts';
import { Vault } from '../../../src/base/vault.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Tenant, TenantStatus, User, UserRole } from '../../../src/store/tenants.ts';
import { type AccountKit, createAccountKit } from '../../../src/tenants/accounts/account-kit.ts';
import type { PasswordQueue } from '../../../src/tenants/accounts/password-queue.ts';
import { verifyPassword } from '../../../src/tenants/accounts/passwords.ts';
import { SignIn } from '../../../src/tenants/accounts/sign-in.ts';
import { newTenant } from '../../../src/tenants/tenant-service.ts';
import { testFolder } from '../../support/test-folder.ts';

export const T0 = Date.UTC(2026, 0, 31);
export const PASSWORD = 'horse battery lake';
export const CLIENT = { ip: '192.0.2.1', userAgent: 'Browser/1.0' };

const BROWSER_KEY = { id: 'b', key: Buffer.alloc(32, 6) };

/** With the cheapest parameters: these tests check many. Real ones are in password-queue.test.ts. */
const quickPasswords = {
  hash: async (password: string) => quickHash(password),
  verify: async (password: string, stored: string | null) => stored !== null && verifyPassword(password, stored),
} as PasswordQueue;

export interface TestMail {
  to: readonly string[];
  subject: string;
  text: string;
  key: string;
}

export async function openAccounts(t: Test, change: Partial<AccountKit> = {}) {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(async () => {
    await settled();
    await store.close();
  });
  const time = { now: T0 };
  const clock = { now: () => time.now };
  const ids = new IdSource();
  const mails: TestMail[] = [];
  const under: Promise<void>[] = [];
  const makeKit = (): AccountKit => ({
    ...createAccountKit({
      ...{ store, clock, ids, log: silentLogger, vault: new Vault([Buffer.alloc(32, 5)]) },
      ...{ baseUrl: 'https://mail.test', operatorAddress: 'ops@platform.test', signUpOpen: true },
      secondStepFor: 'nobody',
      browserKeys: { key: BROWSER_KEY, keys: (id) => (id === BROWSER_KEY.id ? BROWSER_KEY.key : undefined) },
      notify(to, notice) {
        mails.push({ to, ...notice });
      },
    }),
    inBackground: (work) => void under.push(work()),
    passwords: quickPasswords,
    ...change,
  });
  const kit = makeKit();
  const tenant = async (status: TenantStatus = 'active'): Promise<Tenant> => {
    const made = newTenant({ id: ids.next(), name: 'Acme', status, createdAt: T0 });
    await store.tenants.createTenant(made);
    return made;
  };
  const user = async (of: Tenant | null, email: string, role: UserRole = 'owner'): Promise<User> => {
    const passwordHash = quickHash(PASSWORD);
    const made = { id: ids.next(), tenantId: of?.id ?? null, email, role, passwordHash, createdAt: T0 };
    await store.accounts.createUser(made);
    return made;
  };
  /** What goes on after an answer is over. */
  const settled = async () => {
    while (under.length > 0) await under.shift();
  };
  /** Another node on the same store. */
  const signInElsewhere = () => new SignIn(makeKit());
  return { kit, store, time, mails, tenant, user, settled, signIn: new SignIn(kit), signInElsewhere };
}

function quickHash(password: string): string {
  const hash = scryptSync(password.normalize('NFKC'), 'salt', 32, { N: 2, r: 1, p: 1 });
  return `$scrypt$ln=1,r=1,p=1$c2FsdA==$${hash.toString('base64')}`;
}

/** The token of the link in a mail. */
export function tokenIn({ text }: TestMail): string {
  const token = /[?&]token=([A-Za-z0-9_-]{43})$/m.exec(text)?.[1];
  if (!token) throw new Error(`no link in: ${text}`);
  return token;
}
