// Sessions with a clock of the test's own, over a real store.
import path from 'node:path';
import t, { type Test } from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { UserRole } from '../../../src/store/tenants.ts';
import { createSessions, sessionTimer } from '../../../src/tenants/accounts/sessions.ts';
import { createTenant } from '../../../src/tenants/tenant-service.ts';
import { testFolder } from '../../support/test-folder.ts';

const T0 = Date.UTC(2026, 0, 1);

async function stage(t: Test) {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const time = { now: T0 };
  const clock = { now: () => time.now };
  const ids = new IdSource();
  const made = await createTenant({ store, clock, ids }, { name: 'Acme' });
  if (made.kind === 'refused') throw new Error(made.message);
  const user = async (email: string, role: UserRole = 'owner') => {
    const tenantId = role === 'operator' ? null : made.tenant.id;
    const one = { id: ids.next(), tenantId, email, role, passwordHash: 'x', createdAt: T0 };
    await store.accounts.createUser(one);
    return one;
  };
  const sessions = createSessions({ store, clock, ids });
  const start = async (of: { id: string; role: UserRole }, replaces?: string) => {
    const started = await sessions.startSession({ user: of, client: 'Browser', address: '192.0.2.1', replaces });
    if (!started) throw new Error('not started');
    return started;
  };
  return { store, clock, time, sessions, start, user, tenant: made.tenant };
}

t.test('a token finds its user and tenant, and nothing else does', async (t) => {
  const { sessions, start, user, tenant, store } = await stage(t);
  const owner = await user('a@acme.test');
  const { token, session } = await start(owner);
  t.match(token, /^[A-Za-z0-9_-]{43}$/);
  t.strictSame(await sessions.findVisitor(token), { session, user: owner, tenant });
  for (const other of ['', 'x', 'A'.repeat(43), `${token}A`, token.toLowerCase(), `${token}\n`]) {
    t.equal(await sessions.findVisitor(other), null, JSON.stringify(other));
  }
  const kept = (await store.accounts.listSessions(owner.id, T0))[0]!;
  t.notOk(
    Object.values(kept).some((value) => Buffer.from(String(value)).includes(token)),
    'the token is not stored',
  );
  const operator = await user('op@acme.test', 'operator');
  t.match(await sessions.findVisitor((await start(operator)).token), { tenant: null, user: { role: 'operator' } });
});

t.test('a sign-in begins a new session, and the token from before is worth nothing', async (t) => {
  const { sessions, start, user } = await stage(t);
  const owner = await user('a@acme.test');
  const planted = 'P'.repeat(43);
  const first = await start(owner, planted);
  t.not(first.token, planted);
  t.equal(await sessions.findVisitor(planted), null, 'what somebody planted is never taken up');
  const second = await start(owner, first.token);
  t.not(second.token, first.token);
  t.equal(await sessions.findVisitor(first.token), null);
  t.equal((await sessions.findVisitor(second.token))?.user.id, owner.id);
  await sessions.endSession(second.token);
  t.equal(await sessions.findVisitor(second.token), null, 'signed out');
});

t.test('a session ends after 14 idle days, and after 90 days whatever happens', async (t) => {
  const { sessions, start, user, time } = await stage(t);
  const { token } = await start(await user('a@acme.test'));
  time.now = T0 + 14 * DAY_MS - 1;
  t.ok(await sessions.findVisitor(token), 'just in time');
  time.now += 14 * DAY_MS;
  t.equal(await sessions.findVisitor(token), null, 'idle for 14 days');
  time.now = T0;
  const { token: busy } = await start(await user('b@acme.test'));
  for (let day = 1; day < 90; day++) {
    time.now = T0 + day * DAY_MS;
    t.ok(await sessions.findVisitor(busy), `day ${day}`);
  }
  time.now = T0 + 90 * DAY_MS;
  t.equal(await sessions.findVisitor(busy), null, 'the end, though it was seen every day');
});

t.test('a look does not extend it', async (t) => {
  const { sessions, start, user, time } = await stage(t);
  const { token, session } = await start(await user('a@acme.test'));
  for (let day = 1; day < 14; day++) {
    time.now = T0 + day * DAY_MS;
    t.match(await sessions.peekVisitor(token), { session: { lastSeenAt: T0, expiresAt: session.expiresAt } });
  }
  time.now = T0 + 14 * DAY_MS;
  t.equal(await sessions.peekVisitor(token), null, 'idle, though a page was open');
});

t.test("an operator's session is over after an idle day, and after a week", async (t) => {
  const { sessions, start, user, time } = await stage(t);
  const operator = await user('op@acme.test', 'operator');
  const { token } = await start(operator);
  time.now = T0 + DAY_MS;
  t.equal(await sessions.findVisitor(token), null);
  const { token: busy } = await start(operator);
  const began = time.now;
  for (let hour = 12; hour < 7 * 24; hour += 12) {
    time.now = began + hour * HOUR_MS;
    t.ok(await sessions.findVisitor(busy), `hour ${hour}`);
  }
  time.now = began + 7 * DAY_MS;
  t.equal(await sessions.findVisitor(busy), null);
});

t.test('being seen is written once a minute, with the address', async (t) => {
  const { store, sessions, start, user, time } = await stage(t);
  const owner = await user('a@acme.test');
  const { token } = await start(owner);
  const seen = async () => (await store.accounts.listSessions(owner.id, time.now))[0]!;
  time.now = T0 + MINUTE_MS - 1;
  await sessions.findVisitor(token, '192.0.2.2');
  t.match(await seen(), { lastSeenAt: T0, address: '192.0.2.1' });
  time.now = T0 + MINUTE_MS;
  const visitor = await sessions.findVisitor(token, '192.0.2.2');
  t.match(await seen(), { lastSeenAt: time.now, address: '192.0.2.2', expiresAt: time.now + 14 * DAY_MS });
  t.strictSame(visitor?.session, await seen(), 'what was answered is what was written');
});

t.test('sessions that are over are erased by the timer', async (t) => {
  const { store, sessions, start, user, time, clock } = await stage(t);
  const owner = await user('a@acme.test');
  await start(owner);
  time.now = T0 + 10 * DAY_MS;
  const { token } = await start(owner);
  time.now = T0 + 15 * DAY_MS;
  t.equal(await sessionTimer({ store, clock }).run(new AbortController().signal), '1 erased');
  t.ok(await sessions.findVisitor(token));
  t.equal((await store.accounts.listSessions(owner.id, 0)).length, 1);
});
