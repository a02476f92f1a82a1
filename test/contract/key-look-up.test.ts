// What the time of an answer tells about keys: nothing. An id that nobody has and a wrong secret
// for one that somebody has are looked up by the same steps, and take the same time as far as a
// rough measurement can tell. The bounds are wide; what is told apart by a second look into the
// database takes twice as long.
import t, { type Test } from 'tap';
import type { Store } from '../../src/store/store.ts';
import { formatApiKey, parseApiKey, verifyApiKey } from '../../src/tenants/api-keys.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';

const NOBODYS_ID = 'A'.repeat(12);

const steps: string[] = [];
const api = await startApiHarness({ wrapStore: watched });
t.teardown(() => api.close());
const { id, key } = await api.addTenant();
const { publicId, secret } = parseApiKey(key)!;
const otherSecret = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`;
const unknown = formatApiKey({ publicId: NOBODYS_ID, secret });
const wrong = formatApiKey({ publicId, secret: otherSecret });

/** Writes down which verbs of the store are called. */
function watched(store: Store): Store {
  return wrapVerbs(store, (name, verb) => (...args) => {
    steps.push(name);
    return verb(...args);
  });
}

async function stepsOf(t: Test, token: string): Promise<string[]> {
  steps.length = 0;
  const { status, body } = await api.call('GET', '/domains', { key: token });
  t.match({ status, ...body }, { status: 401, error: 'invalid_api_key' });
  return [...steps];
}

t.test('the same steps', async (t) => {
  const forUnknown = await stepsOf(t, unknown);
  t.ok(forUnknown.length > 0);
  t.same(await stepsOf(t, wrong), forUnknown, 'a wrong secret');
  const retired = parseApiKey(await api.addKey(id))!;
  const { id: retiredId } = (await api.store.keys.listApiKeys(id)).find((one) => one.publicId === retired.publicId)!;
  await api.store.keys.revokeApiKey(id, retiredId, 1);
  t.same(
    await stepsOf(t, formatApiKey({ ...retired, secret: otherSecret })),
    forUnknown,
    'a wrong secret of a revoked key',
  );
});

t.test('the same words', async (t) => {
  const ask = async (token: string) => {
    const { headers, body } = await api.call('GET', '/domains', { key: token });
    return { names: [...headers.keys()].sort(), body };
  };
  t.same(await ask(unknown), await ask(wrong));
});

const ROUNDS = 4000;
/** How much longer the one may take. */
const TOLERANCE = 1.6;
const TRIES = 3;

t.test('about the same time', async (t) => {
  // A busy machine may disturb one measurement; what is really there shows in every one.
  const ratios: number[] = [];
  for (let attempt = 0; attempt < TRIES && !ratios.some(isClose); attempt++) ratios.push(await ratioOfMedians());
  t.ok(ratios.some(isClose), `unknown id to wrong secret: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`);
});

function isClose(ratio: number): boolean {
  return ratio < TOLERANCE && ratio > 1 / TOLERANCE;
}

/** Taken turn by turn, so that whatever slows the machine down slows both. */
async function ratioOfMedians(): Promise<number> {
  const times = { unknown: new Float64Array(ROUNDS), wrong: new Float64Array(ROUNDS) };
  const measure = async (token: string) => {
    const startedAt = performance.now();
    if (await verifyApiKey(token, api.store)) throw new Error('this is no key');
    return performance.now() - startedAt;
  };
  for (let round = 0; round < ROUNDS; round++) {
    times.unknown[round] = await measure(unknown);
    times.wrong[round] = await measure(wrong);
  }
  return median(times.unknown) / median(times.wrong);
}

function median(values: Float64Array): number {
  return values.toSorted()[Math.floor(values.length / 2)]!;
}
