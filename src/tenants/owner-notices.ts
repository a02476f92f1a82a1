// Notifies a tenant's owners by mail of a new API key or webhook, since an intruder adds those first, and of a webhook
// that is pointed at another host. The change does not wait for the mail. Three mails an hour report one change each,
// further changes are summed up in one mail: a program that adds and removes webhooks in a loop must not fill
// mailboxes, or the queue. From strangers, a mail contains only names and hosts, each on a line of its own.

import { type Clock, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { oneLine } from '../base/text/one-line.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface Added {
  id: string;
  /** The actor, as words for a sentence. */
  by: string;
}

export interface OwnerNotices {
  keyAdded(tenantId: string, key: Added & { name: string }): void;
  webhookAdded(tenantId: string, webhook: Added & { host: string }): void;
  /** Its events go to another host from now on. */
  webhookMoved(tenantId: string, webhook: Added & { host: string }): void;
}

export interface OwnerNoticesKit {
  store: StoreVerbs<{ accounts: 'listMembers' }>;
  clock: Clock;
  log: Logger;
  /** `service.base_url`. */
  baseUrl: string;
  /** A promise is waited for. */
  notify(to: readonly string[], notice: Notice): unknown;
}

export interface OwnerNoticesParts extends OwnerNotices {
  timer: TimerSpec;
  /** Sends pending sums, and waits until all mails are submitted; called before the store is closed. */
  close(): Promise<void>;
}

interface Notice {
  subject: string;
  text: string;
  key: string;
}

/** An hour of one tenant, from its first notice on. */
interface TenantHour {
  endsAt: number;
  mails: number;
  /** For the summary. */
  lines: string[];
  left: number;
}

const MAX_MAILS = 3;
const MAX_LINES = 50;
const PERIOD_MS = MINUTE_MS;

export function createOwnerNotices(kit: OwnerNoticesKit): OwnerNoticesParts {
  const { clock } = kit;
  const site = kit.baseUrl.replace(/\/+$/, '');
  const hours = new Map<string, TenantHour>();
  const pending = new Set<Promise<void>>();

  const notifyOwners = (tenantId: string, notice: Notice) => {
    const work: Promise<void> = send(kit, tenantId, notice).finally(() => pending.delete(work));
    pending.add(work);
  };

  const sumUp = (tenantId: string, { endsAt, lines, left }: TenantHour) => {
    hours.delete(tenantId);
    if (lines.length > 0) notifyOwners(tenantId, sumOf(site, { key: `added:${tenantId}:${endsAt}`, lines, left }));
  };

  const add = (tenantId: string, line: string, notice: Notice) => {
    const now = clock.now();
    const known = hours.get(tenantId);
    if (known && known.endsAt <= now) sumUp(tenantId, known);
    const hour = hours.get(tenantId) ?? { endsAt: now + HOUR_MS, mails: 0, lines: [], left: 0 };
    hours.set(tenantId, hour);
    if (hour.mails < MAX_MAILS) {
      hour.mails++;
      notifyOwners(tenantId, notice);
    } else if (hour.lines.length < MAX_LINES) hour.lines.push(line);
    else hour.left++;
  };

  return {
    keyAdded: (tenantId, { id, name, by }) =>
      add(tenantId, `API key by ${by}: ${name}`, {
        subject: 'An API key was created',
        key: `key-added:${id}`,
        text: words(`A new API key for your Postrider account was created by ${by}:`, [name], {
          revoke: 'If nobody in your organization did this, revoke the key at once and check the audit log:',
          links: [`${site}/portal/keys`, `${site}/portal/settings/audit`],
        }),
      }),
    webhookAdded: (tenantId, { id, host, by }) =>
      add(tenantId, `Webhook by ${by}: ${host}`, {
        subject: 'A webhook was added',
        key: `webhook-added:${id}`,
        text: webhookWords(site, `A new webhook for your Postrider account was added by ${by}.`, host),
      }),
    webhookMoved: (tenantId, { id, host, by }) =>
      add(tenantId, `Webhook changed by ${by}: ${host}`, {
        subject: 'A webhook was changed',
        // It may move to and fro.
        key: `webhook-moved:${id}:${clock.now()}`,
        text: webhookWords(site, `A webhook of your Postrider account was changed by ${by}.`, host),
      }),
    timer: {
      name: 'owner notices',
      periodMs: PERIOD_MS,
      async run() {
        const over = [...hours].filter(([, { endsAt }]) => endsAt <= clock.now());
        for (const [tenantId, hour] of over) sumUp(tenantId, hour);
        return `${over.filter(([, { lines }]) => lines.length > 0).length} summed`;
      },
    },
    async close() {
      for (const [tenantId, hour] of hours) sumUp(tenantId, hour);
      await Promise.all(pending);
    },
  };
}

/** Never rejects: no caller waits for it. */
async function send({ store, log, notify }: OwnerNoticesKit, tenantId: string, notice: Notice): Promise<void> {
  try {
    const owners = (await store.accounts.listMembers(tenantId)).filter(({ role }) => role === 'owner');
    await notify(
      owners.map(({ email }) => email),
      notice,
    );
  } catch (error) {
    log.error({ error, tenant: tenantId }, `owners could not be notified of a change: ${describeError(error)}`);
  }
}

function sumOf(site: string, { key, lines, left }: { key: string; lines: string[]; left: number }): Notice {
  const count = lines.length + left;
  const shown = left > 0 ? [...lines, `… and ${left} more`] : lines;
  return {
    subject: count === 1 ? 'An API key or webhook was added' : `${count} API keys and webhooks were added`,
    key,
    text: words('After the ones that you had mails about, these were added to your Postrider account:', shown, {
      revoke: 'If nobody in your organization did this, revoke and delete them at once and check the audit log:',
      links: [`${site}/portal/keys`, `${site}/portal/webhooks`, `${site}/portal/settings/audit`],
    }),
  };
}

function webhookWords(site: string, what: string, host: string): string {
  return words(`${what} It sends your events to:`, [host], {
    revoke: 'If nobody in your organization did this, delete the webhook at once and check the audit log:',
    links: [`${site}/portal/webhooks`, `${site}/portal/settings/audit`],
  });
}

function words(what: string, names: string[], { revoke, links }: { revoke: string; links: string[] }): string {
  return `${[what, names.map((name) => oneLine(name)).join('\n'), revoke, ...links].join('\n\n')}\n`;
}
