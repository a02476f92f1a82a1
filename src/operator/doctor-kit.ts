// The doctor's settings and probes, from the configuration and this machine. It runs in the process of the command
// line, so that it works with a stuck daemon, or without one.
import { getServers } from 'node:dns';
import { systemClock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { nextAttemptOf } from '../certificates/next-attempt.ts';
import { acmeNames, directoryUrl } from '../config/acme-names.ts';
import type { Config } from '../config/keys.ts';
import { isLoopback } from '../config/listener-rules.ts';
import type { ConfigSource } from '../config/load.ts';
import { sourcePool } from '../config/source-address.ts';
import type {
  DaemonAnswer,
  DaemonFacts,
  DatabaseFacts,
  DoctorKit,
  DoctorSettings,
  StoredCertificate,
  TlsFilePair,
} from '../doctor/doctor-settings.ts';
import type { ServerAnswer } from '../doctor/server.ts';
import { diskFreeShare, shareOfDisk } from '../observe/host-room.ts';
import type { DiskRoom } from '../observe/intake.ts';
import { measureSigning } from '../observe/signing-speed.ts';
import { createAddressPolicy } from '../protocol/dns/addresses/address-policy.ts';
import { machineAddresses } from '../protocol/dns/addresses/own-addresses.ts';
import { createResolver } from '../protocol/dns/lookup/resolver.ts';
import { bindProblem, dialTcp } from '../protocol/smtp/dial.ts';
import { inspect, serverFacts } from '../store/opening/open-store.ts';
import { emptiedProblem } from '../store/sqlite/engine/emptied-database.ts';
import { checkFile, reusableBytesOf } from '../store/sqlite/reading/inspection.ts';
import { askDaemon } from './control/control-client.ts';
import { type DataFolder, databaseBarrier, dataFolder } from './data-folder.ts';
import { inspectConfigFile } from './file-rights.ts';
import { inspectKeyFile, masterKeyTrouble } from './master-key.ts';

// The operator waits for the slowest name server.
const LOOKUP_TIMEOUT_MS = 5000;
/** A gigabyte takes some ten seconds from a cold disk. */
const DATABASE_MS = 60_000;
/** One look-up each, and only without a wildcard. */
const MAX_DOMAINS = 20;

/** `source`: where the configuration is from, if that is known. */
export function doctorKit(config: Config, source: ConfigSource | null = null): DoctorKit {
  const { dns } = config;
  const folder = dataFolder(config);
  const servers = dns.servers.length > 0 ? dns.servers : getServers();
  const settings = settingsOf(config);
  const { domain, selector } = settings.dkim;
  return {
    settings,
    now: () => systemClock.now(),
    random: Math.random,
    resolver: createResolver({ servers, clock: systemClock, timeoutMs: LOOKUP_TIMEOUT_MS }),
    dnsServers: servers.map((server) => ({
      server,
      resolver: createResolver({ servers: [server], clock: systemClock, timeoutMs: LOOKUP_TIMEOUT_MS }),
    })),
    dial: dialTcp,
    bindProblem,
    machineAddresses: () => machineAddresses(),
    diskRoom: () => diskRoom(folder),
    ca: undefined,
    stored: () => inspect(folder.store, ({ names }) => names(`${selector}._domainkey.${domain}`, MAX_DOMAINS)),
    held: async () => (await inspect(folder.store, (stored) => stored.held())) ?? 0,
    certificates: () => storedCertificates(config),
    database: () => databaseFacts(folder),
    server: () => askServer(folder),
    keyFile: () => inspectKeyFile(config),
    keyTrouble: () => masterKeyTrouble(config),
    configFile: () => source && inspectConfigFile({ config, source }),
    signing: measureSigning,
    daemon: () => daemonAnswer(folder.controlSocket),
  };
}

async function diskRoom({ dir, database }: DataFolder): Promise<DiskRoom> {
  // Whether it can be read is a check of its own.
  const reusable = database === null ? 0 : await reusableBytesOf(database).catch(() => 0);
  return { diskFreeShare: await diskFreeShare(dir), reusableShare: await shareOfDisk(dir, reusable) };
}

async function databaseFacts(folder: DataFolder): Promise<DatabaseFacts | null> {
  if (folder.database === null) return null;
  const reason = databaseBarrier(folder);
  if (reason !== null) return { kind: 'closed', reason };
  const loss = emptiedProblem(folder.database);
  return loss === null ? checkFile(folder.database, DATABASE_MS) : { kind: 'unreadable', reason: loss };
}

async function askServer({ store }: DataFolder): Promise<ServerAnswer | null> {
  try {
    const facts = await serverFacts(store, () => systemClock.now());
    return facts && { kind: 'answer', facts };
  } catch (error) {
    return { kind: 'none', reason: describeError(error) };
  }
}

async function storedCertificates(config: Config): Promise<StoredCertificate[]> {
  const { store } = dataFolder(config);
  const records = await inspect(store, (stored) => stored.certificates(directoryUrl(config.tls.acme_directory)));
  return (records ?? []).map((record) => {
    const { names, issued, failures, failure } = record;
    const nextAttemptAt = nextAttemptOf(record, systemClock.now());
    return { names, notAfter: issued?.notAfter ?? null, failures, nextAttemptAt, failure };
  });
}

async function daemonAnswer(controlSocket: string): Promise<DaemonAnswer> {
  try {
    const answer = await askDaemon(controlSocket, { command: 'doctor daemon', options: {} });
    if (answer === null) return { kind: 'none' };
    if (answer.kind === 'done') return { kind: 'running', facts: answer.result as DaemonFacts };
    return { kind: 'silent', reason: 'message' in answer ? answer.message : 'its answer is not valid' };
  } catch (error) {
    return { kind: isForbidden(error) ? 'closed' : 'silent', reason: describeError(error) };
  }
}

function isForbidden(error: unknown): boolean {
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

function settingsOf(config: Config): DoctorSettings {
  const { service, http, smtp, submission, delivery, doctor, tls } = config;
  const acme = acmeNames(config);
  const isSubmissionOn = submission.port !== 0 || submission.tls_port !== 0;
  const addresses = createAddressPolicy({ key: 'delivery.allow_private', allowPrivate: delivery.allow_private });
  return {
    ehloName: service.ehlo_name,
    sources: sourcePool(delivery.source_addresses).map(({ ip, ehloName }) => ({ ip, ehloName })),
    bouncesDomain: service.bounces_domain,
    inbound: { host: smtp.host, port: smtp.port, isLoopback: isLoopback(smtp.host) },
    spfDomain: service.spf_domain,
    dkim: { domain: service.dkim_domain, selector: service.dkim_selector },
    dmarcReportAddress: service.dmarc_report_address,
    baseUrl: service.base_url,
    linksUrl: service.links_url,
    httpTls: pairOf(http),
    smtpTls: pairOf(smtp),
    isSubmissionOn,
    submissionTls: isSubmissionOn ? pairOf(submission) : null,
    acme: {
      ...acme,
      challenge: tls.acme_challenge,
      isStaging: directoryUrl(tls.acme_directory) === directoryUrl('staging'),
    },
    delivery: { port: delivery.port, addresses },
    dataDir: config.data.dir,
    storeName: dataFolder(config).storeName,
    minDiskFreeShare: config.intake.min_disk_free,
    mailDomains: doctor.mail_domains,
    knownDomains: doctor.known_domains,
    timeSources: doctor.time_sources,
    blocklists: doctor.blocklists,
  };
}

function pairOf({ tls_cert, tls_key }: { tls_cert: string | null; tls_key: string | null }): TlsFilePair | null {
  return tls_cert && tls_key ? { certFile: tls_cert, keyFile: tls_key } : null;
}
