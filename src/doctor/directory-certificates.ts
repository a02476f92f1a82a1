// The certificates that the daemon gets by itself (tls.acme): what is in the database, and why a directory has issued none.
import { MINUTE_MS, toTimestamp } from '../base/clock.ts';
import type { ServerFacts } from '../store/server-facts.ts';
import type { DaemonAnswer, StoredCertificate } from './doctor-settings.ts';
import { type Finding, fine, type Remedy, warning, wrong } from './finding.ts';
import { SILENT_MS } from './server.ts';

type About = Pick<Finding, 'check' | 'subject'>;

const REMEDY: Remedy = {
  advice:
    'each of these names must resolve to this machine, and its port 80 (443 with tls.acme_challenge = "tls-alpn-01") must be reachable from the Internet; the daemon tries again by itself',
};
/** The timer of the daemon that gets them. */
const TIMER = 'certificates';
/** What is due is attempted every minute. */
const OVERDUE_MS = 10 * MINUTE_MS;

/** `daemon` knows what stops attempts before they are made, and so is stored nowhere: a port that is taken, a name without address. */
export function judgeStored(
  about: About,
  stored: StoredCertificate | null,
  { daemon, now }: { daemon: DaemonAnswer; now: number },
): Finding {
  const failure = failureOf(stored);
  const timer = daemon.kind === 'running' ? daemon.facts.timers.find(({ name }) => name === TIMER) : undefined;
  const reason = failure ?? timer?.last_result ?? 'the daemon has not tried yet';
  if (!stored || stored.notAfter === null) {
    return wrong(about, `is self-signed, because the directory has issued none: ${reason}`, REMEDY);
  }
  const until = toTimestamp(stored.notAfter);
  const next = toTimestamp(stored.nextAttemptAt);
  if (stored.notAfter <= now) return wrong(about, `expired at ${until}: ${reason}`, REMEDY);
  if (failure === null && stored.nextAttemptAt < now - OVERDUE_MS) {
    return warning(about, `is valid until ${until}, but its renewal is due since ${next}: ${reason}`, REMEDY);
  }
  if (failure !== null) return warning(about, `is valid until ${until}, but was not renewed: ${failure}`, REMEDY);
  return fine(about, `is valid until ${until}, and is renewed from ${next} on`);
}

/** With TLS-ALPN-01; by HTTP-01 each daemon can prove the names. */
export function judgeSharedNames(names: readonly string[], nodes: ServerFacts['nodes']): Finding[] {
  const living = nodes.filter(({ seenMsAgo }) => seenMsAgo !== null && seenMsAgo <= SILENT_MS);
  if (living.length < 2) return [];
  const what = `may not be renewed: with tls-alpn-01 only the one of ${living.length} daemons that orders it can prove the names, and the directory may come to another`;
  return [
    warning({ check: 'HTTP certificate', subject: names.join(', ') }, what, {
      setting: 'tls.acme_challenge = "http-01"',
    }),
  ];
}

function failureOf(stored: StoredCertificate | null): string | null {
  if (!stored?.failure) return null;
  const { reason, at } = stored.failure;
  return `${reason} (${toTimestamp(at)}, attempt ${stored.failures}; next attempt ${toTimestamp(stored.nextAttemptAt)})`;
}
