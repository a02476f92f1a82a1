// suppression list | add | remove: a tenant's own list, or the platform's list of mailboxes that
// do not exist. Files are in suppression-csv.ts.
import { DAY_MS, toTimestamp } from '../../base/clock.ts';
import { asTyped } from '../../base/text/as-typed.ts';
import { counted } from '../../base/text/counted.ts';
import { nearest } from '../../base/text/suggest.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { suppressionPrefix } from '../../protocol/mail/addresses/address.ts';
import { NO_ROUTE, SUPPRESSION_REASONS, type SuppressionPage, type UndoneBounces } from '../../store/suppressions.ts';
import { undoHardBounces } from '../../suppression/undo-hard-bounces.ts';
import { storeCommand } from '../command.ts';
import { flag, moment, name, oneOf, required, suppressedAddress, tenantName, text, wholeNumber } from '../option.ts';
import { didYouMean } from '../parse-arguments.ts';
import { recordAct } from '../record-act.ts';
import { isRule, operatorRule, suppressingRules } from '../suppressing-rules.ts';
import { renderFacts, renderTable } from '../table.ts';

const DEFAULT_LIMIT = 1000;

export const scope = {
  tenant: tenantName('the list of this tenant'),
  platform: flag("the platform's list, which applies to all tenants"),
};

export function scopeProblem(values: { tenant: string | undefined; platform: true | undefined }): string | null {
  const one = (values.tenant === undefined) !== (values.platform === undefined);
  return one ? null : 'give exactly one of --tenant and --platform';
}

export const suppressionList = storeCommand({
  name: 'suppression list',
  summary: 'Lists suppressed addresses alphabetically.',
  options: {
    ...scope,
    search: text('TEXT', 'only addresses that start with this'),
    after: suppressedAddress('start after this address'),
    limit: wholeNumber('N', { min: 1, max: 100_000 }, `maximum number of entries; default: ${DEFAULT_LIMIT}`),
  },
  check: scopeProblem,
  async run(services, { tenant, search, after, limit }) {
    const prefix = search === undefined ? {} : { prefix: suppressionPrefix(search) };
    const most = limit ?? DEFAULT_LIMIT;
    const page = { after: after ?? null, limit: most + 1, ...prefix };
    const found = tenant === undefined ? await listPlatform(services, page) : await listTenant(services, tenant, page);
    const suppressions = found.slice(0, most);
    return done({ suppressions, next: found.length > most ? suppressions.at(-1)!.address : null });
  },
  render: ({ suppressions, next }) =>
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
    ) + (next === null ? '' : `\nMore: --after ${asTyped(next)}`),
});

export const suppressionAdd = storeCommand({
  name: 'suppression add',
  summary: "Suppresses an address: no more mail is sent to it. A tenant's entry keeps its first reason.",
  options: {
    ...scope,
    address: required(suppressedAddress('the recipient')),
    reason: oneOf('REASON', SUPPRESSION_REASONS, 'the reason; default: manual'),
  },
  check: scopeProblem,
  async run(services, { tenant, address, reason = 'manual' }) {
    const { store, clock } = services;
    const entry = { address, reason, messageId: null, createdAt: clock.now() };
    const added =
      tenant === undefined
        ? await addPlatform(services, address, reason)
        : (await store.suppressions.addSuppression(tenant, entry)) === 'added';
    const list = tenant === undefined ? 'platform_suppression' : 'suppression';
    if (added) await recordAct(services, tenant ?? null, `${list}.added`, { address, reason });
    return done({ address, added });
  },
  render: ({ address, added }) => (added ? `${address} is suppressed.` : `${address} was already suppressed.`),
});

export const suppressionRemove = storeCommand({
  name: 'suppression remove',
  summary: 'Removes a suppression, or all hard bounces that one provider or one rule caused since a given time.',
  options: {
    ...scope,
    address: suppressedAddress('the recipient'),
    since: moment('TIME', 'with --group or --rule: every hard bounce it caused since then'),
    group: name('GROUP', "the MX group (one provider's servers) that rejected, as suppression list --json shows it"),
    rule: name('RULE', "the rule that decided, as suppression list shows it; 'route-*' is every decision by DNS"),
  },
  check({ tenant, platform, address, since, group, rule }) {
    if (since === undefined && group === undefined && rule === undefined) {
      return address === undefined
        ? 'give either --address, or --since with --group or --rule'
        : scopeProblem({ tenant, platform });
    }
    if (since === undefined || (group === undefined) === (rule === undefined)) {
      return '--since needs exactly one of --group and --rule';
    }
    if (address !== undefined) return "--since can't be combined with --address";
    if (group !== undefined && tenant !== undefined) return "--since with --group can't be combined with --tenant";
    return tenant !== undefined && platform !== undefined ? 'give only one of --tenant and --platform' : null;
  },
  async run(services, { tenant, platform, address, since, group, rule }): Promise<Answer<Removal>> {
    if (since === undefined) return removeOne(services, tenant, address!);
    if (group !== undefined) return done(await undoGroup(services, { since, mxGroup: group }));
    if (tenant !== undefined && !(await services.store.tenants.getTenant(tenant)))
      return failed(`there is no tenant ${tenant}`);
    const of = tenant !== undefined ? { tenantId: tenant } : platform ? ('platform' as const) : null;
    return done(await undoRule(services, { since, rule: rule!, ...(of && { of }) }));
  },
  render(removal) {
    if (removal.kind === 'undone_rule') {
      const { platform, tenants, rule, rule_known: isKnown, did_you_mean: near } = removal;
      if (!isKnown)
        return `There is no rule ${rule}${near === null ? '' : didYouMean(near)}. No entry was removed. postrider suppression list shows the rules.`;
      return `Removed ${counted(platform, 'entry', 'entries')} from the platform's list and ${tenants} from tenants' lists: all by rule ${rule}.`;
    }
    if (removal.kind === 'undone') {
      const { platform, tenants, mx_group: group, group_known: isKnown } = removal;
      if (!isKnown)
        return `No MX group ${group} is known, and no entry was removed. postrider queue list shows the groups.`;
      return `Removed ${counted(platform, 'entry', 'entries')} from the platform's list and ${tenants} from tenants' lists: all caused by ${group}.`;
    }
    const { address, still_on_platform: still } = removal;
    if (still === null) return `${address} is no longer on this list.`;
    return `${address} is no longer on this list. Mail to it is still suppressed: it is on the platform's list until ${still.expires_at} (${still.rule}).`;
  },
});

type Removal =
  | { kind: 'removed'; address: string; removed: true; still_on_platform: { expires_at: string; rule: string } | null }
  | { kind: 'undone'; mx_group: string; group_known: boolean; since: string; platform: number; tenants: number }
  | {
      kind: 'undone_rule';
      rule: string;
      rule_known: boolean;
      did_you_mean: string | null;
      since: string;
      platform: number;
      tenants: number;
    };

async function removeOne(
  services: OperatorServices,
  tenant: string | undefined,
  address: string,
): Promise<Answer<Removal>> {
  const { store, clock } = services;
  const lifted =
    tenant === undefined
      ? { removed: await store.suppressions.removePlatformSuppression(address), platform: null }
      : await store.suppressions.removeSuppression(tenant, address, clock.now());
  const still = lifted.platform && { expires_at: toTimestamp(lifted.platform.expiresAt), rule: lifted.platform.rule };
  if (lifted.removed) {
    const list = tenant === undefined ? 'platform_suppression' : 'suppression';
    await recordAct(services, tenant ?? null, `${list}.removed`, { address });
    return done({ kind: 'removed', address, removed: true, still_on_platform: still });
  }
  const elsewhere = still ? `; it is on the platform's list until ${still.expires_at}` : '';
  return failed(`${address} is not on this list${elsewhere}`);
}

async function undoRule(services: OperatorServices, of: Extract<UndoneBounces, { rule: string }>): Promise<Removal> {
  const total = await undoHardBounces(services.store, of);
  const since = toTimestamp(of.since);
  const tenantId = typeof of.of === 'object' ? of.of.tenantId : null;
  await recordAct(services, tenantId, 'suppression.undone', { rule: of.rule, since, ...total });
  const names = suppressingRules(services.queue.explain);
  const isKnown = total.platform + total.tenants > 0 || isRule(of.rule, names);
  const did_you_mean = isKnown ? null : nearest(of.rule, names);
  return { kind: 'undone_rule', rule: of.rule, rule_known: isKnown, did_you_mean, since, ...total };
}

async function undoGroup(
  services: OperatorServices,
  { since, mxGroup }: { since: number; mxGroup: string },
): Promise<Removal> {
  const { store, queue } = services;
  const total = await undoHardBounces(store, { since, mxGroup });
  const data = { group: mxGroup, since: toTimestamp(since), ...total };
  await recordAct(services, null, 'platform_suppression.undone', data);
  const group_known = total.platform + total.tenants > 0 || (await queue.explain.isKnownGroup(mxGroup));
  return { kind: 'undone', mx_group: mxGroup, group_known, since: toTimestamp(since), ...total };
}

export const suppressionDoubts = storeCommand({
  name: 'suppression doubts',
  summary:
    'Lists providers whose hard-bounce rate spiked; their bounces count as soft until you decide. Shows whether mail without a route is held.',
  options: {},
  async run({ store }) {
    const doubts = await store.reputation.listDoubtedReceivers();
    return done({
      doubts: doubts.map(({ mxGroup, since, reason }) => ({ mx_group: mxGroup, since: toTimestamp(since), reason })),
    });
  },
  render: ({ doubts }) =>
    doubts.length === 0
      ? "No provider's hard bounces are doubted."
      : doubts.map((doubt) => `${renderDoubt(doubt)}`).join('\n\n'),
});

function renderDoubt({ mx_group: group, since, reason }: { mx_group: string; since: string; reason: string }): string {
  return renderFacts([
    ['MX group', group === NO_ROUTE ? `${NO_ROUTE} (all mail without a route in DNS; it is held)` : group],
    ['since', since],
    ['reason', reason],
    ...(group === NO_ROUTE ? [['to check DNS', 'postrider doctor'] as [string, string]] : []),
    [
      'to undo',
      `postrider suppression remove --since TIME ${group === NO_ROUTE ? `--rule 'route-*'` : `--group '${group}'`}`,
    ],
    ['to accept', `postrider suppression trust --group '${group}'`],
  ]);
}

export const suppressionTrust = storeCommand({
  name: 'suppression trust',
  summary: "Accepts a provider's hard bounces again, or releases mail without a route.",
  options: { group: required(name('GROUP', 'the MX group, or no-route, as suppression doubts shows it')) },
  async run(services, { group }) {
    const { store, receiverTrusted } = services;
    const stored = await store.reputation.trustReceiver(group);
    // Also when the store has no doubt: one that could not be stored is in the daemon's memory alone.
    const remembered = receiverTrusted(group);
    const doubt = stored ?? remembered;
    if (!doubt)
      return failed(
        group === NO_ROUTE ? 'mail without a route is not held' : `hard bounces of ${group} are not doubted`,
      );
    await recordAct(services, null, 'receiver.trusted', { group, doubted_since: toTimestamp(doubt.since) });
    return done({ mx_group: group, doubted_since: toTimestamp(doubt.since), reason: doubt.reason });
  },
  render: ({ mx_group: group }) =>
    group === NO_ROUTE
      ? 'Mail without a route is no longer held. Each message is decided at its next attempt, within the hour.'
      : `Hard bounces of ${group} count again.`,
});

interface ShownSuppression {
  address: string;
  reason: string;
  message_id: string | null;
  created_at: string;
  expires_at?: string;
  rule?: string;
  mx_group?: string | null;
}

async function listTenant(
  { store }: OperatorServices,
  tenant: string,
  page: SuppressionPage,
): Promise<ShownSuppression[]> {
  const entries = await store.suppressions.listSuppressions(tenant, page);
  return entries.map((entry) => ({
    address: entry.address,
    reason: entry.reason,
    message_id: entry.messageId,
    created_at: toTimestamp(entry.createdAt),
    ...(entry.rule !== undefined && { rule: entry.rule }),
    ...(entry.mxGroup !== undefined && { mx_group: entry.mxGroup }),
  }));
}

async function listPlatform({ store }: OperatorServices, page: SuppressionPage): Promise<ShownSuppression[]> {
  const entries = await store.suppressions.listPlatformSuppressions(page);
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
  const entry = { address, mxGroup: null, rule: operatorRule(reason), messageId: null, createdAt, expiresAt };
  return (await store.suppressions.addPlatformSuppression(entry)) === 'added';
}
