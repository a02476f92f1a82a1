// Conformance: what a verb reads still holds when it writes, whatever another handle does meanwhile: limits of accounts,
// links and codes that work once, one holder of a domain, one leader of a timer.
import { DAY_MS } from '../../../src/base/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { T0 } from './harness.ts';
import { gate } from './limits.ts';
import { invitationTo, linkFor, sessionOf, signedUp } from './mail-links.ts';
import { newUser } from './members.ts';
import { atOnce, countAnswers, rivals } from './rivals.ts';
import { newTemplate } from './templates.ts';
import { newWebhook } from './webhooks.ts';

const SECRET = { masterKeyId: 'm1', sealed: Buffer.from('sealed') };

export const rivalAccountCases = {
  'a tenant never has more keys, templates, webhooks and invitations than its limit': rivals(
    async (t, bench, handles) => {
      const { id } = await bench.tenant();
      const keys = await atOnce(handles, 6, ({ keys }) => keys.createApiKey(bench.apiKey(id), 3));
      t.strictSame(countAnswers(keys), { created: 3, too_many: 3 });
      t.equal((await bench.store.keys.listApiKeys(id)).length, 3);

      const quota = { templates: 3, bytes: 100 };
      const create = () => newTemplate(bench, { html: 'x'.repeat(30) });
      const templates = await atOnce(handles, 6, (store) => store.templates.createTemplate(id, create(), quota));
      t.strictSame(countAnswers(templates), { created: 3, too_many: 3 });
      const kept = await bench.store.templates.listTemplates(id);
      const content = { name: 'More', html: 'x'.repeat(40), text: null };
      const grown = await atOnce(handles, 2, (store, at) =>
        store.templates.replaceTemplate(id, kept[at]!.id, { content, updatedAt: T0, changedBy: null, quota }),
      );
      t.strictSame(countAnswers(grown), { done: 1, too_large: 1 });

      const host = (name: string) => `https://${name}.test/`;
      const webhooks = await atOnce(handles, 6, (store, at) =>
        store.webhooks.createWebhook(newWebhook(bench, id, { target: host(`n${at}`) }), 3),
      );
      t.strictSame(countAnswers(webhooks), { created: 3, too_many: 3 });

      const invitations = await atOnce(handles, 6, ({ accounts }, at) =>
        accounts.keepInvitation(invitationTo(bench, id, `${at}@x.test`), 3),
      );
      t.strictSame(countAnswers(invitations), { kept: 3, too_many: 3 });
      t.equal((await bench.store.accounts.listInvitations(id, T0)).length, 3);
    },
  ),

  'a target has one webhook of a tenant': rivals(async (t, bench, handles) => {
    const { id } = await bench.tenant();
    const answers = await atOnce(handles, 4, ({ webhooks }) => webhooks.createWebhook(newWebhook(bench, id), 9));
    t.strictSame(countAnswers(answers), { created: 1, exists: 3 });
    const others = ['b', 'c'].map((name) => newWebhook(bench, id, { target: `https://${name}.test/` }));
    for (const webhook of others) await bench.store.webhooks.createWebhook(webhook, 9);
    const url = { url: 'https://d.test', target: 'https://d.test/' };
    const moved = await atOnce(handles, 2, (store, at) => store.webhooks.changeWebhook(id, others[at]!.id, { url }));
    t.strictSame(countAnswers(moved), { done: 1, exists: 1 });
  }),

  'a tenant keeps its last owner': rivals(async (t, bench, handles) => {
    const { id } = await bench.tenant();
    const owners = [await newUser(bench, id), await newUser(bench, id)];
    const answers = await atOnce(handles, 2, ({ accounts }, at) =>
      at === 0 ? accounts.removeMember(id, owners[0]!.id) : accounts.changeRole(id, owners[1]!.id, 'viewer'),
    );
    t.strictSame(countAnswers(answers), { changed: 1, last_owner: 1 });
    t.equal((await bench.store.accounts.listMembers(id)).filter(({ role }) => role === 'owner').length, 1);
  }),

  'a link works once': rivals(async (t, bench, handles) => {
    const { accounts } = bench.store;
    const { id } = await bench.tenant();
    const user = await newUser(bench, id);
    const reset = linkFor(bench, { userId: user.id });
    await accounts.keepMailLink(reset);
    const resets = await atOnce(handles, 4, (store, at) => store.accounts.resetByLink(reset.tokenHash, `${at}`, T0));
    t.strictSame(countAnswers(resets), { done: 1, null: 3 });
    t.strictSame(
      await accounts.getUser(user.id),
      resets.find((answer) => answer !== null),
    );

    const invitation = invitationTo(bench, id, `${bench.id()}@x.test`);
    await accounts.keepInvitation(invitation, 9);
    const joins = await atOnce(handles, 4, (store) => {
      return store.accounts.joinByLink(invitation.tokenHash, { userId: bench.id(), passwordHash: 'h', at: T0 });
    });
    t.strictSame(countAnswers(joins), { done: 1, null: 3 });

    const signUp = await signedUp(bench);
    const confirmation = linkFor(bench, { purpose: 'confirmation', userId: signUp.user.id });
    await accounts.keepMailLink(confirmation);
    const confirmed = await atOnce(handles, 4, (store) => store.accounts.confirmByLink(confirmation.tokenHash, T0));
    t.strictSame(countAnswers(confirmed), { done: 1, null: 3 });
  }),

  'an address has one user': rivals(async (t, bench, handles) => {
    const email = `${bench.id()}@x.test`;
    const tenant = await bench.tenant();
    const user = () => ({ id: bench.id(), tenantId: tenant.id, email, role: 'owner' as const, passwordHash: 'h' });
    const answers = await atOnce(handles, 4, ({ accounts }, at) => {
      const rival = { ...user(), createdAt: T0 };
      if (at < 2) return accounts.createUser(rival);
      const own = { ...tenant, id: bench.id() };
      return accounts.signUp({ tenant: own, user: { ...rival, tenantId: own.id } });
    });
    t.strictSame(countAnswers(answers), { created: 1, exists: 3 });
  }),

  'a user has so many sessions, the newest': rivals(async (t, bench, handles) => {
    const user = await newUser(bench, null, 'operator');
    const sessions = Array.from({ length: 8 }, () => ({
      ...sessionOf(bench, user.id),
      tokenHash: Buffer.from(bench.id()),
    }));
    await atOnce(handles, 8, (store, at) => store.accounts.createSession(sessions[at]!, 3));
    const live = await bench.store.accounts.listSessions(user.id, T0);
    t.strictSame(new Set(live.map(({ id }) => id)), new Set(sessions.slice(-3).map(({ id }) => id)));
  }),

  'a code works once': rivals(async (t, bench, handles) => {
    const { accounts } = bench.store;
    const user = await newUser(bench, null, 'operator');
    await accounts.beginSecondFactor(user.id, SECRET, T0);
    const confirmation = { step: 7, at: T0, recoveryCodeHashes: [Buffer.from(user.id)] };
    const confirmed = await atOnce(handles, 4, (store) => store.accounts.confirmSecondFactor(user.id, confirmation));
    t.strictSame(countAnswers(confirmed), { true: 1, false: 3 });
    const steps = await atOnce(handles, 4, (store) => store.accounts.takeStep(user.id, 8));
    t.strictSame(countAnswers(steps), { true: 1, false: 3 });
    const codes = await atOnce(handles, 4, (store) => store.accounts.takeRecoveryCode(user.id, Buffer.from(user.id)));
    t.strictSame(countAnswers(codes), { 0: 1, null: 3 });
  }),

  'a domain has one verified holder': rivals(async (t, bench, handles) => {
    const name = `${bench.id()}.test`;
    const tenants = [await bench.tenant(), await bench.tenant(), await bench.tenant()];
    const created = await atOnce(handles, 4, ({ domains }) =>
      domains.createDomain(bench.newDomain(tenants[0]!.id, name)),
    );
    t.strictSame(countAnswers(created), { done: 1, exists: 3 });
    const own = (await bench.store.domains.listDomains(tenants[0]!.id))[0]!;
    const claims = [own, ...(await Promise.all(tenants.slice(1).map(({ id }) => bench.pendingDomain(id, name))))];
    const found = { state: 'verified', failureReason: null, checkedAt: T0 } as const;
    const verified = await atOnce(handles, 3, ({ domains }, at) =>
      domains.recordVerdict(claims[at]!.tenantId, claims[at]!.id, found),
    );
    t.strictSame(countAnswers(verified), { done: 1, taken: 2 });
    const holder = (await bench.store.domains.findVerifiedHolder(name))!;
    const claimants = claims.filter(({ id }) => id !== holder.id);
    const taken = await atOnce(handles, 2, ({ domains }, at) =>
      domains.takeOverDomain(
        { tenantId: claimants[at]!.tenantId, id: claimants[at]!.id },
        { id: holder.id, failureReason: 'mismatch' },
        T0,
      ),
    );
    t.strictSame(countAnswers(taken), { done: 1, null: 1 });
    t.equal(
      await countVerified(
        bench.store,
        tenants.map(({ id }) => id),
      ),
      1,
    );
  }),

  'a re-check of a domain is claimed once, and counts once': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
    const terms = { limit: 100, leaseUntil: T0 + 3 * DAY_MS };
    const now = T0 + 2 * DAY_MS;
    const claims = (await atOnce(handles, 4, ({ domains }) => domains.claimRechecks(now, terms))).flat();
    const [claimed] = claims.filter((one) => one.domain.id === domain.id);
    t.equal(claims.length, 1);
    const note = { at: now, nextAt: now + 9 * DAY_MS, misses: 1, firstMissAt: now, failsWith: null };
    const answers = await atOnce(handles, 4, ({ domains }) => domains.recordRecheck(claimed!, note));
    t.strictSame(countAnswers(answers), { true: 1, false: 3 });
    t.equal((await bench.store.domains.getDomain(tenant.id, domain.id))?.lastCheckedAt, now);
  }),

  'attempts at once are all counted, and so is what calls cost': rivals(async (t, bench, handles) => {
    const gates = [gate(bench.id(), { freeTries: 3 }), gate(bench.id(), { freeTries: 3 })];
    const taken = await atOnce(handles, 8, ({ limits }) => limits.takeAttempt(gates, T0));
    t.equal(taken.filter((waitMs) => waitMs === 0).length, 3, taken.join(' '));
    const [id, other] = [bench.id(), bench.id()];
    const costs = (at: number) => (at % 2 ? [id, other] : [other, id]).map((one) => ({ id: one, costMs: DAY_MS }));
    const spent = await atOnce(handles, 8, ({ limits }, at) => limits.spendCalls(costs(at)));
    t.same(new Set(spent.map(([first]) => Math.ceil(first! / DAY_MS))), new Set([1, 2, 3, 4, 5, 6, 7, 8]));
  }),

  'no more of a limit is granted than there is': rivals(async (t, bench, handles) => {
    const subjects = [`tenant ${bench.id()}`, `group ${bench.id()}`];
    const wish = { limit: 20, spanMs: DAY_MS, wanted: 3, returned: 0 };
    const wishes = (at: number) => (at % 2 ? subjects : subjects.toReversed()).map((subject) => ({ ...wish, subject }));
    const portions = (await atOnce(handles, 8, ({ limits }, at) => limits.takePortions(wishes(at)))).flat();
    t.strictSame(countAnswers(portions.map(({ granted }) => granted)), { 3: 12, 2: 2, 0: 2 });
  }),

  'no more connections are given than there are': rivals(async (t, bench, handles) => {
    const groups = [`group ${bench.id()}`, `group ${bench.id()}`];
    const wish = { limit: 10, kept: 0, wanted: 4, leaseMs: DAY_MS };
    const wishes = (at: number) =>
      (at % 2 ? groups : groups.toReversed()).map((mxGroup) => ({ ...wish, mxGroup, node: `node ${at}` }));
    const shares = (await atOnce(handles, 8, ({ limits }, at) => limits.shareConnections(wishes(at)))).flat();
    t.equal(
      shares.reduce((sum, { connections }) => sum + connections, 0),
      20,
      shares.map(({ connections }) => connections).join(' '),
    );
  }),

  'a timer has one leader': rivals(async (t, bench, handles) => {
    const name = bench.id();
    const lead = (now: number) =>
      atOnce(handles, 4, ({ owners }) => owners.leadTimer({ name, node: bench.id(), now, leaseUntil: now + DAY_MS }));
    t.strictSame(countAnswers(await lead(T0)), { 1: 1, null: 3 });
    t.strictSame(countAnswers(await lead(T0 + DAY_MS)), { 2: 1, null: 3 }, 'nor more than one heir');
  }),

  'changes of different facts of a tenant are all kept': rivals(async (t, bench, handles) => {
    const { id } = await bench.tenant();
    const changes = [{ name: 'Other' }, { openTracking: true }, { tier: '10k' }, { unsubscribe: true }] as const;
    await atOnce(handles, 4, ({ tenants }, at) => tenants.updateTenant(id, changes[at]!));
    const kept = { name: 'Other', openTracking: true, tier: '10k', unsubscribe: true };
    t.match(await bench.store.tenants.getTenant(id), kept);
  }),

  'a tier that an operator pins meanwhile is not raised': rivals(async (t, bench, handles) => {
    const { id } = await bench.tenant();
    await atOnce<unknown>(handles, 2, ({ tenants }, at) =>
      at === 0 ? tenants.updateTenant(id, { tier: '1k', tierPinned: true }) : tenants.raiseTier(id, '10k'),
    );
    t.match(await bench.store.tenants.getTenant(id), { tier: '1k', tierPinned: true });
  }),

  'a tenant is stopped once, and a receiver doubted once': rivals(async (t, bench, handles) => {
    const { id } = await bench.tenant();
    const stopped = await atOnce(handles, 4, ({ reputation }, at) =>
      reputation.stopForReview(id, { at: T0 + at, reason: `${at}` }),
    );
    t.strictSame(countAnswers(stopped), { true: 1, false: 3 });
    const winner = stopped.indexOf(true);
    t.strictSame(await bench.store.reputation.reviewOf(id), { at: T0 + winner, reason: `${winner}` });
    const doubt = { mxGroup: id, since: T0, reason: 'spiked' };
    const doubted = await atOnce(handles, 4, ({ reputation }) => reputation.doubtReceiver(doubt));
    t.strictSame(countAnswers(doubted), { true: 1, false: 3 });
  }),

  'the groups of the same domains are noted by several, whatever their order': rivals(async (t, bench, handles) => {
    const notes = Array.from({ length: 50 }, (_, at) => ({ domain: `${at}.${bench.id()}`, mxGroup: 'big', at: T0 }));
    await atOnce(handles, 6, ({ shaping }, at) => shaping.noteDomains(at % 2 ? notes : notes.toReversed(), T0));
    const groups = await Promise.all(notes.map(({ domain }) => bench.store.shaping.groupOfDomain(domain)));
    t.strictSame(countAnswers(groups.map(String)), { big: 50 });
  }),
};

async function countVerified(store: Store, tenantIds: string[]): Promise<number> {
  const domains = await Promise.all(tenantIds.map((id) => store.domains.listDomains(id)));
  return domains.flat().filter(({ state }) => state === 'verified').length;
}
