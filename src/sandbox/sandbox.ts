// `postrider sandbox`: the real daemon, between a DNS server and a receiving MTA of
// its own, with everything ready to send the first message. A wiring list, as in daemon.ts.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SECOND_MS, systemClock } from '../base/clock.ts';
import { ClosingStack } from '../base/closing-stack.ts';
import { Fault } from '../base/errors.ts';
import { IdSource } from '../base/ids.ts';
import type { Config } from '../config/keys.ts';
import { type Daemon, type DaemonOptions, startDaemon } from '../daemon/daemon.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import { makeDataFolder, sqliteFolder } from '../operator/data-folder.ts';
import type { CapturedMails } from '../portal/captured-mails.ts';
import { DataFolderInUse, lockDataFolder } from '../store/sqlite/engine/data-lock.ts';
import { prepareAccess } from './access.ts';
import { startCaptureServer } from './capture-server.ts';
import { type CapturedFolder, openCapturedFolder } from './captured.ts';
import { openLogFile } from './log-file.ts';
import { isBareMagic } from './magic-recipient.ts';
import { publishedTxt } from './published-records.ts';
import { createReportSender } from './report-sender.ts';
import {
  askedPorts,
  type ConfigInput,
  choosePorts,
  dataDirOf,
  listenHostOf,
  placeServers,
  readOptions,
} from './sandbox-config.ts';
import { startSandboxDns } from './sandbox-dns.ts';
import { CAPTURE_HOST } from './sandbox-zone.ts';
import { type Welcome, welcomeJson, welcomeText } from './welcome.ts';

export interface SandboxOptions {
  commands: DaemonOptions['commands'];
  /** The sandbox's own data folder; null: what POSTRIDER_DATA_DIR says, or the usual one in the checkout. */
  dataDir: string | null;
  /** Listens at all addresses, not on loopback alone. */
  open?: boolean;
  /** Print one JSON value instead of words. */
  json: boolean;
  /** Where configuration keys are overridden. */
  env?: ConfigInput['env'];
  configFile?: string | null;
  print?(text: string): void;
  /** For tests: chooses as another program makes the choice useless. */
  choosePorts?: typeof choosePorts;
}

export interface Sandbox {
  welcome: Welcome;
  captured: CapturedFolder;
  close(): Promise<void>;
}

const USUAL_DATA_DIR = fileURLToPath(new URL('../../data/sandbox', import.meta.url));
/** Between the choice of a port and its use, another program may take it. */
const STARTS = 3;
const PORTAL_PROBE_MS = 2 * SECOND_MS;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await openOnFreePorts(options);
  const { print = printLine } = options;
  print(options.json ? welcomeJson(sandbox.welcome) : welcomeText(sandbox.welcome));
  return sandbox;
}

async function openOnFreePorts(options: SandboxOptions): Promise<Sandbox> {
  for (let startsLeft = STARTS; ; startsLeft--) {
    const opened = new ClosingStack();
    try {
      return await open(options, opened);
    } catch (error) {
      await opened.close();
      if (startsLeft === 1 || !hasLostPort(options, error)) throw error;
    }
  }
}

/** Whether a port that nobody has asked for is taken. */
function hasLostPort({ env = {}, configFile }: SandboxOptions, error: unknown): boolean {
  const { code, port } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException & { port?: number };
  if (code !== 'EADDRINUSE' || port === undefined) return false;
  return !askedPorts(readOptions({ env, file: configFile ?? undefined })).includes(port);
}

async function open(
  { dataDir, open: isOpen = false, env = {}, configFile, commands, choosePorts: choose = choosePorts }: SandboxOptions,
  opened: ClosingStack,
): Promise<Sandbox> {
  const input = { env, file: configFile ?? undefined };
  const wishes = readOptions(input);
  const folder = await openDataFolder(dataDir ?? dataDirOf(wishes) ?? USUAL_DATA_DIR, opened);
  const logSink = openLogFile(folder.logFile);
  opened.add(() => logSink.close());
  const log = createLogger({ level: wishes.config.log.level, to: logSink }).with({ part: 'sandbox' });
  const captured = await openCapturedFolder(folder.capturedDir);
  opened.add(() => captured.close());

  // DNS speaks of what the daemon's store holds, and the daemon needs DNS to start.
  const running: { daemon: Daemon | null; tenantId: string | null } = { daemon: null, tenantId: null };
  const dns = await openDns(wishes.config, running, log);
  opened.add(() => dns.close());
  const host = listenHostOf(isOpen);
  const ports = await choose(wishes, host);
  const capturePort = await openCapture(captured, { inboundPort: ports.smtp, log, opened });

  const config = placeServers(input, { ...ports, host, dataDir: folder.dir, dns: dns.port, capture: capturePort });
  const daemon = await orInUse(folder.dir, () =>
    startDaemon(config, {
      commands,
      logTo: logSink,
      sandbox: { host, captured: seenInPortal(captured, running), staysUsable: isBareMagic },
    }),
  );
  opened.add(() => daemon.close());
  running.daemon = daemon;
  const access = await prepareAccess(folder.accessFile, {
    store: daemon.store,
    domains: daemon.domains,
    clock: systemClock,
    ids: new IdSource(),
    maxKeys: config.limits.keys_per_tenant,
  });
  running.tenantId = access.tenantId;
  const url = `${config.http.tls_cert ? 'https' : 'http'}://127.0.0.1:${daemon.httpPort}`;
  const portalUrl = await findPortal(url);
  const { capturedDir, logFile } = folder;
  const dnsServer = `127.0.0.1:${dns.port}`;
  const smtp = daemon.submissionPort === null ? null : { host: '127.0.0.1', port: daemon.submissionPort };
  const welcome = {
    url,
    isOpen,
    busyHttpPort: ports.busyHttp,
    smtp,
    access,
    portalUrl,
    capturedDir,
    logFile,
    dnsServer,
  };
  return { welcome, captured, close: () => opened.close() };
}

/** Whoever has the printed login sees all of it. */
function seenInPortal(folder: CapturedFolder, running: { tenantId: string | null }): CapturedMails {
  return {
    limits: folder.limits,
    list: (after, limit) => folder.list(after, limit),
    get: (id) => folder.get(id),
    head: (id, octets) => folder.head(id, octets),
    ownerTenantId: () => running.tenantId,
  };
}

interface SandboxFolder {
  dir: string;
  capturedDir: string;
  logFile: string;
  /** Key and password. */
  accessFile: string;
}

/** Locked before anything in it is touched; the daemon has a lock of its own for the rest. */
async function openDataFolder(dir: string, opened: ClosingStack): Promise<SandboxFolder> {
  const { database, captured: capturedDir } = sqliteFolder(dir);
  if (fs.existsSync(database) && !fs.existsSync(capturedDir)) {
    // Its waiting mail would go to the capture server instead of its recipients.
    const detail = 'give --data a folder of its own';
    throw new Fault(`${dir} holds the data of a server, and not of a sandbox`, { detail, permanence: 'permanent' });
  }
  makeDataFolder(dir);
  const lock = await orInUse(dir, () => lockDataFolder(capturedDir));
  opened.add(() => lock.release());
  return { dir, capturedDir, logFile: path.join(dir, 'postrider.log'), accessFile: path.join(dir, 'sandbox.json') };
}

async function orInUse<T>(dir: string, open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof DataFolderInUse)) throw cause;
    const advice = 'stop it first, or give --data another folder';
    throw new Fault(`another Postrider process uses ${dir}: ${advice}`, { permanence: 'permanent', cause });
  }
}

function openDns({ service }: Config, running: { daemon: Daemon | null }, log: Logger) {
  const zones = [...new Set([service.bounces_domain, service.spf_domain, service.dkim_domain])];
  const expectedTxt = async (name: string) => running.daemon && publishedTxt(name, { ...running.daemon, service });
  return startSandboxDns({ zone: { zones, expectedTxt }, log });
}

/** Returns the port of the capture server. */
async function openCapture(
  folder: CapturedFolder,
  { inboundPort, log, opened }: { inboundPort: number; log: Logger; opened: ClosingStack },
): Promise<number> {
  const reports = createReportSender({ port: inboundPort, ehloName: CAPTURE_HOST, log });
  opened.add(() => reports.close());
  const server = await startCaptureServer({
    host: CAPTURE_HOST,
    folder,
    reports,
    clock: systemClock,
    ids: new IdSource(),
    log,
  });
  opened.add(() => server.close());
  return server.port;
}

/** Shown only when this daemon has one. */
async function findPortal(url: string): Promise<string | null> {
  const portalUrl = `${url}/portal`;
  try {
    const answer = await fetch(portalUrl, { redirect: 'manual', signal: AbortSignal.timeout(PORTAL_PROBE_MS) });
    await answer.body?.cancel();
    return answer.status < 400 ? portalUrl : null;
  } catch {
    return null;
  }
}

function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
