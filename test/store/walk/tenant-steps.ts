// Steps of the walk: tenants with their domains and webhooks, and both suppression lists.

import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { Suppression } from '../../../src/store/suppressions.ts';
import type { Tenant } from '../../../src/store/tenants.ts';
import type { EventChoice } from '../../../src/store/webhooks.ts';
import { takeFirstSlot } from '../../support/first-slot.ts';
import type { Step, Walk } from './walk.ts';

export const ADDRESSES = ['a@x.test', 'b@x.test', 'c@y.test', 'd@y.test', 'e@z.test', 'f@z.test'] as const;
export const GROUPS = ['mx.x.test', 'mx.y.test', 'mx.z.test'] as const;
const DOMAIN_NAMES = ['one.test', 'two.test', 'three.test'] as const;
const MAX_TENANTS = 3;
const MAX_WEBHOOKS = 3;

const SECRET = { masterKeyId: 'master1', sealed: Buffer.from('sealed') };

function newTenant(walk: Walk): Tenant {
  return {
    ...{ id: walk.id(), name: 'Acme', status: 'active' as const, statusReason: null, tier: '1k', tierPinned: false },
    ...{ openTracking: false, clickTracking: false, unsubscribe: false, bouncesDomain: null },
    createdAt: walk.now,
  };
}

async function createTenant(walk: Walk): Promise<void> {
  const { model, store } = walk;
  if (model.tenants.size >= MAX_TENANTS) return;
  const tenant = newTenant(walk);
  await store.tenants.createTenant(tenant);
  model.tenants.set(tenant.id, tenant);
}

async function changeStatus(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const status = walk.oneOf<Tenant['status']>('active', 'active', 'active', 'suspended', 'in_review');
  const changed = { ...tenant, status };
  walk.same(await store.tenants.updateTenant(tenant.id, { status }), changed, 'updateTenant');
  model.tenants.set(tenant.id, changed);
}

async function createDomain(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const name = walk.oneOf(...DOMAIN_NAMES);
  const blocks = (domain: Domain) =>
    domain.name === name && (domain.tenantId === tenant.id ? domain.state !== 'revoked' : domain.state === 'verified');
  const isBlocked = [...model.domains.values()].some(blocks);
  const isLive = (domain: Domain) => domain.tenantId === tenant.id && domain.state !== 'revoked';
  const live = [...model.domains.values()].filter(isLive).length;
  const maxLive = walk.oneOf(1, 2, 3);
  const refused = isBlocked ? 'exists' : live >= maxLive ? 'too_many' : null;
  walk.same(await store.domains.refusesDomain(tenant.id, name, maxLive), refused, 'refusesDomain');
  const created = await store.domains.createDomain({
    ...{ id: walk.id(), tenantId: tenant.id, name, selector: 'pr202601', publicKeyB64: 'cHVi', privateKey: SECRET },
    createdAt: walk.now,
  });
  walk.same(created === 'exists', isBlocked, 'createDomain');
  if (typeof created !== 'string') model.domains.set(created.id, created);
}

async function judgeDomain(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const domain = walk.pick(model.domains.values());
  if (!domain) return;
  const state = walk.oneOf<'verified' | 'failed'>('verified', 'verified', 'verified', 'failed');
  const verdict = { state, failureReason: state === 'failed' ? 'not_found' : null, checkedAt: walk.now };
  const found = await store.domains.recordVerdict(domain.tenantId, domain.id, verdict);
  const holder = [...model.domains.values()].find(({ name, state }) => name === domain.name && state === 'verified');
  if (domain.state === 'revoked') return walk.same(found, null, 'recordVerdict of a revoked domain');
  if (state === 'verified' && holder && holder !== domain) return walk.same(found, 'taken', 'recordVerdict');
  const wasVerified = domain.state === 'verified';
  const verifiedAt = state === 'failed' ? null : wasVerified ? domain.verifiedAt : walk.now;
  const { failureReason } = verdict;
  const changed: Domain = { ...domain, state, failureReason, verifiedAt, lastCheckedAt: walk.now };
  walk.same(found, changed, 'recordVerdict');
  model.domains.set(domain.id, changed);
}

async function revokeDomain(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const domain = walk.pick(model.domains.values());
  if (!domain) return;
  const revoked = await store.domains.revokeDomain(domain.tenantId, domain.id);
  if (domain.state === 'revoked') return walk.same(revoked, null, 'revokeDomain twice');
  const changed: Domain = { ...domain, state: 'revoked' };
  walk.same(revoked, changed, 'revokeDomain');
  model.domains.set(domain.id, changed);
}

async function createWebhook(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const own = [...model.webhooks.values()].filter(({ tenantId }) => tenantId === tenant.id);
  const target = `https://${walk.oneOf('a', 'b', 'c', 'd')}.test/`;
  const about = { id: walk.id(), tenantId: tenant.id, url: target, target, description: null, createdAt: walk.now };
  const webhook = { ...about, ...(walk.chance(0.5) && { events: someEvents(walk) }) };
  const outcome = await store.webhooks.createWebhook({ ...webhook, secret: SECRET }, MAX_WEBHOOKS);
  const exists = own.some((one) => one.target === target);
  walk.same(outcome, exists ? 'exists' : own.length >= MAX_WEBHOOKS ? 'too_many' : 'created', 'createWebhook');
  if (outcome === 'created') model.webhooks.set(webhook.id, { ...webhook, deliveries: new Map() });
}

function someEvents(walk: Walk): EventChoice[] {
  return walk.oneOf<EventChoice[]>(
    ['delivery'],
    ['email.delivered'],
    ['bounce', 'open'],
    ['email.bounced', 'complaint'],
  );
}

async function changeWebhook(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const webhook = walk.pick(model.webhooks.values());
  if (!webhook) return;
  const { id, tenantId } = webhook;
  const target = `https://${walk.oneOf('a', 'b', 'c', 'd')}.test/`;
  const taken = [...model.webhooks.values()].some(
    (one) => one.tenantId === tenantId && one.target === target && one.id !== id,
  );
  const events = walk.chance(0.5) ? someEvents(walk) : null;
  const result = await store.webhooks.changeWebhook(tenantId, id, { url: { url: target, target }, events });
  if (taken) return walk.same(result, 'exists', 'changeWebhook to a target that there is');
  const { events: _, ...rest } = webhook;
  const changed = { ...rest, target, ...(events && { events }) };
  model.webhooks.set(id, changed);
  walk.same((await store.webhooks.getWebhook(tenantId, id))?.events, changed.events, 'changeWebhook');
}

async function deleteWebhook(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const webhook = walk.pick(model.webhooks.values());
  if (!webhook) return;
  const stranger = walk.pick([...model.tenants.keys()].filter((id) => id !== webhook.tenantId));
  if (stranger) walk.same(await store.webhooks.deleteWebhook(stranger, webhook.id), false, "another tenant's webhook");
  walk.same(await store.webhooks.deleteWebhook(webhook.tenantId, webhook.id), true, 'deleteWebhook');
  model.webhooks.delete(webhook.id);
}

function newEntry(walk: Walk): Suppression {
  const reason = walk.oneOf('manual', 'complaint', 'unsubscribe');
  const messageId = walk.chance(0.5) ? walk.id() : null;
  return { address: walk.oneOf(...ADDRESSES), reason, messageId, createdAt: walk.now };
}

async function addSuppression(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const entry = newEntry(walk);
  walk.same(
    await store.suppressions.addSuppression(tenant.id, entry),
    model.suppress(tenant.id, entry),
    'addSuppression',
  );
}

async function importSuppressions(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const entries = [newEntry(walk), newEntry(walk)];
  const added = entries.filter((entry) => model.suppress(tenant.id, entry) === 'added').length;
  walk.same(await store.suppressions.importSuppressions(tenant.id, entries), added, 'importSuppressions');
}

async function removeSuppression(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const address = walk.oneOf(...ADDRESSES);
  const platform = model.platform.get(address);
  const wanted = {
    removed: model.suppressions.delete(model.suppressionKey(tenant.id, address)),
    platform: platform && platform.expiresAt > walk.now ? platform : null,
  };
  walk.same(await store.suppressions.removeSuppression(tenant.id, address, walk.now), wanted, 'removeSuppression');
}

async function addPlatformSuppression(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const times = { createdAt: walk.now, expiresAt: walk.now + walk.oneOf(HOUR_MS, DAY_MS) };
  const address = walk.oneOf(...ADDRESSES);
  const entry = { address, mxGroup: walk.oneOf(...GROUPS), rule: 'smtp 5.1.1', messageId: null, ...times };
  const wanted = model.platform.has(address) ? 'exists' : 'added';
  walk.same(await store.suppressions.addPlatformSuppression(entry), wanted, 'addPlatformSuppression');
  model.platform.set(address, entry);
}

async function removePlatformSuppression(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const address = walk.oneOf(...ADDRESSES);
  const removed = await store.suppressions.removePlatformSuppression(address);
  walk.same(removed, model.platform.delete(address), 'removePlatformSuppression');
}

async function undoHardBounces(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const of = { mxGroup: walk.oneOf(...GROUPS), since: walk.now - walk.oneOf(0, HOUR_MS, DAY_MS) };
  const undone = [...model.platform.values()].filter(
    ({ mxGroup, createdAt }) => mxGroup === of.mxGroup && createdAt >= of.since,
  );
  const addresses = new Set(undone.map(({ address }) => address));
  const isSaid = ({ address, mxGroup }: Suppression) =>
    mxGroup === of.mxGroup || (mxGroup === undefined && addresses.has(address));
  const ofTenants = [...model.suppressions].filter(
    ([, entry]) =>
      entry.reason === 'hard_bounce' && entry.messageId !== null && entry.createdAt >= of.since && isSaid(entry),
  );
  for (const address of addresses) model.platform.delete(address);
  for (const [key] of ofTenants) model.suppressions.delete(key);
  const wanted = { platform: undone.length, tenants: ofTenants.length };
  walk.same(await store.suppressions.undoHardBounces(of, 100), wanted, 'undoHardBounces');
}

async function undoRule(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const since = walk.now - walk.oneOf(0, HOUR_MS, DAY_MS);
  const decided = [...model.platform.values()].filter(({ createdAt }) => createdAt >= since);
  const addresses = new Set(decided.map(({ address }) => address));
  const ofTenants = [...model.suppressions].filter(
    ([, { address, reason, messageId, rule, createdAt }]) =>
      createdAt >= since && reason === 'hard_bounce' && messageId !== null && (rule || addresses.has(address)),
  );
  for (const address of addresses) model.platform.delete(address);
  for (const [key] of ofTenants) model.suppressions.delete(key);
  // All of the walk's hard bounces are decided by this rule.
  const undone = await store.suppressions.undoHardBounces({ since, rule: 'smtp *' }, 100);
  walk.same(undone, { platform: decided.length, tenants: ofTenants.length }, 'undoHardBounces by rule');
}

async function forgetExpired(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const expired = [...model.platform.values()].filter(({ expiresAt }) => expiresAt <= walk.now);
  for (const { address } of expired) model.platform.delete(address);
  walk.same(
    await store.suppressions.forgetExpiredSuppressions(walk.now, 100),
    expired.length,
    'forgetExpiredSuppressions',
  );
}

/** Without these most of a short walk would find nothing to do. */
export async function begin(walk: Walk): Promise<void> {
  walk.owner = await takeFirstSlot(walk.store);
  await createTenant(walk);
  await createDomain(walk);
  await createWebhook(walk);
  const [domain] = walk.model.domains.values();
  const verdict = { state: 'verified' as const, failureReason: null, checkedAt: walk.now };
  const verified = await walk.store.domains.recordVerdict(domain!.tenantId, domain!.id, verdict);
  if (verified !== null && verified !== 'taken') walk.model.domains.set(verified.id, verified);
}

export const tenantSteps: readonly Step[] = [
  { name: 'createTenant', weight: 2, run: createTenant },
  { name: 'updateTenant', run: changeStatus },
  { name: 'createDomain', weight: 3, run: createDomain },
  { name: 'recordVerdict', weight: 3, run: judgeDomain },
  { name: 'revokeDomain', weight: 0.2, run: revokeDomain },
  { name: 'createWebhook', weight: 2, run: createWebhook },
  { name: 'changeWebhook', run: changeWebhook },
  { name: 'deleteWebhook', weight: 0.5, run: deleteWebhook },
  { name: 'addSuppression', weight: 0.5, run: addSuppression },
  { name: 'importSuppressions', weight: 0.3, run: importSuppressions },
  { name: 'removeSuppression', run: removeSuppression },
  { name: 'addPlatformSuppression', weight: 0.3, run: addPlatformSuppression },
  { name: 'removePlatformSuppression', run: removePlatformSuppression },
  { name: 'undoHardBounces', weight: 0.5, run: undoHardBounces },
  { name: 'undoHardBounces by rule', weight: 0.3, run: undoRule },
  { name: 'forgetExpiredSuppressions', weight: 0.5, run: forgetExpired },
];
