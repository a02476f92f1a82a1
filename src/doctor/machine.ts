// Free disk space, and the clock. The clock is compared with the Date header of a web server, over
// verified TLS: precise to a second, needs no daemon or privilege, and can't be forged on the way.
// NTP's own status would not reveal that its server is wrong.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { DISK_RECOVERY_FACTOR, type DiskRoom, roomFor } from '../observe/intake.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';

const WARN_FACTOR = 1.5;
// Receivers reject webhook signatures that are five minutes off (Standard Webhooks); TLS fails soon after.
const FAIL_DIFFERENCE_MS = 120 * SECOND_MS;
// The header has whole seconds, and the round trip takes time.
const WARN_DIFFERENCE_MS = 5 * SECOND_MS;
const ANSWER_MS = 8 * SECOND_MS;

export async function checkDisk({ settings, diskRoom }: DoctorKit): Promise<Finding[]> {
  return [judgeDisk(settings.dataDir, await diskRoom(), settings.minDiskFreeShare)];
}

/** By the sum that decides about new mail. */
export function judgeDisk(folder: string, room: DiskRoom, minDiskFreeShare: number): Finding {
  const about = { check: 'disk', subject: folder };
  const share = roomFor(room, { minDiskFreeShare });
  if (share === null) return warning(about, "does not exist yet, or its disk couldn't be checked");
  const within = room.reusableShare > 0 ? ', with space that the database can reuse' : '';
  const free = `${Math.floor(share * 100)} % is free${within}`;
  const remedy = { command: `df -h ${folder}; du -xh --max-depth=1 ${folder}` };
  if (share < minDiskFreeShare) return wrong(about, `${free}: new mail is not accepted (intake.min_disk_free)`, remedy);
  if (share < minDiskFreeShare * WARN_FACTOR) {
    const [low, high] = [minDiskFreeShare, minDiskFreeShare * DISK_RECOVERY_FACTOR].map(
      (one) => Math.round(one * 1000) / 10,
    );
    const limits = `new mail is not accepted below ${low} %, and then again from ${high} % on`;
    return warning(about, `${free}; ${limits}`, remedy);
  }
  return fine(about, free);
}

/** Without DNS every other finding about names only repeats that. */
export async function checkResolver({ settings, resolver }: DoctorKit): Promise<Finding[]> {
  const about = { check: 'resolver', subject: 'DNS' };
  const names = [...settings.mailDomains, settings.bouncesDomain];
  const results = await Promise.all(names.map((name) => resolver.mx(name)));
  const outages = results.flatMap((result) => (result.kind === 'unavailable' ? [result.reason] : []));
  if (outages.length === 0) return [fine(about, 'answers')];
  if (outages.length < names.length) return [warning(about, `does not answer every query: ${outages[0]}`)];
  return [wrong(about, `does not answer: ${outages[0]}`, { setting: 'dns.servers, or /etc/resolv.conf' })];
}

export type ClockFacts =
  | { kind: 'answer'; source: string; theirTime: number; sentAt: number; receivedAt: number }
  /** `isOutOfDate`: its certificate is not valid at our time. */
  | { kind: 'none'; source: string; reason: string; isOutOfDate: boolean };

export async function checkClock(kit: DoctorKit): Promise<Finding[]> {
  const { timeSources } = kit.settings;
  if (timeSources.length === 0) return [];
  return [judgeClock(await Promise.all(timeSources.map((source) => askTime(kit, source))))];
}

/** The smallest difference counts: a server's clock can be wrong as well. */
export function judgeClock(facts: readonly ClockFacts[]): Finding {
  const about = { check: 'clock', subject: 'this machine' };
  const remedy = { command: 'timedatectl set-ntp true' };
  const answers = facts.flatMap((one) =>
    one.kind === 'answer' ? [{ source: one.source, byMs: differenceOf(one) }] : [],
  );
  const [best] = answers.sort((a, b) => Math.abs(a.byMs) - Math.abs(b.byMs));
  if (!best) {
    const none = facts.filter((one) => one.kind === 'none');
    const reasons = none.map(({ source, reason }) => `${source}: ${reason}`).join('; ');
    // Days off, it is our clock that makes them all invalid.
    if (none.every(({ isOutOfDate }) => isOutOfDate))
      return wrong(about, `probably has a wrong clock: ${reasons}`, remedy);
    return warning(about, `couldn't verify the clock: ${reasons}`, { command: 'timedatectl' });
  }
  const secs = Math.round(Math.abs(best.byMs) / SECOND_MS);
  const said = `${secs} s ${best.byMs > 0 ? 'ahead of' : 'behind'} ${best.source}`;
  if (Math.abs(best.byMs) >= FAIL_DIFFERENCE_MS) return wrong(about, said, remedy);
  return Math.abs(best.byMs) >= WARN_DIFFERENCE_MS
    ? warning(about, said, remedy)
    : fine(about, `agrees with ${best.source}`);
}

/** How far our clock is ahead; zero if rounding and the round trip explain the difference. */
function differenceOf({ theirTime, sentAt, receivedAt }: Extract<ClockFacts, { kind: 'answer' }>): number {
  if (sentAt >= theirTime + SECOND_MS) return sentAt - theirTime - SECOND_MS;
  return receivedAt < theirTime ? receivedAt - theirTime : 0;
}

async function askTime(kit: DoctorKit, source: string): Promise<ClockFacts> {
  const url = new URL(source);
  const results = await Promise.all([kit.resolver.a(url.hostname), kit.resolver.aaaa(url.hostname)]);
  const ip = results.flatMap((result) => (result.kind === 'found' ? result.records : []))[0];
  const noAnswer = (reason: string, isOutOfDate = false) => ({ kind: 'none' as const, source, reason, isOutOfDate });
  if (ip === undefined) return noAnswer('the host has no address, or DNS does not answer');
  return new Promise((resolve) => {
    const sentAt = kit.now();
    const { protocol, port, hostname, host } = url;
    const options = {
      host: ip,
      port: port || undefined,
      method: 'HEAD',
      path: '/',
      headers: { host },
      agent: false as const,
    };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const request =
      protocol === 'https:'
        ? httpsRequest({ ...options, signal, servername: hostname, ...(kit.ca !== undefined && { ca: kit.ca }) })
        : httpRequest({ ...options, signal });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isOutOfDate = error.code === 'CERT_HAS_EXPIRED' || error.code === 'CERT_NOT_YET_VALID';
      resolve(noAnswer(signal.aborted ? 'no answer in time' : describeError(error), isOutOfDate));
    });
    request.on('response', (response) => {
      const theirTime = Date.parse(response.headers.date ?? '');
      request.destroy();
      if (Number.isNaN(theirTime)) return resolve(noAnswer('the response has no Date header'));
      resolve({ kind: 'answer', source, theirTime, sentAt, receivedAt: kit.now() });
    });
    request.end();
  });
}
