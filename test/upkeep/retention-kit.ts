// What tests of retention start from: a real store, a clock that is moved, and short ways to finished messages.
import path from 'node:path';
import type { Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import type { WrittenMails } from '../../src/store/written-mails.ts';
import { eraseOld } from '../../src/upkeep/retention.ts';
import { Bench, countAll, T0 } from '../store/conformance/harness.ts';
import { testFolder } from '../support/test-folder.ts';

export async function openWorld(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const contents = openContentReader(file);
  t.teardown(async () => {
    contents.close();
    await store.close();
  });
  const bench = new Bench({ store, openContents: () => contents });
  const clock = { time: T0, now: () => clock.time };
  const swept: number[] = [];
  const sweep: WrittenMails['sweep'] = async (asked) => {
    const rows = await store.writtenMails.sweep(asked);
    swept.push(rows);
    return rows;
  };
  const goingOn: number[] = [];
  const kit = {
    store: { ...store, writtenMails: { sweep } },
    clock,
    contentDays: 30,
    recordsDays: 90,
    auditDays: 400,
    pause: (_ms: number): Promise<unknown> => new Promise(setImmediate),
    again: () => void goingOn.push(clock.time),
  };
  const never = new AbortController().signal;
  return {
    ...{ file, store, bench, clock, swept, kit, goingOn },
    erase: () => eraseOld(kit, never),
    hasContent: async (id: string) => (await contents.read(id)).kind === 'content',
    async finish(id: string, lane: number, at = T0, claimedAt = at) {
      const claimed = (await bench.claim(lane, claimedAt, 1000)).find((message) => message.id === id)!;
      const event = bench.event('email.delivered');
      await store.queue.record([{ ...bench.attempted(claimed, { to: 'delivered' }, event), at }]);
      await countAll(store);
    },
  };
}

/** One mail to so many recipients, finished at this time. */
export async function finishMany({ bench, store }: { bench: Bench; store: Store }, count: number, at: number) {
  const { domain } = await bench.sender('many.test');
  const recipients = Array.from({ length: count }, (_, index) => `a${index}@x.test`);
  const { lanes } = await bench.accept(domain, recipients);
  const claimed = await bench.claim(lanes[0]!.lane, T0, count);
  const end = (message: (typeof claimed)[number]) =>
    bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
  await store.queue.record(claimed.map((message) => ({ ...end(message), at })));
  await countAll(store);
}
