// When a certificate is attempted: the pauses after failures, the time of renewal, and whether a stored time can be right.
import { pauseAfterAttempt } from '../base/backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import type { CertificateRecord, IssuedCertificate } from '../store/certificates.ts';

// Let's Encrypt accepts five failed validations of a name per hour; with these pauses there are four.
const PAUSES = { stepsMs: [5, 10, 20, 40, 80, 160, 360, 720, 1440].map((minutes) => minutes * MINUTE_MS), jitter: 0.1 };
const LONGEST_PAUSE_MS = Math.max(...PAUSES.stepsMs) * (1 + PAUSES.jitter);
/** What a directory may ask for: its limits are per week at most. */
export const MAX_RETRY_AFTER_MS = 7 * DAY_MS;
const RENEWAL_SHARE = 2 / 3;
/** For certificates of a few hours, too. */
const SHORTEST_RENEWAL_MS = HOUR_MS / 4;
/** Clocks of daemons on one database differ by seconds. */
const CLOCK_SKEW_MS = MINUTE_MS;

type Life = Pick<IssuedCertificate, 'notBefore' | 'notAfter'>;

export function pauseAfter(failures: number, random: () => number): number {
  return pauseAfterAttempt(PAUSES, failures, random);
}

export function renewalAt(life: Life, now: number): number {
  return Math.max(renewalByLife(life), now + SHORTEST_RENEWAL_MS);
}

function renewalByLife({ notBefore, notAfter }: Life): number {
  return Math.round(notBefore + RENEWAL_SHARE * (notAfter - notBefore));
}

/**
 * A stored time that is later than any pause allows is from a moment in which the clock was ahead (a machine that starts
 * before it has asked a time server). It is not waited for: that could take years.
 */
export function nextAttemptOf(
  {
    issued,
    failures,
    failure,
    nextAttemptAt,
  }: Pick<CertificateRecord, 'issued' | 'failures' | 'failure' | 'nextAttemptAt'>,
  now: number,
): number {
  if (failures === 0) {
    if (issued === null || nextAttemptAt <= renewalAt(issued, now)) return nextAttemptAt;
    return renewalByLife(issued);
  }
  // Without a failure it is running, or its daemon has died in it.
  const [from, longestMs] = failure ? [failure.at, MAX_RETRY_AFTER_MS] : [now, LONGEST_PAUSE_MS];
  const isPossible = from <= now + CLOCK_SKEW_MS && nextAttemptAt <= from + longestMs + CLOCK_SKEW_MS;
  return isPossible ? nextAttemptAt : now;
}

export function isDue(record: CertificateRecord | undefined, now: number): boolean {
  return record === undefined || nextAttemptOf(record, now) <= now;
}
