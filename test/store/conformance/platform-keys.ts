// Conformance: keys of the platform itself.
import type { Test } from 'tap';
import type { PlatformKey } from '../../../src/store/platform-keys.ts';
import { type Bench, T0 } from './harness.ts';

export const platformKeyCases = {
  'keys are listed per purpose, the newest first': async (t: Test, bench: Bench) => {
    const old = platformKey({ keyId: 'z', createdAt: T0 });
    const recent = platformKey({ keyId: 'a', createdAt: T0 + 1 });
    const dkim = platformKey({ purpose: 'service-dkim', keyId: 'z', publicPart: 'cHVibGlj' });
    for (const key of [old, recent, dkim]) t.equal(await bench.store.platformKeys.addPlatformKey(key), 'added');
    t.strictSame(await bench.store.platformKeys.listPlatformKeys('tracking'), [recent, old]);
    t.strictSame(await bench.store.platformKeys.listPlatformKeys('service-dkim'), [dkim]);
    t.strictSame(await bench.store.platformKeys.listPlatformKeys('message-token'), []);
  },

  'whoever comes second learns it, and changes nothing': async (t: Test, bench: Bench) => {
    const keys = Array.from({ length: 5 }, (_, n) => platformKey({ createdAt: T0 + n }));
    const results = await Promise.all(keys.map((key) => bench.store.platformKeys.addPlatformKey(key)));
    t.strictSame(results, ['added', 'exists', 'exists', 'exists', 'exists']);
    t.strictSame(await bench.store.platformKeys.listPlatformKeys('tracking'), [keys[0]]);
  },
};

function platformKey(change: Partial<PlatformKey>): PlatformKey {
  return {
    purpose: 'tracking',
    keyId: '1',
    secret: { masterKeyId: 'master1', sealed: Buffer.from('sealed') },
    publicPart: null,
    createdAt: T0,
    ...change,
  };
}
