// Conformance: what happened to all tenants' mail, by our source address and by receiver.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { EventType } from '../../../src/store/events.ts';
import {
  noFigures,
  OTHER_PROVIDERS,
  SERVICE_PROVIDERS_PER_HOUR,
  type ServiceFigures,
  type ServiceFiguresAsked,
  UNKNOWN_PROVIDER,
} from '../../../src/store/figures.ts';
import { type Bench, countAll, dueAgainFrom, T0 } from './harness.ts';

const HOUR = 3_600_000;
const HOUR0 = T0 / HOUR;
const [A, B] = ['192.0.2.1', '192.0.2.2'];

async function read(bench: Bench, change: Partial<ServiceFiguresAsked> = {}): Promise<ServiceFigures> {
  const asked = { fromHour: 0, untilHour: HOUR0 + 100, stepHours: 1, source: null, provider: null, limit: 200 };
  const found = await bench.reads().serviceFigures(null, { ...asked, ...change });
  if (found.kind === 'refused') throw new Error(found.reason);
  return found.value;
}

/** One message that goes out from an address, or from none, and one event of it. */
async function tell(
  bench: Bench,
  given: {
    type: EventType;
    to: string;
    from: string | null;
    domain: Domain;
    at?: number;
    data?: Record<string, unknown>;
  },
): Promise<void> {
  const { type, to, from, domain, at = T0, data = {} } = given;
  const { lanes } = await bench.accept(domain, [to]);
  const candidates = [{ ip: from ?? '', weight: 1, warm: true, pause: null }];
  const facts = { mxGroup: 'any', candidates, none: 'none can be used', ramp: [] };
  const times = { owner: await bench.owner(), now: T0, dueAgainAt: dueAgainFrom(T0) };
  const claimed = await bench.store.queue.claim(
    lanes[0]!.lane,
    1,
    from ? { ...times, from: { address: from, facts } } : times,
  );
  const event = { ...bench.event(type, data), at };
  await bench.store.queue.record([bench.update(claimed.messages[0]!, { to: 'delivered' }, { event })]);
}

export const serviceFigureCases = {
  'events of all tenants are counted by source address and receiver': async (t: Test, bench: Bench) => {
    const domains = [
      { domain: 'x.test', mxGroup: 'google', at: T0 },
      { domain: 'y.test', mxGroup: 'mx.y.test', at: T0 },
    ];
    await bench.store.shaping.noteDomains(domains, T0);
    const [acme, beta] = [await bench.sender('acme.test'), await bench.sender('beta.test')];
    const toX = { to: 'a@x.test', from: A, domain: acme.domain };
    await tell(bench, { type: 'email.delivered', ...toX });
    await tell(bench, { type: 'email.delivered', ...toX, domain: beta.domain });
    await tell(bench, { type: 'email.deferred', ...toX, from: B, at: T0 + HOUR });
    await tell(bench, { type: 'email.bounced', ...toX, to: 'a@y.test', data: { bounce: { type: 'hard' } } });
    await tell(bench, { type: 'email.complained', ...toX, from: B });
    await tell(bench, { type: 'email.failed', ...toX, to: 'a@z.test', from: null });
    t.strictSame(await read(bench), { points: [], sources: [], providers: [] }, 'nothing is counted yet');
    await countAll(bench.store, 2);
    await countAll(bench.store);
    const figures = (some: Partial<ReturnType<typeof noFigures>>) => ({ ...noFigures(), ...some });
    t.strictSame(await read(bench), {
      points: [
        { hour: HOUR0, figures: figures({ delivered: 2, bouncedHard: 1, complained: 1, failed: 1 }) },
        { hour: HOUR0 + 1, figures: figures({ deferred: 1 }) },
      ],
      sources: [
        { source: A, figures: figures({ delivered: 2, bouncedHard: 1 }) },
        { source: '', figures: figures({ failed: 1 }) },
        { source: B, figures: figures({ deferred: 1, complained: 1 }) },
      ],
      providers: [
        { provider: 'google', figures: figures({ delivered: 2, deferred: 1, complained: 1 }) },
        { provider: UNKNOWN_PROVIDER, figures: figures({ failed: 1 }) },
        { provider: 'mx.y.test', figures: figures({ bouncedHard: 1 }) },
      ],
    });
    const ofB = await read(bench, { source: B, stepHours: 24 });
    t.strictSame(ofB.points, [{ hour: HOUR0, figures: figures({ deferred: 1, complained: 1 }) }]);
    t.same(
      ofB.providers.map(({ provider }) => provider),
      ['google'],
    );
    t.equal(ofB.sources.length, 3, 'the others can be chosen next');
    const ofY = await read(bench, { provider: 'mx.y.test' });
    t.strictSame(ofY.points, [{ hour: HOUR0, figures: figures({ bouncedHard: 1 }) }]);
    t.same(
      ofY.sources.map(({ source }) => source),
      [A],
    );
    t.strictSame((await read(bench, { provider: 'mx.y.test', source: B })).points, []);
    const later = await read(bench, { fromHour: HOUR0 + 1 });
    t.same([later.points.length, later.sources.length, later.providers.length], [1, 1, 1]);
    t.equal((await read(bench, { limit: 1 })).providers.length, 1);
  },

  'of one hour and address only so many receivers are told apart, those with most mail': async (
    t: Test,
    bench: Bench,
  ) => {
    const many = Array.from({ length: SERVICE_PROVIDERS_PER_HOUR + 5 }, (_, n) => n);
    const sum = (provider: string, delivered: number, source = A) => {
      return { hour: HOUR0, source, provider, figures: { ...noFigures(), delivered } };
    };
    const tally = await bench.store.figures.tallyNext(10);
    const service = [...many.map((n) => sum(`mx${n}`, 1 + n)), sum('mx0', 1, B)];
    t.equal(await bench.store.figures.addTally({ ...tally, service }), true);
    t.equal(
      await bench.store.figures.addTally({ ...tally, service: [sum('mx104', 7), sum('mx1', 1), sum('mx999', 3)] }),
      true,
    );
    const { providers, sources } = await read(bench);
    const count = (name: string) => providers.find(({ provider }) => provider === name)?.figures.delivered;
    t.equal(providers.length, SERVICE_PROVIDERS_PER_HOUR + 2, 'with the other ones, and one of the other address');
    t.equal(count('mx104'), 105 + 7);
    t.equal(count('mx4'), undefined, 'a small one');
    t.equal(count(OTHER_PROVIDERS), 1 + 2 + 3 + 4 + 5 + 1 + 3);
    t.equal(count('mx0'), 1, 'the room is that of an address');
    t.same(
      sources.map(({ source }) => source),
      [A, B],
    );
  },

  'sums of the service are forgotten in slices': async (t: Test, bench: Bench) => {
    const tally = await bench.store.figures.tallyNext(10);
    const service = [0, 1, 2, 3].map((n) => {
      return { hour: HOUR0 + n, source: A, provider: 'mx', figures: { ...noFigures(), failed: 1 } };
    });
    await bench.store.figures.addTally({ ...tally, service });
    t.equal(await bench.store.figures.forgetServiceFigures(HOUR0 + 3, 2), 2);
    t.equal(await bench.store.figures.forgetServiceFigures(HOUR0 + 3, 2), 1);
    t.equal(await bench.store.figures.forgetServiceFigures(HOUR0 + 3, 2), 0);
    t.same(
      (await read(bench)).points.map(({ hour }) => hour),
      [HOUR0 + 3],
    );
  },
};
