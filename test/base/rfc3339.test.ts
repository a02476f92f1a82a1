// Times as calls write them: RFC 3339, and nothing that only looks like it.
import t from 'tap';
import { parseMoment, parseMomentOrDay } from '../../src/base/text/rfc3339.ts';

t.test('every form of RFC 3339, with any offset', async (t) => {
  const times: [text: string, utc: string][] = [
    ['2026-11-20T09:00:00Z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20t09:00:00z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00.5Z', '2026-11-20T09:00:00.500Z'],
    ['2026-11-20T09:00:00.123456789Z', '2026-11-20T09:00:00.123Z'],
    ['2026-11-20T09:00:00+05:30', '2026-11-20T03:30:00.000Z'],
    ['2026-12-31T20:00:00-08:00', '2027-01-01T04:00:00.000Z'],
    ['2028-02-29T23:59:59-00:00', '2028-02-29T23:59:59.000Z'],
    ['2028-02-29T00:30:00+01:00', '2028-02-28T23:30:00.000Z'],
  ];
  for (const [text, utc] of times) t.equal(parseMoment(text), Date.parse(utc), text);
});

t.test('nothing else', async (t) => {
  const wrong = [
    ...['', 'tomorrow', '2026-11-20', '2026-11-20T09:00:00', '2026-11-20 09:00:00Z', '2026-11-20T09:00Z'],
    ...['2026-02-29T00:00:00Z', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-10T00:00:00Z'],
    ...['2026-11-31T00:00:00Z', '2026-11-00T00:00:00Z', '2026-11-20T24:00:00Z', '2026-11-20T09:60:00Z'],
    ...['2026-11-20T09:00:60Z', '2026-11-20T09:00:00+24:00', '2026-11-20T09:00:00+0100', '2026-11-20T09:00:00.Z'],
    ...['2026-11-20T09:00:00.1234567890Z', ' 2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z\n', '1763629200000'],
  ];
  for (const text of wrong) t.equal(parseMoment(text), null, JSON.stringify(text));
});

t.test('where a date is enough, it is its beginning', async (t) => {
  t.equal(parseMomentOrDay('2026-11-20'), Date.parse('2026-11-20T00:00:00Z'));
  t.equal(parseMomentOrDay('2026-11-20T09:00:00Z'), Date.parse('2026-11-20T09:00:00Z'));
  for (const text of ['2026-02-29', '2026-11-31', '2026-1-1', '20261120']) t.equal(parseMomentOrDay(text), null, text);
});
