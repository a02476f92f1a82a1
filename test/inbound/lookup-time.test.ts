// The look-ups for one mail, together: zones that don't answer, however many, end with their time.
import t from 'tap';
import { withinLookupTime } from '../../src/inbound/lookup-time.ts';
import type { Resolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { patience } from '../support/patience.ts';

const FOUND = { kind: 'found', records: ['x'], ttlMs: 1000 } as const;

/** Zones below `.silent.test` never answer. */
function resolverOf(asked: string[]): Resolver {
  const look = (name: string) => {
    asked.push(name);
    return name.endsWith('.silent.test') ? new Promise<never>(() => {}) : Promise.resolve(FOUND);
  };
  return { mx: look, a: look, aaaa: look, txt: look, ns: look, ptr: look } as unknown as Resolver;
}

t.test('in time, answers are passed on', async (t) => {
  const asked: string[] = [];
  const found = await withinLookupTime(resolverOf(asked), patience(60_000), (limited) =>
    Promise.all([limited.txt('a.test'), limited.mx('b.test'), limited.ptr('192.0.2.1')]),
  );
  t.same(found, [FOUND, FOUND, FOUND]);
  t.same(asked, ['a.test', 'b.test', '192.0.2.1']);
});

t.test('when the time is over, nothing more is asked', async (t) => {
  const asked: string[] = [];
  const found = await withinLookupTime(resolverOf(asked), 20, async (limited) => [
    await limited.a('a.test'),
    await limited.txt('one.silent.test'),
    await limited.txt('two.silent.test'),
    await limited.a('a.test'),
  ]);
  t.match(found, [FOUND, { kind: 'unavailable' }, { kind: 'unavailable' }, { kind: 'unavailable' }]);
  t.same(asked, ['a.test', 'one.silent.test']);
});

t.test('what the work throws is thrown', async (t) => {
  await t.rejects(
    withinLookupTime(resolverOf([]), patience(60_000), () => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
});
