// address explain: what the service makes of an address, and why. Asks no DNS; the suppression lists are read from
// the database itself, beside a daemon or without one, so that it needs no writer.
import { systemClock, toTimestamp } from '../../base/clock.ts';
import { systemTrouble } from '../../base/text/system-words.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import { databaseProblem, dataFolder } from '../../operator/data-folder.ts';
import { parseAddress, policyRefusal, suppressionKey } from '../../protocol/mail/addresses/address.ts';
import type { SuppressedBy } from '../../store/inspection.ts';
import { findTenant } from '../../tenants/find-tenant.ts';
import type { Refused } from '../../tenants/refused.ts';
import { type LocalContext, localCommand } from '../command.ts';
import { positional, required, tenantName, verbatim } from '../option.ts';
import { fromRefused } from '../refusal.ts';
import { renderFacts } from '../table.ts';

export const addressExplain = localCommand({
  name: 'address explain',
  summary: 'Checks whether an address is valid and would be accepted, which suppression list has it, and why.',
  options: {
    address: required(positional(verbatim('ADDRESS', 'the bare address, as written'))),
    tenant: tenantName('also check the suppression list of this tenant'),
  },
  run: async (context, { address, tenant }) => explain(context, address, tenant ?? null),
  render: ({ syntax_ok, form, accepted, reason, suppressed }) =>
    renderFacts([
      ['syntax', syntax_ok ? 'valid' : 'not valid'],
      ['form', form],
      ['accepted', accepted ? 'yes' : 'no'],
      ['reason', reason],
      ...(suppressed === null ? [] : [['suppressed', inWords(suppressed)] as const]),
    ]),
});

interface Explanation {
  syntax_ok: boolean;
  /** How the local part is written; null when there is none. */
  form: 'dot-string' | 'quoted' | null;
  accepted: boolean;
  /** Why it is not accepted; null when it is. */
  reason: string | null;
  /** Null where it makes no difference. */
  suppressed: Suppressed | null;
}

/** Why nobody could look, or the entries. */
type Suppressed =
  | { unknown: string }
  | {
      platform: { rule: string; expires_at: string } | null;
      /** Null where no tenant was given. */
      tenant: { reason: string | null; created_at: string | null } | null;
    };

async function explain(context: LocalContext, text: string, named: string | null): Promise<Answer<Explanation>> {
  const parsed = parseAddress(text);
  if (!parsed.ok) {
    return done({ syntax_ok: false, form: null, accepted: false, reason: parsed.reason, suppressed: null });
  }
  const { form } = parsed.address;
  const reason = policyRefusal(parsed.address);
  if (reason !== null) return done({ syntax_ok: true, form, accepted: false, reason, suppressed: null });
  const suppressed = await lookUp(context, suppressionKey(parsed.address), named);
  if ('kind' in suppressed) return fromRefused(suppressed);
  // Who names a tenant wants to know of its list.
  if ('unknown' in suppressed && named !== null) return failed(suppressed.unknown);
  return done({ syntax_ok: true, form, accepted: true, reason: null, suppressed });
}

async function lookUp(context: LocalContext, address: string, named: string | null): Promise<Suppressed | Refused> {
  try {
    const folder = dataFolder((await context.loadConfig()).config);
    const problem = databaseProblem(folder);
    if (problem !== null) return { unknown: problem };
    const { suppressedBy, tenantsIn } = await import('../../operator/own-store.ts');
    const tenant = named === null ? null : findTenant(named, await tenantsIn(folder));
    if (tenant?.kind === 'refused') return tenant;
    const found = await suppressedBy(folder, { address, tenantId: tenant?.id ?? null, now: systemClock.now() });
    return found === null ? { unknown: `there is no database in ${folder.dir}` } : shown(found, tenant !== null);
  } catch (error) {
    return { unknown: `the suppression lists can't be read: ${systemTrouble(error)}` };
  }
}

function shown({ platform, tenant }: SuppressedBy, hasTenant: boolean): Suppressed {
  return {
    platform: platform && { rule: platform.rule, expires_at: toTimestamp(platform.expiresAt) },
    tenant: hasTenant
      ? { reason: tenant?.reason ?? null, created_at: tenant ? toTimestamp(tenant.createdAt) : null }
      : null,
  };
}

function inWords(suppressed: Suppressed): string {
  if ('unknown' in suppressed) return `unknown: ${suppressed.unknown}`;
  const { platform, tenant } = suppressed;
  const found = [
    ...(tenant?.reason ? [`on the tenant's list since ${tenant.created_at} (${tenant.reason})`] : []),
    ...(platform ? [`on the platform's list until ${platform.expires_at} (${platform.rule})`] : []),
  ];
  if (found.length > 0) return found.join(', and ');
  return tenant === null ? "no; add --tenant to check a tenant's own list" : 'no';
}
