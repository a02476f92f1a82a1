// A part of what `npm run fuzz` does, with a seed of its own every time; and that it finds what it is for.
// The dialogs over sockets have a file of their own.
import t from 'tap';
import { ALL_TARGETS } from '../../fuzz/all-targets.ts';
import { fuzzParser } from '../../fuzz/fuzz-parser.ts';
import { SeededRandom } from '../../fuzz/seeded-random.ts';
import type { FuzzTarget, OpenTarget } from '../../fuzz/target.ts';
import { ProcessorTime } from '../../support/patience.ts';

const INPUTS = 8_000;

const seed = Date.now() % 1_000_000;
const date = new Date().toISOString();

for (const target of ALL_TARGETS.filter(({ name }) => !name.endsWith('-dialog'))) {
  const inputs = INPUTS;
  t.test(`${target.name}: ${inputs} inputs, seed ${seed}, ${date}`, async (t) => {
    const { failures, slowestMs, slowest, elapsedMs, reached } = await fuzzParser(target, { inputs, seed });
    const took = `${Math.round(elapsedMs)} ms, the slowest ${slowestMs.toFixed(1)} ms: input ${slowest}`;
    t.same(failures, [], `note: ${target.name}: ${inputs} inputs, seed ${seed}, ${date}, ${took}`);
    for (const [where, times] of Object.entries(reached)) t.ok(times > 0, `${times} times ${where}`);
  });
}

t.test('the same seed makes the same inputs, and nearly all are different', async (t) => {
  const count = 300;
  for (const target of ALL_TARGETS.filter(({ name }) => !name.endsWith('-dialog'))) {
    const opened = await target.open();
    const inputs = (first: number) =>
      Array.from({ length: count }, (_, number) => JSON.stringify(opened.mutate(new SeededRandom(first + number))));
    t.strictSame(inputs(1), inputs(1), target.name);
    const different = new Set(inputs(1)).size;
    t.ok(different > count * 0.7, `${target.name}: ${different} of ${count} are different`);
    await opened.close?.();
  }
});

t.test('what is wrong is found, with how to make it again', async (t) => {
  const failuresOf = async (run: (input: number) => string | null | Promise<string | null>, inputs = 1_000) => {
    const opened = { mutate: (random: SeededRandom) => random.below(1_000), run, reached: {} } as OpenTarget<unknown>;
    const target: FuzzTarget = { name: 'broken', open: () => opened };
    return (await fuzzParser(target, { inputs, seed: 5 })).failures;
  };
  t.same(await failuresOf(() => null), []);
  const thrown = await failuresOf((input) => {
    if (input < 5) throw new Error('not this one');
    return null;
  });
  t.match(
    thrown[0],
    /threw Error: not this one(?:.|\n)*again: npm run fuzz -- --target broken --seed 5 --only \d+\n {2}input: \d/,
  );
  t.match((await failuresOf(async (input) => (input < 5 ? 'is wrong' : null)))[0], /^is wrong/);
  t.match((await failuresOf((input) => Promise.reject(new Error(`${input}`))))[0], /^threw Error/);
  const slow = await failuresOf(() => {
    const time = new ProcessorTime();
    while (time.usedMs < 1_050);
    return null;
  }, 1);
  t.match(slow[0], /^took 1\d{3} ms of processor time/);
  const kept: number[][] = [];
  const growing = await failuresOf(() => {
    // 125 KiB: four times what counts as noise, so that what is freed meanwhile does not hide it.
    kept.push(Array.from({ length: 16_000 }, (_, at) => at + 0.5));
    return null;
  });
  t.match(growing, [/memory grew/]);
});
