// What all other parts of the daemon need: log, data folder and its lock, store, the keys that open its secrets, the
// service's own identity, and the rules for bounces and for opens and clicks by machines.

import { type Clock, systemClock } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import { describeError } from '../base/errors.ts';
import { IdSource } from '../base/ids.ts';
import { RateLimiter, type Rates } from '../base/rate-limiter.ts';
import { Vault } from '../base/vault.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../classify/load-rules.ts';
import type { Config } from '../config/keys.ts';
import { configWarnings } from '../config/rules.ts';
import type { ResultJournal } from '../delivery/outcome/result-journal.ts';
import { loadServiceIdentity, type ServiceIdentity } from '../domains/service-identity.ts';
import { loadMachineRules, type MachineRules, SHIPPED_MACHINE_RULES } from '../links/machine-rules.ts';
import { gateFaults } from '../observe/fault-gate.ts';
import { diskFreeShare, memoryBytes, requireDescriptors, residentMemory, shareOfDisk } from '../observe/host-room.ts';
import { Intake } from '../observe/intake.ts';
import { createLogger, type Logger, type LogSink } from '../observe/log.ts';
import { Metrics } from '../observe/metrics.ts';
import type { MailTraces } from '../observe/traces/mail-traces.ts';
import { backUpBeforeUpgrade } from '../operator/copies/upgrade-backup.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../operator/data-folder.ts';
import { loadMasterKeys, secretsInUse } from '../operator/master-key.ts';
import type { StoreAddress } from '../store/address.ts';
import { openDaemonStore, openPortalReads } from '../store/opening/open-store.ts';
import type { Ownership } from '../store/ownership.ts';
import type { PortalReads } from '../store/reads.ts';
import { lockDataFolder } from '../store/sqlite/engine/data-lock.ts';
import { refuseEmptiedDatabase } from '../store/sqlite/engine/emptied-database.ts';
import type { Store } from '../store/store.ts';
import { KeyUses } from '../tenants/key-uses.ts';
import { SharedRates } from '../tenants/shared-rates.ts';
import { tuneHeaps } from '../threads/heaps.ts';
import { makeRoom } from '../upkeep/make-room.ts';
import { awaitDatabase } from './await-database.ts';
import type { Lead } from './lead-timers.ts';
import { openMailTraces } from './open-traces.ts';
import { type Nodes, takeWork, type Work } from './take-slots.ts';

export interface Foundation {
  clock: Clock;
  ids: IdSource;
  log: Logger;
  folder: DataFolder;
  store: Store;
  /** What this daemon works on. */
  ownership: Ownership;
  journal: ResultJournal;
  /** Whether it runs a timer that only one node may run. */
  lead: Lead;
  /** The daemons on the same store; null: there can be no other. */
  nodes: Nodes | null;
  /** For pages that read many rows; starts with the first of them. */
  reads: PortalReads;
  /** Whether new mail is accepted. */
  intake: Intake;
  vault: Vault;
  identity: ServiceIdentity;
  bounceRules: BounceRules;
  machineRules: MachineRules;
  keyUses: KeyUses;
  /** How often API keys may call, over HTTP and SMTP together. */
  rates: Rates;
  /** Null: metrics are off. */
  metrics: Metrics | null;
  /** Null: traces are off. */
  traces: MailTraces | null;
}

export interface FoundationOptions {
  logTo?: 'stdout' | LogSink;
  /** Settles when the daemon should stop: a start that waits for its database ends then. */
  stop?: Promise<unknown>;
}

export async function openFoundation(
  config: Config,
  { logTo = 'stdout', stop = new Promise(() => {}) }: FoundationOptions,
  opened: ClosingStack,
): Promise<{ foundation: Foundation; masterKeys: Buffer[] }> {
  tuneHeaps();
  const clock = systemClock;
  const ids = new IdSource();
  const log = gateFaults(createLogger({ level: config.log.level, to: logTo }), clock);
  requireDescriptors(config.delivery.workers);
  for (const warning of configWarnings(config)) log.warn({}, warning);
  const bounceRules = loadBounceRules(SHIPPED_RULES);
  const machineRules = loadMachineRules(SHIPPED_MACHINE_RULES);

  const folder = dataFolder(config);
  makeDataFolder(folder.dir);
  if (folder.database !== null) refuseEmptiedDatabase(folder.database);
  const lock = lockDataFolder(folder.dir);
  opened.add(() => lock.release());
  await backUpBeforeUpgrade(folder, config, (text, facts) => log.info(facts, text));
  const intake: Intake = new Intake({
    clock,
    log,
    limits: intakeLimits(config),
    diskFreeShare: () => diskFreeShare(folder.dir),
    reusableShare: async () => shareOfDisk(folder.dir, await store.upkeep.reusableBytes()),
    // On a database server it would free nothing on this disk, and all daemons' data would be gone.
    makeRoom: async () => (folder.database === null ? null : makeRoom({ store, clock, ...keptDays(config) })),
    residentBytes: residentMemory(),
    proveWritable: () => store.proveWritable(clock.now()),
  });
  const metrics =
    config.metrics.port > 0
      ? new Metrics({ traces: config.traces.endpoint !== null, nodes: folder.database === null })
      : null;
  opened.add(() => metrics?.close());
  const traces = await openMailTraces(config, { log, metrics }, opened);
  const opening = await awaitDatabase(() => openWatched(folder.store, { log, intake, metrics }), { log, stop });
  opened.add(() => opening.close());
  // Before it takes slots: other nodes would hand some over to it, and list it for ever.
  const inUse = await secretsInUse(config);
  const masterKeys = loadMasterKeys(config, { inUse, warn: (message) => log.warn({}, message) });
  const { store, ownership, journal, lead, nodes } = await takeWork(
    config,
    { store: opening, clock, log, folder },
    opened,
  );
  const rates = openRates({ store, clock, log, nodes }, opened);
  const keyUses = new KeyUses({ store, clock });
  opened.add(() => keyUses.close());
  const onTrouble = (reason: string) => log.error({}, reason);
  const reading = await openPortalReads(folder.store, onTrouble);
  opened.add(() => reading.close());
  const { reads } = reading;
  await intake.check();

  const vault = new Vault(masterKeys);
  const { dkim_domain: domain, dkim_selector: selector } = config.service;
  const identity = await loadServiceIdentity({ store, vault, clock, dkim: { domain, selector } });
  if (identity.dkimIsNew)
    log.warn(serviceDkimRecord(identity), "publish this record: it holds the key of the service's own signature");
  const held = { clock, ids, log, folder, store, ownership, journal, lead, nodes, reads, intake, vault, identity };
  return {
    foundation: { ...held, bounceRules, machineRules, keyUses, rates, metrics, traces },
    masterKeys,
  };
}

/** Null for `nodes`: no other node shares the store. */
function openRates(
  { store, clock, log, nodes }: Pick<Foundation, 'store' | 'clock' | 'log'> & Pick<Work, 'nodes'>,
  opened: ClosingStack,
): Rates {
  if (nodes === null) return new RateLimiter(clock);
  const rates = new SharedRates({ store, clock, log, nodes: nodes.living });
  opened.add(() => rates.close());
  return rates;
}

function openWatched(
  address: StoreAddress,
  { log, intake, metrics }: Pick<Foundation, 'log' | 'intake' | 'metrics'>,
): Promise<Store> {
  return openDaemonStore(address, {
    ...(metrics && { onGroup: (group) => metrics.committed(group) }),
    onFailedCommit: (error) => intake.commitFailed(error),
    tell: (text, isWarning) => (isWarning ? log.warn({}, text) : log.info({}, text)),
    onBackgroundFault: (work, error) => log.error({ error }, `${work}: ${describeError(error)}`),
    // In-flight writes may or may not have committed; recovery decides at the next start. Callers that wait for one get
    // the error first, so that results of deliveries go to their journal.
    onLost(error) {
      log.error({ error }, `the daemon stops: ${describeError(error)}`);
      setImmediate(() => {
        throw error;
      });
    },
  });
}

// The rest is for the page cache, which the database depends on, and for other programs.
const MEMORY_SHARE = 0.75;
const MIB = 1024 * 1024;

function intakeLimits({ intake }: Config) {
  const mib = intake.max_memory_mib;
  return {
    minDiskFreeShare: intake.min_disk_free,
    maxResidentBytes: mib > 0 ? mib * MIB : memoryBytes() * MEMORY_SHARE,
  };
}

function keptDays({ retention }: Config) {
  return { contentDays: retention.content_days, recordsDays: retention.records_days };
}

function serviceDkimRecord({ dkim }: ServiceIdentity) {
  return { record: `${dkim.selector}._domainkey.${dkim.domain}`, value: `v=DKIM1; k=rsa; p=${dkim.publicKeyB64}` };
}
