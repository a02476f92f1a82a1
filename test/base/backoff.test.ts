// The pause after an attempt: the ladder, its last step, and how far jitter goes.
import t from 'tap';
import { pauseAfterAttempt } from '../../src/base/backoff.ts';

const LADDER = { stepsMs: [1000, 60_000, 3_600_000], jitter: 0.2 };
const MIDDLE = () => 0.5;

t.test('each attempt takes the next step, the last one repeats', async (t) => {
  const pauses = [1, 2, 3, 4, 50].map((attempt) => pauseAfterAttempt(LADDER, attempt, MIDDLE));
  t.strictSame(pauses, [1000, 60_000, 3_600_000, 3_600_000, 3_600_000]);
});

t.test('jitter stretches and shrinks by its share, no further', async (t) => {
  t.equal(
    pauseAfterAttempt(LADDER, 2, () => 0),
    48_000,
  );
  t.equal(
    pauseAfterAttempt(LADDER, 2, () => 1 - Number.EPSILON),
    72_000,
  );
  const pauses = Array.from({ length: 2000 }, () => pauseAfterAttempt(LADDER, 2, Math.random));
  t.ok(pauses.every((pause) => Number.isInteger(pause) && pause >= 48_000 && pause <= 72_000));
  t.ok(Math.min(...pauses) < 50_000 && Math.max(...pauses) > 70_000, 'over the whole range');
});

t.test('without jitter the pause is exact', async (t) => {
  t.equal(
    pauseAfterAttempt({ stepsMs: [5000], jitter: 0 }, 3, () => 0.99),
    5000,
  );
});
