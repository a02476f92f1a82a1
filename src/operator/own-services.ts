// What store commands need in this process, when no daemon runs: the store that it opens, and queue control over that
// store. Loads most of the program, so import() it where it is used.
import { systemClock } from '../base/clock.ts';
import { IdSource } from '../base/ids.ts';
import { Vault } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import { CheckTurns } from '../domains/check-turns.ts';
import { createDomains, type Domains, type DomainsOptions, hasPassed } from '../domains/domains.ts';
import { hasServiceIdentity, loadServiceIdentity } from '../domains/service-identity.ts';
import { NOTHING_BEGUN } from '../events/end-waiting.ts';
import { silentLogger } from '../observe/log.ts';
import type { Store } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';
import { createScheduling } from '../submission/schedule.ts';
import { createServiceMail, type Notice, notifyByMail } from '../submission/service-mail.ts';
import { createOwnerNotices } from '../tenants/owner-notices.ts';
import { backUpBeforeUpgrade } from './copies/upgrade-backup.ts';
import { type DataFolder, isSandboxFolder } from './data-folder.ts';
import { dnsLookups } from './dns-needs.ts';
import { domainSettings } from './domain-settings.ts';
import { loadMasterKeys, secretsInUse } from './master-key.ts';
import type { OperatorServices } from './operator-services.ts';
import { withOwnStore } from './own-store.ts';
import { storeQueueControl } from './queue-control.ts';

export interface OwnPlace {
  config: Config;
  folder: DataFolder;
  /** Told of a backup before a migration, and of a new master key. */
  say(text: string): void;
}

/** The caller holds the data folder's lock. */
export async function withOwnServices<T>(
  { config, folder, say }: OwnPlace,
  work: (services: OperatorServices) => Promise<T>,
): Promise<T> {
  await backUpBeforeUpgrade(folder, config, say);
  return withOwnStore(folder, async (store) => {
    const clock = systemClock;
    const ids = new IdSource();
    // Where several daemons share the store, others run.
    const tellLanes = (lanes: readonly LaneNotice[]) => store.notices.tellLanes(lanes.map(({ slot }) => slot));
    const queue = await storeQueueControl({ store, clock, ids, config, log: silentLogger }, tellLanes);
    const inUse = await secretsInUse(config);
    const vault = () => new Vault(loadMasterKeys(config, { inUse, warn: say }));
    const notifyOwners = waitingNotices(config, { store, clock, ids, vault, onAccepted: tellLanes });
    const isSandbox = isSandboxFolder(folder);
    const services: OperatorServices = {
      store,
      clock,
      ids,
      config,
      queue,
      // The next daemon looks at all that is scheduled.
      scheduling: createScheduling({
        store,
        clock,
        ids,
        log: silentLogger,
        lifetimeMs: config.delivery.lifetime,
        onScheduled: () => {},
        endBegun: NOTHING_BEGUN,
      }),
      vault,
      notifyOwners,
      isSandbox,
      // Only a new domain needs the master key.
      domains: () =>
        ownDomains(config, { store, vault: { seal: (...secret) => vault().seal(...secret) }, clock, ids, isSandbox }),
      tenantChanged: () => {},
      receiverTrusted: () => null,
      inboundWaits: () => store.notices.tellInbound(),
    };
    try {
      return await work(services);
    } finally {
      await notifyOwners.close();
    }
  });
}

type DomainParts = Pick<DomainsOptions, 'store' | 'vault' | 'clock' | 'ids'> & { isSandbox: boolean };

function ownDomains(config: Config, { isSandbox, ...parts }: DomainParts): Domains {
  const { clock } = parts;
  return createDomains({
    ...parts,
    lookups: dnsLookups(config),
    turns: new CheckTurns({ clock, isGood: hasPassed, ...(isSandbox && { gapMs: 0 }) }),
    service: domainSettings(config),
  });
}

type NoticeParts = Pick<OperatorServices, 'clock' | 'ids' | 'vault'> & {
  store: Pick<Store, 'accounts' | 'tenants' | 'domains' | 'submissions' | 'upkeep' | 'platformKeys'>;
  onAccepted(lanes: readonly LaneNotice[]): void;
};

/** Mails to owners wait in the queue for the next daemon. Before the first one there is no identity to send as. */
function waitingNotices({ service, delivery }: Config, { store, clock, ids, vault, onAccepted }: NoticeParts) {
  const dkim = { domain: service.dkim_domain, selector: service.dkim_selector };
  const notify = async (to: readonly string[], notice: Notice) => {
    if (to.length === 0 || !(await hasServiceIdentity({ store, dkim }))) return;
    const identity = await loadServiceIdentity({ store, vault: vault(), clock, dkim });
    const send = createServiceMail({
      store,
      vault: vault(),
      clock,
      ids,
      bouncesDomain: service.bounces_domain,
      dkim: identity.dkim,
      lifetimeMs: delivery.lifetime,
      onAccepted,
    });
    await notifyByMail(send, silentLogger)(to, notice);
  };
  return createOwnerNotices({ store, clock, log: silentLogger, baseUrl: service.base_url, notify });
}
