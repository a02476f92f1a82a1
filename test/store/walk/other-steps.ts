// Steps of the walk: every other verb. Keys, pauses and settings are compared with what was asked for; the rest is called
// between all others, so that whatever it does to them shows there.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import type { Domain } from '../../../src/store/domains.ts';
import { BEFORE_ALL_LANES } from '../../../src/store/queue.ts';
import type { LanesTarget, QueueTarget } from '../../../src/store/shaping.ts';
import type { User } from '../../../src/store/tenants.ts';
import { MAX_SECRETS } from '../../../src/store/webhooks.ts';
import { gate } from '../conformance/limits.ts';
import { isWaiting } from './message-steps.ts';
import type { ModelMessage } from './model.ts';
import { GROUPS } from './tenant-steps.ts';
import type { Step, Walk } from './walk.ts';

const SECRET = { masterKeyId: 'master1', sealed: Buffer.from('sealed') };
const PAGE = { before: null, limit: 10 };
const PERIOD = { firstDay: '2026-01-01', lastDay: '2026-12-31' };

function someTenant(walk: Walk): string {
  return walk.pick(walk.model.tenants.keys()) ?? walk.id();
}

function someMessage(walk: Walk): ModelMessage | null {
  return walk.pick(walk.model.messages.values()) ?? null;
}

async function keys(walk: Walk): Promise<void> {
  const { store } = walk;
  const tenantId = walk.pick(walk.model.tenants.keys());
  if (!tenantId) return;
  const [id, secretHash] = [walk.id(), Buffer.alloc(32, walk.below(256))];
  const publicId = id.replaceAll('-', '');
  const key = { id, tenantId, publicId, name: 'key', scopes: ['emails:send' as const], boundDomain: null, secretHash };
  walk.same(
    await store.keys.createApiKey({ ...key, createdAt: walk.now, revokedAt: null }, 1000),
    'created',
    'createApiKey',
  );
  walk.same((await store.keys.findApiKeyBySecret(publicId, secretHash))?.key.id, id, 'findApiKeyBySecret');
  walk.same(
    await store.keys.findApiKeyBySecret(publicId, Buffer.alloc(32, 1 + secretHash[0]!)),
    null,
    'a wrong secret',
  );
  await store.keys.noteKeyUses([{ keyId: id, at: walk.now }]);
  walk.same(
    (await store.keys.lastKeyUses(tenantId)).some(({ keyId }) => keyId === id),
    true,
    'lastKeyUses',
  );
  walk.same(await store.keys.revokeApiKey(tenantId, id, walk.now), true, 'revokeApiKey');
  walk.same((await store.keys.findApiKey(publicId))?.key.revokedAt, walk.now, 'a revoked key');
  walk.same((await store.keys.listApiKeys(tenantId)).find((one) => one.id === id)?.revokedAt, walk.now, 'listApiKeys');
}

async function pause(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const message = someMessage(walk);
  if (!message) return;
  const target: QueueTarget = { kind: 'message', key: message.id };
  const known = (await store.shaping.findPause(target)) !== null;
  const paused = await store.shaping.pauseQueue({ ...target, by: 'operator', note: '', at: walk.now });
  walk.same(paused, !known && model.waiting(message), 'pauseQueue');
  if (!paused) return;
  const { dueAt } = message;
  Object.assign(message, { parked: true, dueAt: null });
  if (walk.chance(0.5)) return; // it stays
  walk.same((await store.shaping.resumeQueue(target))?.lane?.lane, message.lane, 'resumeQueue');
  Object.assign(message, { parked: false, dueAt });
}

async function shape(walk: Walk): Promise<void> {
  const { store } = walk;
  const target = { kind: 'group' as const, key: walk.oneOf(...GROUPS) };
  await store.shaping.pauseQueue({ ...target, by: 'operator', note: 'n', at: walk.now });
  walk.same(
    (await store.shaping.listPauses(1000)).some(({ key }) => key === target.key),
    true,
    'listPauses',
  );
  walk.same((await store.shaping.resumeQueue(target)) !== null, true, 'resumeQueue of a group');
  await store.shaping.addOperatorNote({
    ...target,
    action: 'pause',
    by: 'operator',
    note: '',
    at: walk.now,
    messages: null,
  });
  await store.shaping.listOperatorNotes({ target, limit: 5 });
  const suspension = {
    mxGroup: target.key,
    scope: 'group' as const,
    tenantId: null,
    subject: '',
    rule: 'r',
    reply: '4',
  };
  await store.shaping.saveShaping({
    suspensions: [{ ...suspension, since: walk.now, until: walk.now + HOUR_MS }],
  });
  await store.shaping.noteDomains([{ domain: target.key.slice(3), mxGroup: target.key, at: walk.now }], walk.now);
  const { suspensions } = await store.shaping.loadShaping(walk.now);
  walk.same((await store.shaping.readHolds(walk.now)).suspensions, suspensions, 'readHolds');
  walk.same(
    suspensions.some(({ mxGroup }) => mxGroup === target.key),
    true,
    'loadShaping',
  );
  walk.same((await store.shaping.liftSuspensions({ mxGroup: target.key })).length > 0, true, 'liftSuspensions');
  walk.same(await store.shaping.groupOfDomain(target.key.slice(3)), target.key, 'groupOfDomain');
  const listed = await store.queue.listQueue({ group: target.key, limit: 1000 });
  const there = ({ recipient }: ModelMessage) => recipient.endsWith(`@${target.key.slice(3)}`);
  walk.same(listed.length, walk.model.openMessages(there), 'listQueue of a group');
  walk.same(await store.shaping.isKnownGroup(target.key), true, 'isKnownGroup');
  await store.shaping.forgetDomains(walk.now - DAY_MS, 10);
}

async function lookAtQueue(walk: Walk): Promise<void> {
  const { store } = walk;
  const message = someMessage(walk);
  if (!message) return;
  const waiting = [...walk.model.messages.values()].filter(
    (one) => one.lane === message.lane && walk.model.waiting(one),
  );
  const summed = (await store.queue.queueSummary()).find(({ lane }) => lane === message.lane);
  walk.same(summed?.waiting ?? 0, waiting.length, 'queueSummary');
  await store.queue.dueLanes([1]);
  for (const { id, tenantId, name } of walk.model.domains.values()) {
    // Without its key, which a revoked domain loses with its last message, there is nothing to tell.
    const facts = await store.submissions.findSendingFacts(tenantId, id);
    walk.same(facts?.signing.domain ?? name, name, 'findSendingFacts');
  }
  const listed = await store.queue.listQueue({ limit: 1000 });
  walk.same(listed.length, walk.model.openMessages(), 'listQueue');
  const { tenantId } = message;
  const own = (each: ModelMessage) => each.tenantId === tenantId;
  const ofTenant = await store.queue.listQueue({ tenantId, limit: 1000 });
  walk.same(ofTenant.length, walk.model.openMessages(own), 'listQueue of a tenant');
  const waits = isWaiting(message);
  walk.same((await store.queue.findWaiting(message.id))?.id, waits ? message.id : undefined, 'findWaiting');
  await store.shaping.waitingOfLane(message.lane, 10);
  await store.sources.peekDue(message.lane, { now: walk.now, mxGroup: GROUPS[0], limit: 10 });
  const target: LanesTarget = { kind: 'tenant', key: message.tenantId };
  walk.same((await store.shaping.lanesOf(target, null, 1000)).lanes.includes(message.lane), true, 'lanesOf');
  walk.same((await store.queue.findOrphanLanes(BEFORE_ALL_LANES, 1000)).lanes, [], 'findOrphanLanes');
  await store.sources.forgetSourceUsage(0, 10);
  walk.same((await store.inbound.findReported(message.id))?.state, message.state, 'findReported');
  walk.same((await store.tracking.findTracked(message.tenantId, message.id))?.state, message.state, 'findTracked');
  const events = walk.model.events.filter(({ messageId }) => messageId === message.id);
  const found = await store.events.eventsOfMessage(message.tenantId, message.id);
  walk.same(
    found.map(({ id }) => id),
    events.map(({ id }) => id),
    'eventsOfMessage',
  );
}

async function people(walk: Walk): Promise<void> {
  const { store } = walk;
  const tenantId = walk.pick(walk.model.tenants.keys());
  if (!tenantId) return;
  const id = walk.id();
  const email = `${id}@people.test`;
  const user: User = { id, tenantId, email, role: 'owner', passwordHash: 'h', createdAt: walk.now };
  walk.same(await store.accounts.createUser(user), 'created', 'createUser');
  walk.same(await store.accounts.createUser({ ...user, id: walk.id() }), 'exists', 'createUser again');
  walk.same((await store.reputation.ownersOf(tenantId)).includes(email), true, 'ownersOf');
  const times = { createdAt: walk.now, lastSeenAt: walk.now, expiresAt: walk.now + HOUR_MS, endsAt: walk.now + DAY_MS };
  const session = { id: walk.id(), userId: id, tokenHash: Buffer.from(id), client: null, address: '::1', ...times };
  walk.same(await store.accounts.createSession(session, 5), true, 'createSession');
  walk.same((await store.accounts.findSession(session.tokenHash, walk.now))?.user.id, id, 'findSession');
  await store.accounts.touchSession(id, session.id, { at: walk.now, expiresAt: walk.now + HOUR_MS, address: '::2' });
  walk.same((await store.accounts.listSessions(id, walk.now)).length, 1, 'listSessions');
  walk.same(await store.accounts.endSession(id, session.id), true, 'endSession');
  walk.same(await store.accounts.endSessionsOf(id), 0, 'endSessionsOf');
  await store.accounts.eraseSessions(walk.now, 10);
  walk.same(await store.accounts.beginSecondFactor(id, SECRET, walk.now), true, 'beginSecondFactor');
  const codes = [Buffer.from('one'), Buffer.from('two')];
  const confirmation = { step: 1, at: walk.now, recoveryCodeHashes: codes };
  walk.same(await store.accounts.confirmSecondFactor(id, confirmation), true, 'confirmSecondFactor');
  walk.same(await store.accounts.takeStep(id, 1), false, 'a step that was taken');
  walk.same(await store.accounts.takeRecoveryCode(id, codes[0]!), 1, 'takeRecoveryCode');
  walk.same(await store.accounts.replaceRecoveryCodes(id, codes), true, 'replaceRecoveryCodes');
  walk.same((await store.accounts.findSecondFactor(id))?.recoveryCodes, 2, 'findSecondFactor');
  walk.same(await store.accounts.dropSecondFactor(id), true, 'dropSecondFactor');
  await store.accounts.setPassword(id, 'other');
  walk.same((await store.accounts.findUserByEmail(email))?.passwordHash, 'other', 'setPassword');
  await invitations(walk, tenantId, email);
  await store.accounts.listMembers(tenantId);
  await store.accounts.listOperators();
  const owners = (await store.reputation.ownersOf(tenantId)).length;
  walk.same(
    await store.accounts.changeRole(tenantId, id, 'member'),
    owners > 1 ? 'changed' : 'last_owner',
    'changeRole',
  );
  walk.same(await store.accounts.removeMember(tenantId, id), owners > 1 ? 'changed' : 'last_owner', 'removeMember');
  walk.same((await store.accounts.getUser(id)) === null, owners > 1, 'a member that was removed');
}

async function invitations(walk: Walk, tenantId: string, email: string): Promise<void> {
  const { store } = walk;
  const times = { createdAt: walk.now, expiresAt: walk.now + HOUR_MS };
  const link = (purpose: 'reset' | 'invitation' | 'confirmation', change: object = {}) => {
    const id = walk.id();
    const about = { userId: null, tenantId: null, role: null };
    return { id, tokenHash: Buffer.from(id), purpose, email, ...about, ...times, ...change };
  };
  const invitation = link('invitation', { email: `new-${email}`, tenantId, role: 'member' });
  await store.accounts.keepInvitation(invitation, 1000);
  walk.same((await store.accounts.findMailLink(invitation.tokenHash, walk.now))?.id, invitation.id, 'findMailLink');
  const joining = { userId: walk.id(), passwordHash: 'h', at: walk.now };
  const joined = await store.accounts.joinByLink(invitation.tokenHash, joining);
  walk.same(joined !== null && joined !== 'exists' && joined.id, joining.userId, 'joinByLink');
  const other = link('invitation', { email: `other-${email}`, tenantId, role: 'viewer' });
  await store.accounts.keepMailLink(other);
  walk.same((await store.accounts.listInvitations(tenantId, walk.now)).at(-1)?.id, other.id, 'listInvitations');
  walk.same(await store.accounts.cancelInvitation(tenantId, other.id), true, 'cancelInvitation');
  const reset = link('reset', { userId: joining.userId });
  await store.accounts.keepMailLink(reset);
  walk.same((await store.accounts.resetByLink(reset.tokenHash, 'h2', walk.now))?.id, joining.userId, 'resetByLink');
  walk.same(await store.accounts.resetByLink(reset.tokenHash, 'h3', walk.now), null, 'resetByLink twice');
  await store.accounts.eraseMailLinks(walk.now, 10);
}

async function signUps(walk: Walk): Promise<void> {
  const { store } = walk;
  const [tenantId, userId] = [walk.id(), walk.id()];
  const email = `${userId}@sign-up.test`;
  const flags = { openTracking: false, clickTracking: false, unsubscribe: false, bouncesDomain: null };
  const standing = { status: 'pending_verification', statusReason: null, tier: '1k', tierPinned: false } as const;
  const tenant = { id: tenantId, name: 'New', ...standing, ...flags, createdAt: walk.now };
  const user: User = { id: userId, tenantId, email, role: 'owner', passwordHash: 'h', createdAt: walk.now };
  walk.same(await store.accounts.signUp({ tenant, user }), 'created', 'signUp');
  walk.same(await store.accounts.isUnconfirmed(userId), true, 'isUnconfirmed');
  if (walk.chance(0.5)) {
    const id = walk.id();
    const times = { createdAt: walk.now, expiresAt: walk.now + HOUR_MS };
    const link = { id, tokenHash: Buffer.from(id), purpose: 'confirmation', email, userId, tenantId: null } as const;
    await store.accounts.keepMailLink({ ...link, role: null, ...times });
    walk.same((await store.accounts.confirmByLink(Buffer.from(id), walk.now))?.tenant.id, tenantId, 'confirmByLink');
  } else if (walk.chance(0.3)) {
    walk.same((await store.accounts.confirmAddress(userId))?.tenant.id, tenantId, 'confirmAddress');
  }
  await store.accounts.eraseSignUps(walk.now + 1, 100);
  walk.same(await store.accounts.isUnconfirmed(userId), false, 'a sign-up that is over');
}

/** A claim that a check by hand ends, and one that is given back, so that the domain stays as the model knows it. */
async function recheck(walk: Walk, domain: Domain): Promise<void> {
  const { domains } = walk.store;
  const terms = { limit: 1000, leaseUntil: walk.now + MINUTE_MS };
  const claimed = await domains.claimRechecks(walk.now, terms);
  walk.same(await domains.claimRechecks(walk.now, terms), [], 'claimRechecks of what is claimed');
  await domains.postponeRecheck(domain.tenantId, domain.id, walk.now + HOUR_MS);
  const own = claimed.find((claim) => claim.domain.id === domain.id);
  if (own) walk.same(own.domain, domain, 'claimRechecks');
  if (own) walk.same(await domains.recheckedSince(domain.tenantId, domain.id), own.since, 'recheckedSince');
  if (domain.state === 'revoked')
    walk.same(await domains.recheckedSince(domain.tenantId, domain.id), null, 'recheckedSince of a revoked one');
  const note = { at: walk.now, nextAt: null, misses: 0, firstMissAt: null, failsWith: 'not_found' };
  if (own) walk.same(await domains.recordRecheck(own, note), false, 'recordRecheck after a check by hand');
  await domains.releaseRechecks(claimed);
  const again = await domains.claimRechecks(walk.now, terms);
  walk.same(
    again.map((claim) => claim.domain.id),
    claimed.filter((claim) => claim !== own).map((claim) => claim.domain.id),
    'claimRechecks of what was released',
  );
  await domains.releaseRechecks(again);
}

async function domainsAround(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const domain = walk.pick(model.domains.values());
  if (!domain) return;
  const { tenantId, id, name, state } = domain;
  walk.same(await store.domains.getDomain(tenantId, id), domain, 'getDomain');
  const holder = [...model.domains.values()].find((one) => one.name === name && one.state === 'verified') ?? null;
  walk.same(await store.domains.findVerifiedHolder(name), holder, 'findVerifiedHolder');
  walk.same(
    await store.domains.findVerifiedDomain(tenantId, name),
    holder?.tenantId === tenantId ? holder : null,
    'findVerified',
  );
  const live = state === 'revoked' ? null : domain;
  const found = await store.domains.findLiveDomain(tenantId, name);
  if (live || !found) walk.same(found, live, 'findLiveDomain');
  walk.same(
    await store.domains.takeOverDomain({ tenantId, id }, { id, failureReason: 'mismatch' }, walk.now),
    null,
    'takeOverDomain from oneself',
  );
  await recheck(walk, domain);
  await store.domains.recordChecks(tenantId, id, { at: walk.now, checks: [] });
  model.domains.set(id, { ...domain, lastCheckedAt: walk.now });
  walk.same((await store.domains.lastChecks(tenantId, id))?.at, walk.now, 'lastChecks');
  const facts = await store.figures.onboardingFacts(tenantId);
  if (state === 'verified') walk.same(facts.hasVerifiedDomain, true, 'onboardingFacts');
}

async function settings(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  walk.same(
    (await store.tenants.listTenants()).some(({ id }) => id === tenant.id),
    true,
    'listTenants',
  );
  walk.same(await store.upkeep.setContentDays(tenant.id, null), true, 'setContentDays');
  walk.same(await store.upkeep.contentDaysOf(tenant.id), null, 'contentDaysOf');
  walk.same(await store.upkeep.contentDaysInUse(), [], 'contentDaysInUse');
  await store.tenants.recentResultsOf(tenant.id, 100);
  await store.reputation.resultsSinceReview(tenant.id, 100);
  walk.same(await store.tenants.raiseTier(tenant.id, '10k'), true, 'raiseTier');
  model.tenants.set(tenant.id, { ...tenant, tier: '10k' });
  if (walk.chance(0.9)) return;
  const review = { at: walk.now, reason: 'too many complaints' };
  const isStopped = await store.reputation.stopForReview(tenant.id, review);
  walk.same(isStopped, tenant.status === 'active', 'stopForReview');
  if (!isStopped) return;
  walk.same(await store.reputation.reviewOf(tenant.id), review, 'reviewOf');
  model.tenants.set(tenant.id, { ...tenant, tier: '10k', status: 'in_review', statusReason: review.reason });
}

async function webhooksAround(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const webhook = walk.pick(model.webhooks.values());
  if (!webhook) return;
  const { id, tenantId } = webhook;
  walk.same((await store.webhooks.getWebhook(tenantId, id))?.target, webhook.target, 'getWebhook');
  const read = await store.webhooks.readEndpoints([walk.id(), id], walk.now);
  walk.same(
    read.map((endpoint) => endpoint?.target),
    [undefined, webhook.target],
    'readEndpoints',
  );
  const own = [...model.webhooks.values()].filter((one) => one.tenantId === tenantId).map((one) => one.id);
  const listed = (await store.webhooks.listWebhooks(tenantId)).map((one) => one.id);
  walk.same(listed.toSorted(), own.toSorted(), 'listWebhooks');
  walk.same(await store.webhooks.ownerOfWebhook(id), tenantId, 'ownerOfWebhook');
  const rotation = { secret: SECRET, at: walk.now, previousUntil: walk.now + HOUR_MS };
  const secrets = (await store.webhooks.listWebhookSecrets(tenantId, id, walk.now)).length;
  walk.same(await store.webhooks.rotateWebhookSecret(tenantId, id, rotation), true, 'rotateWebhookSecret');
  const rotated = (await store.webhooks.listWebhookSecrets(tenantId, id, walk.now)).length;
  walk.same(rotated, Math.min(secrets + 1, MAX_SECRETS), 'listWebhookSecrets');
  walk.same((await store.webhooks.getWebhookHealth(tenantId, id))?.id, id, 'getWebhookHealth');
  const [failure] = await store.webhooks.listFailingWebhooks(walk.now - HOUR_MS);
  if (failure) walk.same(await store.webhooks.noteFailureTold(failure, walk.now), true, 'noteFailureTold');
  const [attempt] = await store.webhooks.listWebhookAttempts(tenantId, { webhookId: id, eventId: null, limit: 10 });
  if (!attempt) return;
  const found = await store.webhooks.findWebhookAttempt(tenantId, id, {
    eventId: attempt.eventId,
    number: attempt.number,
  });
  walk.same(found?.attempt, attempt, 'findWebhookAttempt');
}

async function templates(walk: Walk): Promise<void> {
  const { store } = walk;
  const tenantId = walk.pick(walk.model.tenants.keys());
  if (!tenantId) return;
  const quota = { templates: 1000, bytes: 1_000_000 };
  const subject = walk.chance(0.5) && { subject: 'Hello {{ name }}' };
  const content = { name: 'Welcome', html: null, text: 'Hello {{ name }}', ...subject };
  const template = { id: walk.id(), ...content, createdAt: walk.now, updatedAt: walk.now, changedBy: null };
  walk.same(await store.templates.createTemplate(tenantId, template, quota), 'created', 'createTemplate');
  walk.same(
    (await store.templates.listTemplates(tenantId)).some(({ id }) => id === template.id),
    true,
    'listTemplates',
  );
  await store.templates.listTemplateNames(tenantId, PAGE);
  const change = { content: { ...content, text: 'Bye' }, updatedAt: walk.now, changedBy: null, quota };
  await store.templates.replaceTemplate(tenantId, template.id, change);
  walk.same((await store.templates.getTemplate(tenantId, template.id))?.text, 'Bye', 'replaceTemplate');
  if (walk.chance(0.5)) walk.same(await store.templates.deleteTemplate(tenantId, template.id), true, 'deleteTemplate');
}

async function audit(walk: Walk): Promise<void> {
  const { store } = walk;
  const tenantId = someTenant(walk);
  const who = { actor: 'command', userId: null, who: 'tester', address: null } as const;
  await store.audit.recordAudit({ tenantId, at: walk.now, ...who, action: 'walked', data: {} });
  walk.same((await store.audit.listAudit(tenantId, PAGE))[0]?.at, walk.now, 'listAudit');
  walk.same((await store.audit.listAllAudit(PAGE))[0]?.at, walk.now, 'listAllAudit');
  const failures = { account: null, network: '192.0.2.0', address: '192.0.2.0', at: walk.now, count: 2 };
  await store.audit.recordFailedSignIns([failures]);
  walk.same((await store.audit.listAllAudit(PAGE))[0]?.address !== undefined, true, 'recordFailedSignIns');
  await store.audit.eraseAudit(walk.now - DAY_MS, 10);
}

async function platform(walk: Walk): Promise<void> {
  const { store } = walk;
  const key = { purpose: 'tracking', keyId: walk.id(), secret: SECRET, publicPart: null, createdAt: walk.now } as const;
  walk.same(await store.platformKeys.addPlatformKey(key), 'added', 'addPlatformKey');
  walk.same(await store.platformKeys.addPlatformKey(key), 'exists', 'addPlatformKey again');
  walk.same(
    (await store.platformKeys.listPlatformKeys('tracking')).some(({ keyId }) => keyId === key.keyId),
    true,
    'listPlatformKeys',
  );
  const expiresAt = walk.now + HOUR_MS;
  const policy = { domain: 'x.test', policyId: '1', mode: 'enforce' as const, mx: ['mx.x.test'], fetchedAt: walk.now };
  await store.transportSecurity.putTlsPolicy({ ...policy, expiresAt }, 10);
  walk.same((await store.transportSecurity.findTlsPolicy('x.test', walk.now))?.fetchedAt, walk.now, 'findTlsPolicy');
  await store.transportSecurity.putBrokenTls({ host: 'mx.x.test', reason: 'r', since: walk.now, expiresAt }, 10);
  walk.same((await store.transportSecurity.findBrokenTls('mx.x.test', walk.now))?.since, walk.now, 'findBrokenTls');
  const certificate = { directory: 'https://acme.test/dir', names: walk.oneOf('a.test', 'a.test b.test') };
  await store.certificates.beginCertificateAttempt(certificate, walk.now);
  await store.certificates.keepCertificateOrder(certificate, { url: 'https://acme.test/order', key: SECRET });
  await store.certificates.failCertificateAttempt(certificate, { reason: 'refused', at: walk.now }, 0);
  await store.certificates.hastenCertificateAttempt(certificate, walk.now);
  const issued = { chain: 'PEM', key: SECRET, notBefore: walk.now, notAfter: expiresAt };
  if (walk.chance(0.5)) await store.certificates.keepCertificate(certificate, issued, expiresAt);
  walk.same(
    (await store.certificates.listCertificates()).some(({ names }) => names === certificate.names),
    true,
    'listCertificates',
  );
  const doubt = { mxGroup: walk.oneOf(...GROUPS), since: walk.now, reason: 'many' };
  walk.same(await store.reputation.doubtReceiver(doubt), true, 'doubtReceiver');
  walk.same(await store.reputation.listDoubtedReceivers(), [doubt], 'listDoubtedReceivers');
  walk.same(await store.reputation.trustReceiver(doubt.mxGroup), doubt, 'trustReceiver');
  walk.same(await store.ping(), true, 'ping');
  await store.proveWritable(walk.now);
}

async function lists(walk: Walk): Promise<void> {
  const { store } = walk;
  await store.upkeep.markRecipients(walk.now - HOUR_MS);
  await store.upkeep.forgetRecipientMarks(10);
  const hour = Math.floor(walk.now / HOUR_MS);
  const span = { fromHour: hour - 1000, untilHour: hour + 1 };
  const tenantId = someTenant(walk);
  await store.figures.chartOf(tenantId, { ...span, stepHours: 1 });
  await store.figures.providersOf(tenantId, span);
  await store.figures.forgetFigures(hour - 1000, 10);
  await store.figures.tagChartOf(tenantId, { tag: { name: 'kind', value: 'news' }, ...span, stepHours: 1 });
  await store.figures.tagsOf(tenantId, { ...span, limit: 10 });
  await store.figures.forgetTagFigures({ hours: hour - 1000, days: hour - 1000 }, 10);
  await store.figures.forgetServiceFigures(hour - 1000, 10);
  await store.dmarc.listDmarcDomains(PERIOD, { after: null, limit: 10 });
  await store.dmarc.dmarcSumsOf(['x.test'], PERIOD);
  await store.dmarc.sumDmarc('x.test', PERIOD, 10);
  await store.inbound.listDmarcDays('x.test', { since: '2026-01-01', limit: 10 });
  walk.same(await store.inbound.freeInboundSpace(10), 0, 'freeInboundSpace: nothing came unasked');
  walk.same((await store.upkeep.reusableBytes()) >= 0, true, 'reusableBytes');
  const waiting = [...walk.model.inbound.values()].filter(({ processedAt }) => processedAt === null);
  const suspects = await store.inbound.noteInterruptedInbound([walk.owner], 1000);
  walk.same(suspects.length, waiting.length, 'noteInterruptedInbound');
  const [suspect] = suspects;
  if (suspect) {
    walk.same(
      await store.inbound.noteInboundTrial([walk.formerOwner], suspect.seq),
      false,
      'a trial of a former owner',
    );
    walk.same(await store.inbound.noteInboundTrial([walk.owner], suspect.seq), true, 'noteInboundTrial');
  }
  await store.inbound.noteInboundReach([walk.owner], 7);
  walk.same(await store.inbound.retryInbound(walk.id()), 'unknown', 'retryInbound');
  const [mail] = walk.model.inbound.keys();
  if (mail) walk.same((await store.inbound.getInbound(mail))?.mail.id, mail, 'getInbound');
}

async function leadTimer(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const name = walk.oneOf('figures', 'marks');
  const node = walk.oneOf('one', 'two');
  const known = model.timers.get(name);
  const leaseUntil = walk.now + HOUR_MS;
  const isFree = !known || known.node === node || known.leaseUntil <= walk.now;
  const epoch = isFree ? (known?.epoch ?? 0) + 1 : null;
  walk.same(await store.owners.leadTimer({ name, node, now: walk.now, leaseUntil }), epoch, 'leadTimer');
  if (epoch !== null) model.timers.set(name, { node, epoch, leaseUntil });
}

/** The walk's own slot has a hold without an end, which these leave alone. */
async function nodes(walk: Walk): Promise<void> {
  const { owners } = walk.store;
  const note = { node: 'one', version: '1.0.0', startedAt: walk.now, now: walk.now, leaseUntil: walk.now + HOUR_MS };
  walk.same(await owners.keepSlots({ ...note, owners: [walk.formerOwner] }), [walk.formerOwner], 'keepSlots');
  walk.same((await owners.listNodes()).length, 1, 'listNodes');
  walk.same(await owners.drainNode('one', walk.chance(0.5)), true, 'drainNode');
  await owners.letGoOfSlots([walk.formerOwner]);
  walk.same(await owners.listSlots(), [{ ...walk.owner, node: 'test', leaseUntil: null }], 'listSlots');
  const sending = [...walk.model.messages.values()].some(({ state }) => state === 'sending');
  if (sending) {
    walk.same(await owners.isSlotIdle(walk.owner.slot), false, 'isSlotIdle');
    walk.same(await owners.letGoOfIdleSlot(walk.owner), false, 'letGoOfIdleSlot');
  } else await owners.letGoOfIdleSlot(walk.formerOwner);
  walk.same(await owners.forgetNode('one', walk.now), true, 'forgetNode');
  walk.same((await owners.readClock()) > 0, true, 'readClock');
}

async function limits(walk: Walk): Promise<void> {
  const { limits } = walk.store;
  const gates = [gate('one'), gate('two')];
  const [first, second] = [await limits.takeAttempt(gates, walk.now), await limits.takeAttempt(gates, walk.now)];
  walk.same([first, second], [0, 0], 'takeAttempt');
  walk.same((await limits.takeAttempt(gates, walk.now)) > 0, true, 'takeAttempt, once too often');
  await limits.settleAttempt({ forgiven: [gates[0]!.key], refunded: [gates[1]!.key] });
  walk.same(await limits.forgottenBeyond(1), null, 'forgottenBeyond');
  walk.same(await limits.eraseAttempts(walk.now + DAY_MS, 10), 1, 'eraseAttempts');
  walk.same((await limits.spendCalls([{ id: walk.id(), costMs: 0 }])).length, 1, 'spendCalls');
  walk.same(await limits.eraseFullBuckets(10), 1, 'eraseFullBuckets');
  const wish = { subject: 'walk', limit: 3, spanMs: HOUR_MS, wanted: 5, returned: 3 };
  walk.same((await limits.takePortions([wish]))[0]!.granted, 3, 'takePortions');
  walk.same(await limits.erasePortions(10), 0, 'erasePortions');
  const need = { mxGroup: 'walk', node: 'one', limit: 3, kept: 0, wanted: 5, leaseMs: HOUR_MS };
  walk.same(await limits.shareConnections([need]), [{ connections: 3, goal: 3 }], 'shareConnections');
  walk.same(
    await limits.shareConnections([{ ...need, wanted: 0 }]),
    [{ connections: 0, goal: 0 }],
    'and gave them back',
  );
}

export const otherSteps: readonly Step[] = [
  { name: 'limits', weight: 0.2, run: limits },
  { name: 'nodes', weight: 0.2, run: nodes },
  { name: 'leadTimer', run: leadTimer },
  { name: 'keys', weight: 0.5, run: keys },
  { name: 'pause', run: pause },
  { name: 'shape', weight: 0.5, run: shape },
  { name: 'look at the queue', run: lookAtQueue },
  { name: 'people', weight: 0.4, run: people },
  { name: 'sign-ups', weight: 0.3, run: signUps },
  { name: 'domains', run: domainsAround },
  { name: 'settings', weight: 0.5, run: settings },
  { name: 'webhooks', run: webhooksAround },
  { name: 'templates', weight: 0.3, run: templates },
  { name: 'audit', weight: 0.3, run: audit },
  { name: 'platform', weight: 0.3, run: platform },
  { name: 'lists', weight: 0.5, run: lists },
];
