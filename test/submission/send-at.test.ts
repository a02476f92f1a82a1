// When a call wants to be sent: the edges of what is now, later, past, and too far ahead.
import t from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { readSendAt } from '../../src/submission/schedule.ts';

const NOW = Date.parse('2028-02-28T12:00:00Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();

t.test('later is kept, now and a little ago are at once', async (t) => {
  t.equal(readSendAt(undefined, NOW), null);
  t.equal(readSendAt(at(1), NOW), NOW + 1);
  t.equal(readSendAt(at(0), NOW), null);
  t.equal(readSendAt(at(-5 * MINUTE_MS), NOW), null, 'five minutes ago');
  t.equal(readSendAt(at(30 * DAY_MS), NOW), NOW + 30 * DAY_MS, 'thirty days ahead');
});

t.test('a leap day, and other zones', async (t) => {
  t.equal(readSendAt('2028-02-29T00:30:00+01:00', NOW), Date.parse('2028-02-28T23:30:00Z'));
  t.equal(readSendAt('2028-02-28T07:00:00-05:00', NOW), null, 'noon of another zone is now');
  t.equal(readSendAt('2028-02-28T22:00:01+10:00', NOW), NOW + 1000);
});

t.test('what is past, too far ahead, or no time is refused with what to write', async (t) => {
  const wrong: [text: string, problem: RegExp][] = [
    [at(-5 * MINUTE_MS - 1), /^send_at: is more than 5 minutes in the past/],
    [at(30 * DAY_MS + 1), /^send_at: must be at most 30 days ahead/],
    ['2028-02-30T00:00:00Z', /^send_at: must be an RFC 3339 time with an offset, like /],
    ['2028-02-28T13:00:00', /^send_at: must be an RFC 3339 time with an offset/],
    ['in 5 min', /^send_at: must be an RFC 3339 time/],
    ['', /^send_at: must be an RFC 3339 time/],
  ];
  for (const [text, message] of wrong) t.match(readSendAt(text, NOW), { refused: 'validation_failed', message }, text);
});
