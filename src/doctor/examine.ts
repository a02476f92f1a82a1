// Runs all checks concurrently, each with a deadline of its own. A check that throws or takes too
// long becomes a finding and does not stop the others.
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { OwnAddress } from '../domains/needed-records.ts';
import { checkBlocklists } from './blocklists.ts';
import { checkBounceRoute } from './bounce-route.ts';
import { checkCertificates } from './certificates.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, warning } from './finding.ts';
import { judgeConfigFile, judgeDaemon, judgeDatabase, judgeHeld, judgeKeyFile, judgeKeyTrouble } from './inside.ts';
import { checkKnownDomains } from './known-domains.ts';
import { checkClock, checkDisk, checkResolver } from './machine.ts';
import { checkOutboundPort } from './outbound-port.ts';
import { checkEhloNames, checkReverseNames, ownAddresses } from './own-names.ts';
import { checkReportRecord, checkServiceDkim, checkSpf } from './own-records.ts';
import { judgeServer } from './server.ts';
import { checkSigning } from './signing.ts';

// More than any limit inside a check: the slowest calls two hosts, up to 20 s each.
const CHECK_MS = 45 * SECOND_MS;
// Checking a large file takes a while; the probe has its own limit.
const DATABASE_MS = 90 * SECOND_MS;

type Check = [name: string, run: () => Promise<Finding[]>];

/** What must be right before anything else matters, on a machine that has no daemon and no records yet. */
export function examineMachine(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  return runAll([
    ['resolver', () => checkResolver(kit)],
    ['known domains', () => checkKnownDomains(kit)],
    ['clock', () => checkClock(kit)],
    ['outbound port', () => checkOutboundPort(kit)],
    ['reverse name', () => checkReverseNames(kit, addresses)],
    ['blocklists', () => checkBlocklists(kit, addresses)],
  ]);
}

export async function examine(kit: DoctorKit): Promise<Finding[]> {
  const addresses = await within('addresses', CHECK_MS, () => ownAddresses(kit)).catch(() => []);
  const stored = await within('database', CHECK_MS, () => kit.stored()).catch((): 'unknown' => 'unknown');
  return runAll([
    ['daemon', async () => judgeDaemon(await kit.daemon(), kit.now())],
    ['resolver', () => checkResolver(kit)],
    ['known domains', () => checkKnownDomains(kit)],
    ['outbound port', () => checkOutboundPort(kit)],
    ['reverse name', () => checkReverseNames(kit, addresses)],
    ['EHLO name', () => checkEhloNames(kit, addresses)],
    ['MX', () => checkBounceRoute(kit, addresses)],
    ['SPF', () => checkSpf(kit, addresses)],
    ['DKIM', () => checkServiceDkim(kit, stored)],
    ['DMARC reports', () => checkReportRecord(kit, stored)],
    ['certificates', () => checkCertificates(kit)],
    ['blocklists', () => checkBlocklists(kit, addresses)],
    ['disk', () => checkDisk(kit)],
    ['clock', () => checkClock(kit)],
    ['master key', async () => judgeKeyFile(kit.keyFile())],
    ['master key', async () => judgeKeyTrouble(await kit.keyTrouble())],
    ['configuration', async () => judgeConfigFile(kit.configFile())],
    ['signing', () => checkSigning(kit)],
    ['held mail', async () => judgeHeld(await kit.held())],
    ['database server', () => checkServer(kit)],
    ['database', () => checkDatabase(kit)],
  ]);
}

async function checkDatabase({ database, settings }: DoctorKit): Promise<Finding[]> {
  const facts = await database();
  return facts === null ? [] : [judgeDatabase(settings.dataDir, facts)];
}

async function checkServer({ server, settings }: DoctorKit): Promise<Finding[]> {
  const answer = await server();
  return answer === null ? [] : judgeServer(settings.storeName, answer);
}

async function runAll(checks: readonly Check[]): Promise<Finding[]> {
  const findings = await Promise.all(
    checks.map(([name, run]) => {
      const about = { check: name, subject: 'this check' };
      const limitMs = name === 'database' ? DATABASE_MS : CHECK_MS;
      return within(name, limitMs, run).catch((error) => [
        warning(about, `couldn't be completed: ${describeError(error)}`),
      ]);
    }),
  );
  return findings.flat();
}

async function within<T>(what: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what}: no result within ${limitMs / SECOND_MS} s`)), limitMs);
  try {
    return await Promise.race([work(), promise]);
  } finally {
    clearTimeout(timer);
  }
}
