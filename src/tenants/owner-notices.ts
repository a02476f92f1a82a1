// Tells a tenant's owners by mail that somebody has added an API key or a webhook: what an intruder does first. The
// change does not wait for the mail. Nothing that a stranger wrote is in it but a name, on a line of its own.
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { MemberStore } from '../store/members.ts';

export interface Added {
  id: string;
  /** Who did it, as it stands in a sentence. */
  by: string;
}

export interface OwnerNotices {
  keyAdded(tenantId: string, key: Added & { name: string }): void;
  webhookAdded(tenantId: string, webhook: Added & { host: string }): void;
}

export interface OwnerNoticesKit {
  store: Pick<MemberStore, 'listMembers'>;
  log: Logger;
  /** `service.base_url`. */
  baseUrl: string;
  tell(to: readonly string[], notice: { subject: string; text: string; key: string }): void;
}

export function createOwnerNotices({ store, log, baseUrl, tell }: OwnerNoticesKit): OwnerNotices {
  const site = baseUrl.replace(/\/+$/, '');
  const tellOwners = (tenantId: string, notice: { subject: string; text: string; key: string }) => {
    const send = async () => {
      const owners = (await store.listMembers(tenantId)).filter(({ role }) => role === 'owner');
      tell(
        owners.map(({ email }) => email),
        notice,
      );
    };
    send().catch((error: unknown) => {
      log.error({ error, tenant: tenantId }, `owners could not be told of a change: ${describeError(error)}`);
    });
  };
  return {
    keyAdded: (tenantId, { id, name, by }) =>
      tellOwners(tenantId, {
        subject: 'An API key was created',
        key: `key-added:${id}`,
        text: words(`A new API key of your Postrider account was created by ${by}:`, name, {
          revoke: 'If none of you did this, revoke the key at once and look at the audit log:',
          links: [`${site}/portal/keys`, `${site}/portal/settings/audit`],
        }),
      }),
    webhookAdded: (tenantId, { id, host, by }) =>
      tellOwners(tenantId, {
        subject: 'A webhook was added',
        key: `webhook-added:${id}`,
        text: words(`A new webhook of your Postrider account was added by ${by}. It sends your events to:`, host, {
          revoke: 'If none of you did this, delete the webhook at once and look at the audit log:',
          links: [`${site}/portal/webhooks`, `${site}/portal/settings/audit`],
        }),
      }),
  };
}

function words(what: string, name: string, { revoke, links }: { revoke: string; links: string[] }): string {
  return `${[what, name, revoke, ...links].join('\n\n')}\n`;
}
