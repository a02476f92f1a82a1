// The MX groups of recipient domains: stored in few calls, also where mail goes to more domains than are remembered.
import t, { type Test } from 'tap';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import { NotedDomains } from '../../src/delivery/shaping/noted-domains.ts';
import type { DomainNote } from '../../src/store/shaping.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { until } from '../support/until.ts';

const DOMAINS = 25_000;
const T0 = Date.UTC(2026, 0, 1);

/** With a store that remembers what it is told. */
function stage(t: Test) {
  const clock = { at: T0, now: () => clock.at };
  const calls: { notes: readonly DomainNote[]; freshSince: number }[] = [];
  const lines: LogLine[] = [];
  const trouble: { fault: Error | null } = { fault: null };
  const noteDomains = async (notes: readonly DomainNote[], freshSince: number) => {
    if (trouble.fault) throw trouble.fault;
    calls.push({ notes, freshSince });
  };
  const noted = new NotedDomains({ store: { shaping: { noteDomains } }, clock, log: listLogger(lines) });
  t.teardown(() => noted.stop());
  const names = () => calls.flatMap(({ notes }) => notes.map(({ domain }) => domain));
  return { clock, calls, lines, trouble, noted, names };
}

t.test('mail to many domains in random order is few calls', async (t) => {
  const { noted, calls, names } = stage(t);
  // Each time the numbers are stepped through in another order, and with all others in between.
  for (const step of [7919, 6007]) {
    for (let at = 0; at < DOMAINS; at++) noted.note(`d${(at * step) % DOMAINS}.test`, 'big');
    await noted.stop();
    t.equal(new Set(names()).size, DOMAINS);
  }
  t.ok(calls.length <= 60, `${calls.length} calls`);
  t.ok(
    calls.every(({ notes }) => notes.length <= 1000),
    'none of which takes the store long',
  );
});

t.test('a domain with much mail is noted once a day, however many others there are', async (t) => {
  const { noted, clock, calls, names } = stage(t);
  const noteAll = async () => {
    for (let at = 0; at < DOMAINS; at++) {
      if (at % 10_000 === 0) {
        await noted.stop();
        noted.note('often.test', 'big');
      }
      noted.note(`d${at}.test`, 'small');
    }
    await noted.stop();
  };
  const often = () => names().filter((name) => name === 'often.test').length;
  await noteAll();
  await noteAll();
  t.equal(often(), 1);
  clock.at += DAY_MS;
  noted.note('often.test', 'big');
  await noted.stop();
  t.equal(often(), 2);
  t.match(calls.at(-1), { notes: [{ domain: 'often.test', mxGroup: 'big', at: T0 + DAY_MS }], freshSince: T0 });
  clock.at += HOUR_MS;
  noted.note('often.test', 'other');
  await noted.stop();
  t.equal(often(), 3, 'and when it has moved');
});

t.test('the first ones are stored at once, those that follow soon after, without a stop', async (t) => {
  const { noted, calls, names } = stage(t);
  noted.note('one.test', 'big');
  noted.note('two.test', 'big');
  await Promise.resolve();
  t.strictSame(names(), ['one.test', 'two.test']);
  noted.note('three.test', 'big');
  noted.note('four.test', 'big');
  await until('all are stored', () => names().length === 4);
  t.equal(calls.length, 2);
});

t.test('what could not be stored is noted again with the next mail', async (t) => {
  const { noted, lines, trouble, names } = stage(t);
  trouble.fault = new Error('the database is away');
  noted.note('one.test', 'big');
  await noted.stop();
  t.match(lines, [{ message: 'the MX groups of domains could not be stored: the database is away' }]);
  trouble.fault = null;
  noted.note('one.test', 'big');
  await noted.stop();
  t.strictSame(names(), ['one.test']);
});
