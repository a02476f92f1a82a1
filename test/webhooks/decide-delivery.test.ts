import t from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { type CallAttempt, decideDelivery, retryAfterMs } from '../../src/webhooks/decide-delivery.ts';

const NOW = Date.UTC(2026, 10, 22);
const TABLE_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

function decide(status: number, change: Partial<CallAttempt> & { retryAfter?: string; random?: number } = {}) {
  const { retryAfter = null, random = 0.5, step = 1 } = change;
  return decideDelivery(
    { outcome: { kind: 'answered', status, retryAfter, answer: '' }, step, now: NOW },
    () => random,
  );
}

t.test('2xx is a success, everything else is not', async (t) => {
  for (const status of [200, 201, 202, 204, 299]) t.equal(decide(status).decision, 'delivered');
  for (const status of [300, 301, 304, 307, 400, 401, 404, 410, 429, 500, 503, 599]) {
    t.match(decide(status), { decision: 'retry', reason: `answered ${status}` });
  }
});

t.test('the table, with a tenth of jitter, then the end', async (t) => {
  for (const [index, seconds] of TABLE_S.entries()) {
    for (const [random, factor] of [
      [0, 0.9],
      [0.5, 1],
      [1, 1.1],
    ] as const) {
      const until = NOW + Math.round(seconds * SECOND_MS * factor);
      t.match(decide(500, { step: index + 1, random }), { decision: 'retry', until });
    }
  }
  t.match(decide(500, { step: 10 }), {
    decision: 'give_up',
    reason: /last of 10 attempts; the delivery can be replayed/,
  });
  const nobody = { kind: 'unanswered', reason: 'Nobody there.' } as const;
  t.match(
    decideDelivery({ outcome: nobody, step: 1, now: NOW }, () => 0.5),
    { decision: 'retry', reason: 'Nobody there.' },
  );
});

t.test('Retry-After only ever makes it later, up to a day', async (t) => {
  t.match(decide(503, { retryAfter: '1' }), { until: NOW + 5 * SECOND_MS });
  t.match(decide(503, { retryAfter: '60' }), { until: NOW + MINUTE_MS, reason: /asked for a later retry/ });
  t.match(decide(503, { retryAfter: '99999999' }), { until: NOW + 24 * HOUR_MS });
  t.match(decide(500, { retryAfter: '60', step: 10 }), { decision: 'give_up' });
  t.equal(retryAfterMs('Sun, 22 Nov 2026 00:01:00 GMT', NOW), MINUTE_MS);
  for (const nonsense of ['', 'soon', '1.5e999', '12345678901', 'Sun, 22 Nov 2020 00:01:00 GMT']) {
    t.equal(retryAfterMs(nonsense, NOW), 0, nonsense);
  }
});
