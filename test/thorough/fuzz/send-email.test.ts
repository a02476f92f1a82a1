// A part of what `npm run fuzz` does, with a seed of its own every time: no failure on our side, no
// crash, no answer that is not described, no growth of memory.
import t from 'tap';
import { generateCall } from '../../fuzz/body-generator.ts';
import { growthProblem } from '../../fuzz/memory-growth.ts';
import { type Measurement, runFuzz } from '../../fuzz/run-fuzz.ts';
import { SeededRandom } from '../../fuzz/seeded-random.ts';

const REQUESTS = 8_000;
const surroundings = { domain: 'acme.test', suppressed: 'no@receiver.test', templateIds: ['id'] };

t.test('the same seed makes the same calls', async (t) => {
  const calls = (seed: number) =>
    Array.from({ length: 200 }, (_, n) => generateCall(new SeededRandom(seed + n), surroundings));
  t.same(calls(1), calls(1));
  const bodies = new Set(calls(1).map(({ body }) => body.toString('base64')));
  t.ok(bodies.size > 190, `${bodies.size} of 200 bodies are different`);
});

t.test('growth is told from noise', async (t) => {
  const MIB = 1024 * 1024;
  const memory = (heapMib: (part: number) => number): Measurement[] =>
    Array.from({ length: 10 }, (_, part) => ({ requests: part, rssBytes: 200 * MIB, heapBytes: heapMib(part) * MIB }));
  t.equal(growthProblem(memory(() => 20)), null);
  t.equal(growthProblem(memory((part) => 20 + (part % 3) * 5)), null, 'up and down');
  t.equal(growthProblem(memory((part) => Math.min(20 + part * 10, 40))), null, 'caches that fill at the beginning');
  t.match(growthProblem(memory((part) => 20 + part * 5)), /grew by .* 20 MiB on the heap/);
});

t.test('POST /emails', async (t) => {
  const seed = Date.now() % 1_000_000;
  const about = `fuzzing POST /emails: ${REQUESTS} calls, seed ${seed}, ${new Date().toISOString()}`;
  const { answers, failures, memory } = await runFuzz({ requests: REQUESTS, seed });
  t.same(failures, [], `note: ${about}`);
  t.equal(growthProblem(memory), null);
  const seen = [
    '202 accepted',
    '202 replayed',
    '400 invalid_json',
    '400 validation_failed',
    '415 unsupported_media_type',
  ];
  for (const outcome of seen) t.ok((answers.get(outcome) ?? 0) > 0, `${answers.get(outcome)} times ${outcome}`);
});
