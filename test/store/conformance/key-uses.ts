// Conformance: when API keys were last used.
import type { Test } from 'tap';
import { type Bench, T0 } from './harness.ts';

export const keyUseCases = {
  'the latest use of each key is kept, for its tenant only': async (t: Test, bench: Bench) => {
    const [owner, other] = [await bench.tenant(), await bench.tenant()];
    const [one, two, unused] = [bench.apiKey(owner.id), bench.apiKey(owner.id), bench.apiKey(owner.id)];
    const foreign = bench.apiKey(other.id);
    for (const key of [one, two, unused, foreign]) await bench.store.keys.createApiKey(key, 50);
    t.strictSame(await bench.store.keys.lastKeyUses(owner.id), []);
    const use = (keyId: string, at: number) => ({ keyId, at });
    await bench.store.keys.noteKeyUses([use(one.id, T0 + 5), use(two.id, T0 + 6), use(foreign.id, T0 + 7)]);
    await bench.store.keys.noteKeyUses([use(one.id, T0 + 9), use(two.id, T0 + 1)]);
    const sorted = (await bench.store.keys.lastKeyUses(owner.id)).sort((a, b) => a.at - b.at);
    t.strictSame(sorted, [use(two.id, T0 + 6), use(one.id, T0 + 9)], 'an earlier time changes nothing');
    t.strictSame(await bench.store.keys.lastKeyUses(other.id), [use(foreign.id, T0 + 7)]);
  },

  'a key that does not exist is passed over': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const key = bench.apiKey(tenantId);
    await bench.store.keys.createApiKey(key, 50);
    await bench.store.keys.noteKeyUses([
      { keyId: bench.id(), at: T0 },
      { keyId: key.id, at: T0 },
    ]);
    t.strictSame(await bench.store.keys.lastKeyUses(tenantId), [{ keyId: key.id, at: T0 }]);
    await bench.store.keys.noteKeyUses([]);
  },
};
