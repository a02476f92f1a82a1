// Figures that are read at each scrape: each settles by itself, and a failure is logged once.
import t from 'tap';
import { figureReads } from '../../src/observe/figure-reads.ts';

function keptLog() {
  const lines: string[] = [];
  const log = {
    warn: (facts: object, message: string) => void lines.push(`warn ${JSON.stringify(facts)} ${message}`),
    info: (_: object, message: string) => void lines.push(`info ${message}`),
  };
  return { lines, log };
}

t.test('what fails is left out, and the others are there', async (t) => {
  const { lines, log } = keptLog();
  let isAway = true;
  const read = figureReads(
    {
      good: async () => 7,
      first: async () => (isAway ? Promise.reject(new Error('the database is away')) : 8),
      second: async () => (isAway ? Promise.reject(new Error('so it is')) : 9),
    },
    { limitMs: 60_000, log },
  );
  t.strictSame(await read(), { good: 7, first: null, second: null });
  t.strictSame(await read(), { good: 7, first: null, second: null });
  t.strictSame(lines, [
    'warn {"figures":["first","second"]} some metrics are missing while they can\'t be read: the database is away',
  ]);
  isAway = false;
  t.strictSame(await read(), { good: 7, first: 8, second: 9 });
  await read();
  t.strictSame(lines.slice(1), ['info all metrics can be read again']);
  isAway = true;
  await read();
  t.equal(lines.length, 3, 'the next failure is told of again');
});

t.test('what does not answer in time is left out, and is not asked again meanwhile', async (t) => {
  const { lines, log } = keptLog();
  const asked: PromiseWithResolvers<number>[] = [];
  const slow = () => {
    asked.push(Promise.withResolvers<number>());
    return asked.at(-1)!.promise;
  };
  const read = figureReads({ good: async () => 7, slow }, { limitMs: 1, log });
  t.strictSame(await read(), { good: 7, slow: null });
  t.strictSame(await read(), { good: 7, slow: null });
  t.equal(asked.length, 1);
  t.match(lines, [/slow.*no answer within 0\.001 s$/]);
  asked[0]!.reject(new Error('late'));
  await asked[0]!.promise.catch(() => {});
  await read();
  t.equal(asked.length, 2, 'it is asked again');
});
