// suppression list | add | remove: a tenant's own list, or the platform's list of mailboxes that
// do not exist.
import { DAY_MS, toTimestamp } from '../../base/clock.ts';
import { SUPPRESSION_REASONS } from '../../store/suppressions.ts';
import { done, failed, storeCommand } from '../command.ts';
import { flag, oneOf, required, suppressedAddress, uuid, wholeNumber } from '../option.ts';
import type { OperatorServices } from '../services.ts';
import { renderTable } from '../table.ts';

const DEFAULT_LIMIT = 1000;

const scope = {
  tenant: uuid('ID', "this tenant's list"),
  platform: flag("the platform's list, which holds for all tenants"),
};

function scopeProblem(values: { tenant: string | undefined; platform: true | undefined }): string | null {
  const one = (values.tenant === undefined) !== (values.platform === undefined);
  return one ? null : 'exactly one of --tenant and --platform is needed';
}

export const suppressionList = storeCommand({
  name: 'suppression list',
  summary: 'Lists suppressed addresses in the order of the alphabet.',
  options: {
    ...scope,
    after: suppressedAddress('begin behind this address'),
    limit: wholeNumber('N', { min: 1, max: 100_000 }, `how many at most; ${DEFAULT_LIMIT} when not given`),
  },
  check: scopeProblem,
  async run(services, { tenant, after, limit }) {
    const page = { after: after ?? null, limit: limit ?? DEFAULT_LIMIT };
    if (tenant === undefined) return done({ suppressions: await listPlatform(services, page) });
    if (!(await services.store.getTenant(tenant))) return failed(`there is no tenant ${tenant}`);
    return done({ suppressions: await listTenant(services, tenant, page) });
  },
  render: ({ suppressions }) =>
    renderTable(
      suppressions,
      [
        { title: 'ADDRESS', value: (entry) => entry.address },
        { title: 'REASON', value: (entry) => entry.reason },
        { title: 'SINCE', value: (entry) => entry.created_at },
        { title: 'UNTIL', value: (entry) => entry.expires_at },
        { title: 'RULE', value: (entry) => entry.rule },
        { title: 'MESSAGE', value: (entry) => entry.message_id },
      ],
      'The list is empty.',
    ),
});

export const suppressionAdd = storeCommand({
  name: 'suppression add',
  summary: "Stops mail to an address from now on; a tenant's entry keeps its first reason.",
  options: {
    ...scope,
    address: required(suppressedAddress('the recipient')),
    reason: oneOf('REASON', SUPPRESSION_REASONS, 'why; manual when not given'),
  },
  check: scopeProblem,
  async run(services, { tenant, address, reason = 'manual' }) {
    const { store, clock } = services;
    if (tenant === undefined) return done({ address, added: await addPlatform(services, address, reason) });
    if (!(await store.getTenant(tenant))) return failed(`there is no tenant ${tenant}`);
    const entry = { address, reason, messageId: null, createdAt: clock.now() };
    return done({ address, added: (await store.addSuppression(tenant, entry)) === 'added' });
  },
  render: ({ address, added }) => (added ? `${address} is suppressed.` : `${address} was already suppressed.`),
});

export const suppressionRemove = storeCommand({
  name: 'suppression remove',
  summary: 'Lets mail to an address through again.',
  options: { ...scope, address: required(suppressedAddress('the recipient')) },
  check: scopeProblem,
  async run({ store }, { tenant, address }) {
    const removed =
      tenant === undefined
        ? await store.removePlatformSuppression(address)
        : await store.removeSuppression(tenant, address);
    return removed ? done({ address, removed }) : failed(`${address} is not on this list`);
  },
  render: ({ address }) => `${address} is no longer on this list.`,
});

interface Page {
  after: string | null;
  limit: number;
}

interface ShownSuppression {
  address: string;
  reason: string;
  message_id: string | null;
  created_at: string;
  expires_at?: string;
  rule?: string;
  mx_group?: string | null;
}

async function listTenant({ store }: OperatorServices, tenant: string, page: Page): Promise<ShownSuppression[]> {
  const entries = await store.listSuppressions(tenant, page);
  return entries.map((entry) => ({
    address: entry.address,
    reason: entry.reason,
    message_id: entry.messageId,
    created_at: toTimestamp(entry.createdAt),
  }));
}

async function listPlatform({ store }: OperatorServices, page: Page): Promise<ShownSuppression[]> {
  const entries = await store.listPlatformSuppressions(page);
  return entries.map((entry) => ({
    address: entry.address,
    reason: 'hard_bounce',
    message_id: entry.messageId,
    created_at: toTimestamp(entry.createdAt),
    expires_at: toTimestamp(entry.expiresAt),
    rule: entry.rule,
    mx_group: entry.mxGroup,
  }));
}

/** Senders see hard_bounce for whatever is on this list; the rule keeps what the operator meant. */
async function addPlatform(services: OperatorServices, address: string, reason: string): Promise<boolean> {
  const { store, clock, config } = services;
  const createdAt = clock.now();
  const expiresAt = createdAt + config.retention.platform_suppression_days * DAY_MS;
  const entry = { address, mxGroup: null, rule: `operator: ${reason}`, messageId: null, createdAt, expiresAt };
  return (await store.addPlatformSuppression(entry)) === 'added';
}
