// When keys were last used: seen at once, written once a minute, and not at all by the call itself.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import type { KeyUse } from '../../src/store/tenants.ts';
import { KeyUses } from '../../src/tenants/key-uses.ts';

function open() {
  const clock = { time: 1000, now: () => clock.time };
  const written: KeyUse[][] = [];
  const disk = { full: false, onWrite: () => {} };
  const keys = {
    async noteKeyUses(uses: readonly KeyUse[]) {
      if (disk.full) throw new Error('the disk is full');
      written.push([...uses]);
      disk.onWrite();
    },
    lastKeyUses: async () => written.flat(),
  };
  return { clock, written, disk, uses: new KeyUses({ store: { keys }, clock }) };
}

t.test('many calls are one entry, written by the timer', async (t) => {
  const { clock, written, uses } = open();
  for (const key of ['a', 'b', 'a']) {
    uses.note(key);
    clock.time += 10;
  }
  t.same(written, [], 'no call writes anything');
  t.equal(uses.latest('a', undefined), 1020);
  t.equal(uses.latest('c', undefined), null);
  t.equal(uses.latest('c', 7), 7);
  const timer = uses.timer();
  t.equal(timer.periodMs, MINUTE_MS);
  t.equal(await timer.run(new AbortController().signal), '2 written');
  t.same(written, [
    [
      { keyId: 'a', at: 1020 },
      { keyId: 'b', at: 1010 },
    ],
  ]);
  t.equal(await uses.write(), 0, 'and nothing twice');
  t.same(
    await uses.ofTenant('t'),
    new Map([
      ['a', 1020],
      ['b', 1010],
    ]),
  );
});

t.test('what the store does not take is kept, and the end is not held up', async (t) => {
  const { written, disk, uses } = open();
  uses.note('a');
  disk.full = true;
  await t.rejects(uses.write());
  await uses.close();
  t.equal(uses.latest('a', undefined), 1000);
  disk.full = false;
  await uses.close();
  t.same(written, [[{ keyId: 'a', at: 1000 }]]);
});

t.test('a call while the last ones are being written is not lost', async (t) => {
  const { clock, written, uses, disk } = open();
  uses.note('a');
  disk.onWrite = () => {
    clock.time = 2000;
    uses.note('a');
    disk.onWrite = () => {};
  };
  await uses.write();
  await uses.write();
  t.same(
    written.flat().map(({ at }) => at),
    [1000, 2000],
  );
});

t.test('very many keys are written in several verbs', async (t) => {
  const { written, uses } = open();
  for (let n = 0; n < 1200; n++) uses.note(`key ${n}`);
  t.equal(await uses.write(), 1200);
  t.same(
    written.map((batch) => batch.length),
    [500, 500, 200],
  );
});
