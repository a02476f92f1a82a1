// When a certificate is attempted next, and which stored times are not believed.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { nextAttemptOf, pauseAfter, renewalAt } from '../../src/certificates/next-attempt.ts';
import type { IssuedCertificate } from '../../src/store/certificates.ts';

const NOW = Date.UTC(2026, 10, 27);
const YEARS_MS = 3 * 365 * DAY_MS;

function issuedFor(days: number, ageDays = 0): IssuedCertificate {
  const notBefore = NOW - ageDays * DAY_MS;
  return {
    chain: '',
    key: { masterKeyId: 'm', sealed: Buffer.from('') },
    notBefore,
    notAfter: notBefore + days * DAY_MS,
  };
}

t.test('what an honest clock has stored is waited for', async (t) => {
  const failed = { issued: null, failures: 1, failure: { reason: 'x', at: NOW } };
  for (const [what, at] of [
    ['a pause', NOW + 5 * MINUTE_MS],
    ['the longest Retry-After', NOW + 7 * DAY_MS],
    ['what was due before', NOW - DAY_MS],
  ] as const)
    t.equal(nextAttemptOf({ ...failed, nextAttemptAt: at }, NOW), at, what);
  const running = { issued: null, failures: 9, failure: null };
  const longest = NOW + pauseAfter(9, () => 1);
  t.equal(nextAttemptOf({ ...running, nextAttemptAt: longest }, NOW), longest, 'a running attempt');
  const clockOfAnother = { reason: 'x', at: NOW + 5000 };
  const soon = NOW + 5 * MINUTE_MS;
  t.equal(nextAttemptOf({ ...running, failure: clockOfAnother, nextAttemptAt: soon }, NOW), soon, 'seconds ahead');
  const issued = issuedFor(90);
  const idle = { issued, failures: 0, failure: null };
  t.equal(nextAttemptOf({ ...idle, nextAttemptAt: renewalAt(issued, NOW) }, NOW), NOW + 60 * DAY_MS);
  const short = issuedFor(1 / 96);
  const early = renewalAt(short, NOW);
  t.equal(nextAttemptOf({ ...idle, issued: short, nextAttemptAt: early }, NOW + MINUTE_MS), early, 'of minutes');
  t.equal(nextAttemptOf({ ...idle, nextAttemptAt: NOW }, NOW), NOW, 'hastened');
});

t.test('a time from a clock that was ahead is not', async (t) => {
  const later = NOW + YEARS_MS;
  const at = (failure: number | null, nextAttemptAt: number) =>
    nextAttemptOf(
      { issued: null, failures: 1, failure: failure === null ? null : { reason: 'x', at: failure }, nextAttemptAt },
      NOW,
    );
  t.equal(at(later, later + 5 * MINUTE_MS), NOW, 'it failed in the future');
  t.equal(at(NOW + HOUR_MS, NOW + 2 * HOUR_MS), NOW, 'also in a near one');
  t.equal(at(null, later), NOW, 'it never ended');
  t.equal(at(NOW - MINUTE_MS, later), NOW, 'the clock was set while it ran');
  const idle = { failures: 0, failure: null, nextAttemptAt: NOW + 85 * DAY_MS };
  t.equal(nextAttemptOf({ ...idle, issued: issuedFor(90) }, NOW), NOW + 60 * DAY_MS, 'issued: by its life');
  t.equal(nextAttemptOf({ ...idle, issued: issuedFor(90, 70) }, NOW), NOW - 10 * DAY_MS, 'overdue');
});
