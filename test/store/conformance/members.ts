// Conformance: the people of a tenant; the last owner stays.
import type { Test } from 'tap';
import type { User } from '../../../src/store/tenants.ts';
import { type Bench, T0 } from './harness.ts';

export async function newUser(bench: Bench, tenantId: string | null, role: User['role'] = 'owner'): Promise<User> {
  const id = bench.id();
  const user: User = { id, tenantId, email: `${id}@x.test`, role, passwordHash: 'hash', createdAt: T0 };
  if ((await bench.store.accounts.createUser(user)) !== 'created') throw new Error('not created');
  return user;
}

export const memberCases = {
  'members are listed with what is known of them, without their passwords': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const { passwordHash: _, ...owner } = await newUser(bench, tenant.id);
    const { passwordHash: __, ...viewer } = await newUser(bench, tenant.id, 'viewer');
    const { passwordHash: ___, ...operator } = await newUser(bench, null, 'operator');
    await newUser(bench, (await bench.tenant()).id);
    const session = { id: bench.id(), userId: viewer.id, tokenHash: Buffer.alloc(32, 1), client: null, address: '::1' };
    const times = { createdAt: T0, lastSeenAt: T0 + 5, expiresAt: T0 + 9, endsAt: T0 + 9 };
    await bench.store.accounts.createSession({ ...session, ...times }, 9);
    await bench.store.accounts.beginSecondFactor(viewer.id, { masterKeyId: 'm', sealed: Buffer.from('s') }, T0);
    const unseen = { lastSeenAt: null, hasSecondFactor: false };
    t.strictSame(await bench.store.accounts.listMembers(tenant.id), [
      { ...owner, ...unseen },
      { ...viewer, lastSeenAt: T0 + 5, hasSecondFactor: false },
    ]);
    await bench.store.accounts.confirmSecondFactor(viewer.id, { step: 1, at: T0, recoveryCodeHashes: [] });
    t.equal((await bench.store.accounts.listMembers(tenant.id))[1]?.hasSecondFactor, true);
    t.strictSame(await bench.store.accounts.listOperators(), [{ ...operator, ...unseen }]);
    t.match(await bench.store.accounts.getUser(owner.id), owner);
    t.equal(await bench.store.accounts.getUser(bench.id()), null);
  },

  'roles change; the last owner keeps the role': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const [owner, other] = [await newUser(bench, tenant.id), await newUser(bench, tenant.id, 'viewer')];
    const change = (user: User, role: 'owner' | 'member' | 'viewer') =>
      bench.store.accounts.changeRole(tenant.id, user.id, role);
    t.equal(await change(owner, 'member'), 'last_owner');
    t.equal(await change(owner, 'owner'), 'changed');
    t.equal(await change(other, 'owner'), 'changed');
    t.equal(await change(owner, 'member'), 'changed');
    t.equal(await change(other, 'viewer'), 'last_owner');
    t.strictSame(
      (await bench.store.accounts.listMembers(tenant.id)).map(({ role }) => role),
      ['member', 'owner'],
    );
  },

  'removing takes everything along, but not the last owner': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const [owner, member] = [await newUser(bench, tenant.id), await newUser(bench, tenant.id, 'member')];
    const tokenHash = Buffer.alloc(32, 1);
    const session = { id: bench.id(), userId: member.id, tokenHash, client: null, address: '::1' };
    await bench.store.accounts.createSession(
      { ...session, createdAt: T0, lastSeenAt: T0, expiresAt: T0 + 9, endsAt: T0 + 9 },
      9,
    );
    await bench.store.accounts.beginSecondFactor(member.id, { masterKeyId: 'm', sealed: Buffer.from('s') }, T0);
    await bench.store.accounts.confirmSecondFactor(member.id, {
      step: 1,
      at: T0,
      recoveryCodeHashes: [Buffer.from('c')],
    });
    t.equal(await bench.store.accounts.removeMember(tenant.id, owner.id), 'last_owner');
    t.equal(await bench.store.accounts.removeMember(tenant.id, member.id), 'changed');
    t.equal(await bench.store.accounts.removeMember(tenant.id, member.id), 'unknown');
    t.equal(await bench.store.accounts.findSession(tokenHash, T0), null);
    t.equal(await bench.store.accounts.findSecondFactor(member.id), null);
    t.equal(await bench.store.accounts.findUserByEmail(member.email), null);
    t.equal((await bench.store.accounts.listMembers(tenant.id)).length, 1);
  },

  "another tenant's people, and operators, cannot be touched": async (t: Test, bench: Bench) => {
    const [own, stranger] = [await bench.tenant(), await bench.tenant()];
    await newUser(bench, stranger.id);
    const users = [await newUser(bench, own.id, 'viewer'), await newUser(bench, null, 'operator')];
    for (const user of users) {
      t.equal(await bench.store.accounts.changeRole(stranger.id, user.id, 'owner'), 'unknown');
      t.equal(await bench.store.accounts.removeMember(stranger.id, user.id), 'unknown');
      t.strictSame(await bench.store.accounts.getUser(user.id), user);
    }
  },
};
