// How long a pause lasts that a reply calls for: short at first, longer when it repeats.
import t from 'tap';
import type { SuspensionRule } from '../../src/classify/bounce-rule.ts';
import {
  type EarlierPause,
  isForgotten,
  pauseBounds,
  pauseLength,
  shrunk,
} from '../../src/delivery/outcome/suspension-length.ts';

const MINUTE = 60_000;
const NOW = 1_000_000_000;
const QUARTER: SuspensionRule = { forMs: 15 * MINUTE, fromMs: null, scope: 'group' };

function minutes(response: string, { code = 450, suspend = QUARTER, earlier = null as EarlierPause | null } = {}) {
  return pauseLength({ suspend, smtpCode: code, response, earlier }, NOW) / MINUTE;
}

t.test('a temporary refusal begins with a minute, one for good with the time of its rule', async (t) => {
  t.equal(minutes('too much mail'), 1);
  t.equal(minutes('too much mail', { code: 550 }), 15);
  t.equal(minutes('reputation', { suspend: { ...QUARTER, fromMs: 10 * MINUTE } }), 10, 'where the rule knows better');
  t.same(pauseBounds(QUARTER, 421), { first: MINUTE, longest: 15 * MINUTE });
  t.same(pauseBounds(QUARTER, 554), { first: 15 * MINUTE, longest: 15 * MINUTE });
});

t.test('it doubles when it repeats, up to the time of its rule', async (t) => {
  const pauses = [minutes('too much mail')];
  while (pauses.length < 6) {
    const earlier = { ms: pauses.at(-1)! * MINUTE, until: NOW - MINUTE };
    pauses.push(minutes('too much mail', { earlier }));
  }
  t.same(pauses, [1, 2, 4, 8, 15, 15]);
});

t.test('what is still said during a pause, or long after it, is no repetition', async (t) => {
  t.equal(minutes('too much mail', { earlier: { ms: 8 * MINUTE, until: NOW + MINUTE } }), 1);
  t.equal(minutes('too much mail', { earlier: { ms: 8 * MINUTE, until: NOW - 16 * MINUTE } }), 1);
  t.equal(isForgotten({ ms: 60 * MINUTE, until: NOW - 16 * MINUTE }, NOW), false);
});

t.test('a time that is named is kept, within hours', async (t) => {
  t.equal(minutes('too much mail, try again in 5 minutes'), 5);
  t.equal(minutes('too much mail, try again in 30 seconds'), 0.5);
  t.equal(minutes('too much mail, try again in 30 seconds', { earlier: { ms: MINUTE / 2, until: NOW } }), 1, 'again');
  t.equal(minutes('too much mail, try again in 20 hours'), 240);
  t.equal(minutes('blocked, try again in 1 hour', { code: 550 }), 60);
});

t.test('limits by the hour and by the day are waited for longer', async (t) => {
  t.equal(minutes('too many messages per hour'), 10);
  t.equal(minutes('hourly limit reached'), 10);
  t.equal(minutes('daily limit reached'), 15);
  t.equal(minutes('6 messages per minute'), 1);
});

t.test('deliveries shrink what is remembered', async (t) => {
  const earlier = { ms: 8 * MINUTE, until: NOW };
  t.same(shrunk(earlier), { ms: 4 * MINUTE, until: NOW });
  t.equal(shrunk({ ms: MINUTE, until: NOW }), null);
});
