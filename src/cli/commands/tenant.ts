// tenant create | list | show | set
import { toTimestamp } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
import { done } from '../../operator/answer.ts';
import { TENANT_STATUSES, type Tenant, TIERS } from '../../store/tenants.ts';
import type { BrakeState, Measure } from '../../suppression/brake.ts';
import { createTenant, noSuchTenant, setTenant } from '../../tenants/tenant-service.ts';
import { storeCommand } from '../command.ts';
import { label, numberOrDefault, oneOf, onOff, positional, required, tenantName } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { fromRefused } from '../refusal.ts';
import { renderFacts, renderTable } from '../table.ts';

/** As retention.content_days. */
const CONTENT_DAYS = { min: 0, max: 3650 };

const status = oneOf('STATUS', TENANT_STATUSES, 'only active tenants can send');

export const tenantCreate = storeCommand({
  name: 'tenant create',
  begins: true,
  summary: 'Creates a tenant; its status is in_review unless --status is given.',
  options: { name: required(label('NAME', "the tenant's display name")), status },
  async run(services, { name, status }) {
    const result = await createTenant(services, { name, ...(status && { status }) });
    if (result.kind === 'refused') return fromRefused(result);
    const { id, name: written, status: given } = result.tenant;
    await recordAct(services, id, 'tenant.created', { name: written, status: given });
    const namesakes = (await services.store.tenants.listTenants()).filter((each) => each.name === written);
    return done({ id, status: given, has_namesake: namesakes.length > 1 });
  },
  render: ({ id, status }) =>
    status === 'active'
      ? `Tenant ${id} created. It can send.`
      : `Tenant ${id} created. It is ${status} and can't send yet: postrider tenant set ${id} --status active`,
  note: ({ has_namesake: hasNamesake }) =>
    hasNamesake
      ? 'Another tenant has this name: commands take the ID of the one that is meant, and tenant set --name renames one.'
      : null,
  toJson: ({ id }) => ({ id }),
});

export const tenantList = storeCommand({
  name: 'tenant list',
  summary: 'Lists all tenants, oldest first.',
  options: {},
  run: async ({ store }) => done({ tenants: (await store.tenants.listTenants()).map(showTenant) }),
  render: ({ tenants }) =>
    renderTable(
      tenants,
      [
        { title: 'ID', value: (tenant) => tenant.id },
        { title: 'STATUS', value: (tenant) => tenant.status },
        { title: 'TIER', value: (tenant) => (tenant.tier_pinned ? `${tenant.tier} (pinned)` : tenant.tier) },
        { title: 'CREATED', value: (tenant) => tenant.created_at },
        { title: 'NAME', value: (tenant) => tenant.name },
        { title: 'REASON', value: (tenant) => tenant.status_reason ?? '' },
      ],
      'No tenants yet.',
    ),
});

const IN_SANDBOX = 'the sandbox never puts a tenant under review';
const OWN_MAIL = 'the service sends its own mail as this tenant, so it is never reviewed';

export const tenantShow = storeCommand({
  name: 'tenant show',
  summary: 'Shows a tenant, and how close it is to a review because of bounces and complaints.',
  options: { id: required(positional(tenantName('the tenant'))) },
  async run({ store, config, isSandbox }, { id }) {
    const tenant = await store.tenants.getTenant(id);
    if (!tenant) return fromRefused(noSuchTenant(id));
    const [{ reviewLimitsOf }, { brakeOf }] = await Promise.all([
      import('../../operator/review-limits.ts'),
      import('../../suppression/brake.ts'),
    ]);
    const limits = reviewLimitsOf(config);
    const state = brakeOf(await store.reputation.resultsSinceReview(id, limits.window), limits);
    const isOwn = (await store.domains.findVerifiedHolder(config.service.dkim_domain))?.tenantId === id;
    const never_reviewed = isSandbox ? IN_SANDBOX : isOwn ? OWN_MAIL : null;
    return done({ ...showTenant(tenant), brake: never_reviewed === null ? showBrake(state) : null, never_reviewed });
  },
  render: ({ brake, never_reviewed: never, ...tenant }) =>
    renderFacts([
      ['tenant', tenant.id],
      ['name', tenant.name],
      ['status', tenant.status_reason === null ? tenant.status : `${tenant.status}: ${tenant.status_reason}`],
      ['tier', tenant.tier_pinned ? `${tenant.tier} (pinned)` : tenant.tier],
      ['created', tenant.created_at],
      brake === null ? ['reviews', `off: ${never}`] : ['until a review', brake.distance],
    ]),
});

export const tenantSet = storeCommand({
  name: 'tenant set',
  summary: 'Changes a tenant. Settings that are not given stay unchanged.',
  options: {
    id: required(positional(tenantName('the tenant'))),
    name: label('NAME', 'another display name'),
    status,
    tier: oneOf('TIER', [...TIERS, 'auto'], "auto follows the tenant's age and reputation; the others fix the tier"),
    'open-tracking': onOff('add a pixel that reports opens'),
    'click-tracking': onOff('rewrite links to report clicks'),
    unsubscribe: onOff('add one-click unsubscribe (RFC 8058) to every message'),
    'content-days': numberOrDefault(
      CONTENT_DAYS,
      'days to keep the content of finished messages; default: as configured',
    ),
  },
  check: ({ id: _, ...settings }) =>
    Object.values(settings).every((value) => value === undefined)
      ? 'nothing to change: give at least one option'
      : null,
  async run(
    services,
    { id, 'open-tracking': openTracking, 'click-tracking': clickTracking, 'content-days': days, ...rest },
  ) {
    const { store } = services;
    if (days !== undefined && !(await store.upkeep.setContentDays(id, days))) return fromRefused(noSuchTenant(id));
    const settings = { openTracking, clickTracking, ...rest };
    if (days === undefined || Object.values(settings).some((value) => value !== undefined)) {
      const result = await setTenant(services, id, settings);
      if (result.kind === 'refused') return fromRefused(result);
      services.tenantChanged(result.tenant);
    }
    await recordAct(services, id, 'tenant.changed', { ...settings, contentDays: days });
    const tenant = await store.tenants.getTenant(id);
    if (!tenant) return fromRefused(noSuchTenant(id));
    const content_days = await store.upkeep.contentDaysOf(id);
    return done({ ...showTenant(tenant), content_days });
  },
  render: (tenant) =>
    renderFacts([
      ['tenant', tenant.id],
      ['name', tenant.name],
      ['status', tenant.status_reason === null ? tenant.status : `${tenant.status}: ${tenant.status_reason}`],
      ['tier', tenant.tier_pinned ? `${tenant.tier} (pinned)` : tenant.tier],
      ['content', tenant.content_days === null ? 'kept as configured' : `kept ${counted(tenant.content_days, 'day')}`],
      ['open tracking', tenant.open_tracking ? 'on' : 'off'],
      ['click tracking', tenant.click_tracking ? 'on' : 'off'],
      ['unsubscribe', tenant.unsubscribe ? 'on' : 'off'],
    ]),
});

function showBrake({ messages, nearness, distance, hardBounces, complaints }: BrakeState) {
  const show = ({ recipients, weight, share, domains, nearness }: Measure) => {
    return { recipients, weight, share, domains, nearness };
  };
  return { messages, nearness, distance, hard_bounces: show(hardBounces), complaints: show(complaints) };
}

function showTenant(tenant: Tenant) {
  return {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    status_reason: tenant.statusReason,
    tier: tenant.tier,
    tier_pinned: tenant.tierPinned,
    open_tracking: tenant.openTracking,
    click_tracking: tenant.clickTracking,
    unsubscribe: tenant.unsubscribe,
    created_at: toTimestamp(tenant.createdAt),
  };
}
