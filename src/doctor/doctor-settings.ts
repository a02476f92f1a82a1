// What the doctor needs to know of the configuration, and the probes that reach out of the process.
// Both are parameters, so that every decision can be tried without a network.
import type { SigningSpeed, SigningWay } from '../observe/signing-speed.ts';
import type { AddressPolicy } from '../protocol/dns/address-policy.ts';
import type { Resolver } from '../protocol/dns/resolver.ts';
import type { Dialler } from '../protocol/smtp/dial.ts';

/** One of our own sending addresses, with the name that it says in EHLO. */
export interface OwnAddress {
  ip: string;
  ehloName: string;
}

export interface TlsFilePair {
  certFile: string;
  keyFile: string;
}

export interface DoctorSettings {
  ehloName: string;
  /** As configured; empty: the system picks, and the name's own addresses stand for it. */
  sources: readonly OwnAddress[];
  bouncesDomain: string;
  spfDomain: string;
  dkim: { domain: string; selector: string };
  dmarcReportAddress: string;
  /** What the API is reached under. */
  baseUrl: string;
  httpTls: TlsFilePair | null;
  smtpTls: TlsFilePair | null;
  delivery: { port: number; addresses: Pick<AddressPolicy, 'allows'> };
  dataDir: string;
  minDiskFreeShare: number;
  /** Domains whose mail servers are called to see whether the way out is open. */
  mailDomains: readonly string[];
  /** Domains that surely exist and take mail. */
  knownDomains: readonly string[];
  /** Web servers whose clocks ours is compared with. */
  timeSources: readonly string[];
  blocklists: readonly string[];
}

export type DatabaseFacts =
  /** No daemon has run here yet. */
  | { kind: 'none' }
  | { kind: 'checked'; problems: readonly string[]; elapsedMs: number }
  | { kind: 'unfinished'; elapsedMs: number }
  | { kind: 'unreadable'; reason: string };

export interface KeyFileFacts {
  file: string;
  /** Who can read it besides its owner; null: nobody. */
  openTo: 'its group' | 'every user of this machine' | null;
}

export interface TimerFacts {
  name: string;
  period_ms: number;
  next_run_at: string;
  last_run_at: string | null;
  /** Of the last run that has ended. */
  last_result: string | null;
  running: boolean;
}

export interface DaemonFacts {
  intake: { accepting: boolean; reason: string | null };
  /** Of deliveries; null while the database takes them. */
  unstored_results: { messages: number; since: string; reason: string; is_alarm: boolean } | null;
  timers: TimerFacts[];
  /** Of its environment. */
  openssl_ia32cap: SigningWay;
}

export type DaemonAnswer =
  | { kind: 'running'; facts: DaemonFacts }
  | { kind: 'none' }
  | { kind: 'silent'; reason: string };

export interface StoredFacts {
  /** Of the service's own signature; null: not made yet. */
  serviceDkimKeyB64: string | null;
  /** Verified sending domains, at most as many as are looked at. */
  sendingDomains: readonly string[];
}

export interface DnsServerProbe {
  /** As it is configured. */
  server: string;
  resolver: Pick<Resolver, 'mx'>;
}

export interface DoctorProbes {
  now(): number;
  random(): number;
  resolver: Resolver;
  /** Each of the configured DNS servers by itself. */
  dnsServers: readonly DnsServerProbe[];
  dial: Dialler;
  /** Null when the machine has the address. */
  bindProblem(ip: string): Promise<string | null>;
  diskFreeShare(folder: string): Promise<number | null>;
  /** Trusted roots in PEM for HTTPS; those of Node when undefined. */
  ca: string | undefined;
  stored(): Promise<StoredFacts | null>;
  database(): Promise<DatabaseFacts>;
  /** Null: the master key is in no file, or not in one that is seen from here. */
  keyFile(): KeyFileFacts | null;
  signing(inUse: SigningWay): Promise<SigningSpeed>;
  daemon(): Promise<DaemonAnswer>;
}

export interface DoctorKit extends DoctorProbes {
  settings: DoctorSettings;
}
