// GET and POST /suppressions, DELETE /suppressions/{address}: the tenant's own list. The platform's list is not shown.
// An import is in suppression-import.ts.
import { type Clock, toTimestamp } from '../../base/clock.ts';
import { isRefusal, type Refusal, refuse } from '../../base/refusals.ts';
import { parseAddress, suppressionKey } from '../../protocol/mail/addresses/address.ts';
import type { StoreVerbs } from '../../store/store.ts';
import {
  type FoundSuppressions,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../../store/suppressions.ts';
import { onPlatformList } from '../../suppression/platform-list.ts';
import { ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid, plusAdvice, readChoice, readLimit, refuseUnknown } from '../query.ts';
import { type SuppressionImportParts, suppressionImportEndpoint } from './suppression-import.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export interface SuppressionParts {
  clock: Clock;
  store: StoreVerbs<{
    suppressions: 'addSuppression' | 'removeSuppression' | 'getSuppression' | 'searchSuppressions';
  }> &
    SuppressionImportParts['store'];
}

export function suppressionEndpoints(parts: SuppressionParts): Endpoint[] {
  const { suppressions } = parts.store;
  const { clock } = parts;
  const shape = loadBodyShape<{ address: string; reason?: SuppressionReason }>('add-suppression');

  /** The entry that is on the list afterwards, and whether it is this one. */
  async function add(tenantId: string, entry: Suppression): Promise<{ entry: Suppression; isNew: boolean }> {
    for (;;) {
      if ((await suppressions.addSuppression(tenantId, entry)) === 'added') return { entry, isNew: true };
      const earlier = await suppressions.getSuppression(tenantId, entry.address);
      // Null: it was removed in between.
      if (earlier) return { entry: earlier, isNew: false };
    }
  }

  return [
    {
      method: 'GET',
      pattern: '/suppressions',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const asked = readSearch(query());
        if (isRefusal(asked)) return asked;
        const { address, ...search } = asked;
        if (address === null) return ok(page(await suppressions.searchSuppressions(tenant.id, search)));
        const entry = await suppressions.getSuppression(tenant.id, address);
        const fits = entry !== null && (search.reason ?? entry.reason) === entry.reason;
        const follows = fits && (search.after === null || entry.address > search.after);
        return ok(page({ entries: follows ? [entry] : [], next: null }));
      },
    },
    {
      method: 'POST',
      pattern: '/suppressions',
      scope: 'suppressions:write',
      body: 'json',
      async answer({ tenant, read, audit }) {
        const body = await read(shape);
        if (isRefusal(body)) return body;
        const address = readAddress(body.address);
        if (isRefusal(address)) return address;
        const { reason = 'manual' } = body;
        const wish = { address, reason, messageId: null, createdAt: clock.now() };
        const { entry, isNew } = await add(tenant.id, wish);
        if (isNew) await audit('suppression.added', { address, reason });
        return { status: isNew ? 201 : 200, body: record(entry) };
      },
    },
    suppressionImportEndpoint(parts),
    {
      method: 'DELETE',
      pattern: '/suppressions/:address',
      scope: 'suppressions:write',
      body: 'none',
      async answer({ tenant, params, audit }) {
        const address = readAddress(params.address!);
        if (isRefusal(address)) return address;
        const { removed, platform } = await suppressions.removeSuppression(tenant.id, address, clock.now());
        if (!removed) {
          const elsewhere = platform ? ` It is ${onPlatformList(platform)}` : '';
          return refuse('suppression_not_found', `${address} is not on your suppression list.${elsewhere}`);
        }
        await audit('suppression.removed', { address });
        return { status: 204 };
      },
    },
  ];
}

/** As it stands on the list. */
function readAddress(text: string, advice = ''): string | Refusal {
  const parsed = parseAddress(text.trim());
  if (parsed.ok) return suppressionKey(parsed.address);
  return invalid('address', `${parsed.reason[0]!.toLowerCase()}${parsed.reason.slice(1)}${advice}`);
}

/** Only a quoted address has spaces. */
const WITHOUT_PLUS = /^[^"]* /;

/** Null when the parameter is absent. A place need not be on the list; but before all others it would never end. */
function readAfter(query: URLSearchParams): string | null | Refusal {
  const after = query.get('after') || null;
  if (after === null || !WITHOUT_PLUS.test(after)) return after;
  return invalid('after', `must be the \`next\` of an earlier page.${plusAdvice(after)}`);
}

interface Search {
  address: string | null;
  prefix: '';
  reason: SuppressionReason | null;
  after: string | null;
  limit: number;
}

function readSearch(query: URLSearchParams): Search | Refusal {
  const unknown = refuseUnknown(query, ['address', 'reason', 'after', 'limit']);
  if (unknown) return unknown;
  const given = query.get('address') || null;
  const address = given === null ? null : readAddress(given, plusAdvice(given));
  if (isRefusal(address)) return address;
  const reason = readChoice(query, 'reason', SUPPRESSION_REASONS);
  if (isRefusal(reason)) return reason;
  const limit = readLimit(query, { max: MAX_LIMIT, byDefault: DEFAULT_LIMIT });
  if (isRefusal(limit)) return limit;
  const after = readAfter(query);
  if (isRefusal(after)) return after;
  return { address, prefix: '', reason, after, limit };
}

function page({ entries, next }: FoundSuppressions) {
  return { suppressions: entries.map(record), has_more: next !== null, next };
}

function record({ address, reason, messageId, createdAt }: Suppression) {
  return { address, reason, message_id: messageId, created_at: toTimestamp(createdAt) };
}
