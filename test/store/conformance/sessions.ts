// Conformance: sessions of people: found while they last, ended by their owner only.
import type { Test } from 'tap';
import type { Session } from '../../../src/store/accounts.ts';
import { type Bench, T0 } from './harness.ts';
import { newUser } from './members.ts';

const MANY = 50;

function sessionOf(bench: Bench, userId: string, change: Partial<Session> = {}): Session {
  const id = bench.id();
  return {
    ...{ id, userId, tokenHash: Buffer.from(id), client: 'Browser/1.0 (Ünï)', address: '2001:db8::1' },
    ...{ createdAt: T0, lastSeenAt: T0, expiresAt: T0 + 100, endsAt: T0 + 1000 },
    ...change,
  };
}

export const sessionCases = {
  'a session is found with its user and tenant until it expires': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const user = await newUser(bench, tenant.id);
    const session = sessionOf(bench, user.id);
    t.equal(await bench.store.accounts.createSession(session, MANY), true);
    t.strictSame(await bench.store.accounts.findSession(session.tokenHash, T0 + 99), { session, user, tenant });
    t.equal(await bench.store.accounts.findSession(session.tokenHash, T0 + 100), null, 'over');
    t.equal(await bench.store.accounts.findSession(Buffer.alloc(32), T0), null, 'unknown');
    await bench.store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.equal(
      (await bench.store.accounts.findSession(session.tokenHash, T0))?.tenant?.status,
      'suspended',
      'as it is now',
    );
  },

  'an operator has no tenant; nobody is nobody': async (t: Test, bench: Bench) => {
    const operator = await newUser(bench, null, 'operator');
    const session = sessionOf(bench, operator.id, { client: null });
    await bench.store.accounts.createSession(session, MANY);
    t.strictSame(await bench.store.accounts.findSession(session.tokenHash, T0), {
      session,
      user: operator,
      tenant: null,
    });
    t.equal(await bench.store.accounts.createSession(sessionOf(bench, bench.id()), MANY), false);
  },

  'being seen moves the end, but not beyond the last': async (t: Test, bench: Bench) => {
    const user = await newUser(bench, null, 'operator');
    const session = sessionOf(bench, user.id);
    await bench.store.accounts.createSession(session, MANY);
    const seen = { at: T0 + 50, expiresAt: T0 + 150, address: '192.0.2.1' };
    await bench.store.accounts.touchSession(user.id, session.id, seen);
    const touched = { ...session, lastSeenAt: T0 + 50, expiresAt: T0 + 150, address: '192.0.2.1' };
    t.strictSame((await bench.store.accounts.findSession(session.tokenHash, T0 + 149))?.session, touched);
    await bench.store.accounts.touchSession(user.id, session.id, { ...seen, expiresAt: T0 + 5000 });
    t.equal((await bench.store.accounts.findSession(session.tokenHash, T0))?.session.expiresAt, T0 + 1000);
    await bench.store.accounts.touchSession(bench.id(), session.id, { ...seen, address: '203.0.113.9' });
    t.equal(
      (await bench.store.accounts.findSession(session.tokenHash, T0))?.session.address,
      '192.0.2.1',
      "nobody else's",
    );
  },

  'a user ends one session, or all but one; of others none': async (t: Test, bench: Bench) => {
    const [user, other] = [await newUser(bench, null, 'operator'), await newUser(bench, null, 'operator')];
    const own = [sessionOf(bench, user.id), sessionOf(bench, user.id), sessionOf(bench, user.id)];
    const foreign = sessionOf(bench, other.id);
    for (const one of [...own, foreign]) await bench.store.accounts.createSession(one, MANY);
    const live = async () => (await bench.store.accounts.listSessions(user.id, T0)).map(({ id }) => id);
    t.strictSame(await live(), own.map(({ id }) => id).reverse(), 'the youngest first');
    t.equal(await bench.store.accounts.endSession(other.id, own[0]!.id), false, 'not mine');
    t.equal(await bench.store.accounts.endSession(user.id, own[0]!.id), true);
    t.equal(await bench.store.accounts.endSession(user.id, own[0]!.id), false, 'once');
    t.equal(await bench.store.accounts.findSession(own[0]!.tokenHash, T0), null);
    t.equal(await bench.store.accounts.endSessionsOf(user.id, own[2]!.id), 1);
    t.strictSame(await live(), [own[2]!.id]);
    t.equal(await bench.store.accounts.endSessionsOf(user.id), 1);
    t.strictSame(await live(), []);
    t.ok(await bench.store.accounts.findSession(foreign.tokenHash, T0), "another user's goes on");
  },

  'only the youngest sessions stay': async (t: Test, bench: Bench) => {
    const user = await newUser(bench, null, 'operator');
    const all = Array.from({ length: 4 }, () => sessionOf(bench, user.id));
    for (const one of all) await bench.store.accounts.createSession(one, 2);
    t.strictSame(
      (await bench.store.accounts.listSessions(user.id, T0)).map(({ id }) => id),
      [all[3]!.id, all[2]!.id],
    );
  },

  'what is over is erased, a few at a time': async (t: Test, bench: Bench) => {
    const user = await newUser(bench, null, 'operator');
    const ends = [T0 + 1, T0 + 2, T0 + 3];
    for (const expiresAt of ends)
      await bench.store.accounts.createSession(sessionOf(bench, user.id, { expiresAt }), MANY);
    t.equal((await bench.store.accounts.listSessions(user.id, T0 + 2)).length, 1, 'only those that are not over');
    t.equal(await bench.store.accounts.eraseSessions(T0 + 2, 1), 1);
    t.equal(await bench.store.accounts.eraseSessions(T0 + 2, 10), 1);
    t.equal(await bench.store.accounts.eraseSessions(T0 + 2, 10), 0);
    t.equal((await bench.store.accounts.listSessions(user.id, 0)).length, 1);
  },
};
