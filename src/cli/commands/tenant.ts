// tenant create | list | set
import { toTimestamp } from '../../base/clock.ts';
import { TENANT_STATUSES, type Tenant, TIERS } from '../../store/tenants.ts';
import { createTenant, setTenant } from '../../tenants/tenant-service.ts';
import { done, storeCommand } from '../command.ts';
import { oneOf, onOff, positional, required, text, uuid } from '../option.ts';
import { fromRefused } from '../refusal.ts';
import { renderFacts, renderTable } from '../table.ts';

const status = oneOf('STATUS', TENANT_STATUSES, 'only active tenants may send');

export const tenantCreate = storeCommand({
  name: 'tenant create',
  summary: 'Makes a tenant; in review unless another status is given.',
  options: { name: required(text('NAME', 'what people call the tenant')), status },
  async run(services, { name, status }) {
    const result = await createTenant(services, { name, ...(status && { status }) });
    return result.kind === 'refused' ? fromRefused(result) : done({ id: result.tenant.id });
  },
  render: ({ id }) => `Tenant ${id} created.`,
});

export const tenantList = storeCommand({
  name: 'tenant list',
  summary: 'Lists all tenants, oldest first.',
  options: {},
  run: async ({ store }) => done({ tenants: (await store.listTenants()).map(showTenant) }),
  render: ({ tenants }) =>
    renderTable(
      tenants,
      [
        { title: 'ID', value: (tenant) => tenant.id },
        { title: 'STATUS', value: (tenant) => tenant.status },
        { title: 'TIER', value: (tenant) => (tenant.tier_pinned ? `${tenant.tier} (pinned)` : tenant.tier) },
        { title: 'CREATED', value: (tenant) => tenant.created_at },
        { title: 'NAME', value: (tenant) => tenant.name },
      ],
      'There are no tenants yet.',
    ),
});

export const tenantSet = storeCommand({
  name: 'tenant set',
  summary: 'Changes a tenant; what is not given stays as it is.',
  options: {
    id: required(positional(uuid('ID', 'the tenant'))),
    status,
    tier: oneOf('TIER', [...TIERS, 'auto'], 'auto lets age and standing decide, the others are fixed until then'),
    'open-tracking': onOff('a pixel that tells when a message is opened'),
    'click-tracking': onOff('links that tell when they are followed'),
    unsubscribe: onOff('one-click unsubscribe (RFC 8058) in every message'),
  },
  check: ({ id: _, ...settings }) =>
    Object.values(settings).every((value) => value === undefined) ? 'nothing to change was given' : null,
  async run(services, { id, 'open-tracking': openTracking, 'click-tracking': clickTracking, ...rest }) {
    const settings = { openTracking, clickTracking, ...rest };
    const result = await setTenant(services, id, settings);
    if (result.kind === 'refused') return fromRefused(result);
    services.tenantChanged(result.tenant);
    return done(showTenant(result.tenant));
  },
  render: (tenant) =>
    renderFacts([
      ['tenant', tenant.id],
      ['name', tenant.name],
      ['status', tenant.status],
      ['tier', tenant.tier_pinned ? `${tenant.tier} (pinned)` : tenant.tier],
      ['open tracking', tenant.open_tracking ? 'on' : 'off'],
      ['click tracking', tenant.click_tracking ? 'on' : 'off'],
      ['unsubscribe', tenant.unsubscribe ? 'on' : 'off'],
    ]),
});

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
