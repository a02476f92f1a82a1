// The part of the configuration that the doctor uses, and its probes outside the process. Both are
// parameters, so that every decision can be tested without a network.
import type { OwnAddress } from '../domains/needed-records.ts';
import type { DiskRoom } from '../observe/intake.ts';
import type { SigningSpeed, SigningWay } from '../observe/signing-speed.ts';
import type { AddressPolicy } from '../protocol/dns/addresses/address-policy.ts';
import type { MachineAddresses } from '../protocol/dns/addresses/own-addresses.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import type { Dialler } from '../protocol/smtp/dial.ts';
import type { ServerAnswer } from './server.ts';

export interface TlsFilePair {
  certFile: string;
  keyFile: string;
}

export interface DoctorSettings {
  ehloName: string;
  /** As configured; empty: the system picks one. */
  sources: readonly OwnAddress[];
  bouncesDomain: string;
  /** Where the inbound listener is. */
  inbound: { host: string; port: number; isLoopback: boolean };
  spfDomain: string;
  dkim: { domain: string; selector: string };
  dmarcReportAddress: string;
  /** The API's public URL. */
  baseUrl: string;
  linksUrl: string;
  httpTls: TlsFilePair | null;
  smtpTls: TlsFilePair | null;
  isSubmissionOn: boolean;
  /** Null as well while submission by SMTP is off, or uses the certificate of [smtp]. */
  submissionTls: TlsFilePair | null;
  /** The names of the certificates that the daemon gets by itself; null: it gets none for this listener. */
  acme: {
    http: readonly string[] | null;
    smtp: readonly string[] | null;
    challenge: 'http-01' | 'tls-alpn-01';
    /** Of a directory that nobody trusts, to try with. */
    isStaging: boolean;
  };
  delivery: { port: number; addresses: Pick<AddressPolicy, 'allows'> };
  dataDir: string;
  /** The store, without user and password. */
  storeName: string;
  minDiskFreeShare: number;
  /** Domains whose mail servers are contacted to test the outbound port. */
  mailDomains: readonly string[];
  /** Domains that are known to exist and accept mail. */
  knownDomains: readonly string[];
  /** Web servers to compare our clock with. */
  timeSources: readonly string[];
  blocklists: readonly string[];
}

export type DatabaseFacts =
  /** No daemon has run in this folder yet. */
  | { kind: 'none' }
  | { kind: 'checked'; problems: readonly string[]; elapsedMs: number }
  | { kind: 'unfinished'; elapsedMs: number }
  | { kind: 'unreadable'; reason: string }
  /** Not for whoever runs the doctor. */
  | { kind: 'closed'; reason: string };

export interface KeyFileFacts {
  file: string;
  /** Who can read it besides its owner, and the service; null: nobody. */
  openTo: 'its group' | 'every user of this machine' | null;
}

/** A master key that a start would refuse, or warn of. */
export interface KeyTrouble {
  /** The key's file, or the key of the configuration. */
  place: string;
  refusesStart: boolean;
  reason: string;
}

/** Of the configuration file, if it has secrets in it. */
export interface ConfigFileFacts extends KeyFileFacts {
  /** What it has, in words. */
  keys: readonly string[];
}

export interface TimerFacts {
  name: string;
  period_ms: number;
  next_run_at: string;
  last_run_at: string | null;
  /** The result of the last finished run. */
  last_result: string | null;
  running: boolean;
}

export interface DaemonFacts {
  intake: { accepting: boolean; reason: string | null };
  /** Delivery results that are not in the database yet; null when there are none. */
  unstored_results: { messages: number; since: string; reason: string; is_alarm: boolean } | null;
  /** Why courier threads end as soon as they have started; null: they live. */
  couriers: { reason: string; since: string } | null;
  timers: TimerFacts[];
  /** As set in the daemon's environment. */
  openssl_ia32cap: SigningWay;
}

export type DaemonAnswer =
  | { kind: 'running'; facts: DaemonFacts }
  | { kind: 'none' }
  | { kind: 'silent'; reason: string }
  | { kind: 'closed'; reason: string };

export interface StoredFacts {
  /** The public key of the service's own signature; null: not created yet. */
  serviceDkimKeyB64: string | null;
  /** Verified sending domains, up to the number that is checked. */
  sendingDomains: readonly string[];
}

/** From the directory that is configured. */
export interface StoredCertificate {
  /** Sorted, separated by spaces. */
  names: string;
  /** Null: none was issued yet. */
  notAfter: number | null;
  failures: number;
  nextAttemptAt: number;
  failure: { reason: string; at: number } | null;
}

export interface DnsServerProbe {
  /** As configured. */
  server: string;
  resolver: Pick<Resolver, 'mx'>;
}

export interface DoctorProbes {
  now(): number;
  random(): number;
  resolver: Resolver;
  /** One resolver for each configured DNS server. */
  dnsServers: readonly DnsServerProbe[];
  dial: Dialler;
  /** Why a socket can't be bound to the address; null: it can. */
  bindProblem(ip: string): Promise<string | null>;
  /** Without loopback and link-local ones. */
  machineAddresses(): MachineAddresses;
  /** Of the data folder. */
  diskRoom(): Promise<DiskRoom>;
  /** Trusted root certificates for HTTPS, in PEM; undefined: Node's own. */
  ca: string | undefined;
  /** Null: there is no database yet. */
  stored(): Promise<StoredFacts | null>;
  /** Messages that a restore has held. */
  held(): Promise<number>;
  certificates(): Promise<StoredCertificate[]>;
  /** Null: the store is not a file. */
  database(): Promise<DatabaseFacts | null>;
  /** Null: it is one. */
  server(): Promise<ServerAnswer | null>;
  /** Null: the master key is not in a file, or not in one that this process can see. */
  keyFile(): KeyFileFacts | null;
  /** Null: it opens what is stored, or nothing is encrypted yet. */
  keyTrouble(): Promise<KeyTrouble | null>;
  /** Null: it has no secrets in it, or is not known here. */
  configFile(): ConfigFileFacts | null;
  signing(inUse: SigningWay): Promise<SigningSpeed>;
  daemon(): Promise<DaemonAnswer>;
}

export interface DoctorKit extends DoctorProbes {
  settings: DoctorSettings;
}
