// What the commands for daemons that share a database say: of those that live, and of those that don't.
import path from 'node:path';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newProgram, type Program } from '../support/program.ts';

const LEASE_MS = 10_000;
const LONG_AGO_MS = 60_000;
/** A daemon that ends says so. */
const STOPPED = null;

interface Stage extends Program {
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Heard of that long ago, on so many slots. */
  add(node: string, heardMsAgo: number | null, slots?: number): Promise<void>;
  says(...args: string[]): Promise<string>;
}

async function openStage(t: Test): Promise<Stage> {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('migrate');
  const withStore: Stage['withStore'] = async (work) => {
    const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const stage: Stage = {
    ...program,
    withStore,
    add: (node, heardMsAgo, slots = 0) =>
      withStore(async ({ owners }) => {
        const now = heardMsAgo === STOPPED ? 0 : Date.now() - heardMsAgo;
        const leaseUntil = heardMsAgo === STOPPED ? 0 : now + LEASE_MS;
        await owners.takeSlots({ node, slots, now, leaseUntil, endedBy: -1 });
        await owners.keepSlots({ node, version: '1.0.0', startedAt: 1, owners: [], now, leaseUntil });
      }),
    async says(...args) {
      const { stdout, stderr } = await program.runHere(...args);
      return (stdout + stderr).trim();
    },
  };
  return stage;
}

async function names({ json }: Stage): Promise<unknown[]> {
  return ((await json('nodes', 'list')).nodes as { node: string }[]).map(({ node }) => node);
}

t.test('a daemon that is gone is forgotten, one that lives is not', async (t) => {
  const stage = await openStage(t);
  await stage.add('mail-1', 0, 2);
  await stage.add('mail-2', LONG_AGO_MS, 2);
  await stage.add('mail-3', STOPPED);
  await stage.add('mail-4', LONG_AGO_MS);

  t.match(await stage.runHere('nodes', 'forget', 'mail-1'), {
    code: 1,
    stderr: /mail-1 is alive, and would be listed again within some seconds\. Stop its daemon first/,
  });
  t.match(await stage.runHere('nodes', 'forget', 'mial-3'), {
    code: 1,
    stderr: /no node is called mial-3 \(did you mean mail-3\?\); there are: mail-1, mail-2, mail-3, mail-4/,
  });
  t.same(await names(stage), ['mail-1', 'mail-2', 'mail-3', 'mail-4'], 'a refusal changes nothing');

  t.match(await stage.says('nodes', 'forget', 'mail-3'), /^mail-3 is forgotten\. If its daemon starts again/);
  t.same(await names(stage), ['mail-1', 'mail-2', 'mail-4']);
  t.same(await stage.json('nodes', 'forget', 'mail-2', '--reason', 'sold'), { node: 'mail-2' });
  t.same(await names(stage), ['mail-1', 'mail-4'], 'only the one that was named, although it had slots');
  t.match(await stage.runHere('nodes', 'forget', 'mail-2'), { code: 1, stderr: /no node is called mail-2 / });
});

t.test('one that is told to hand over shows that, also when it does not run', async (t) => {
  const stage = await openStage(t);
  await stage.add('mail-1', 0, 2);
  await stage.add('mail-2', 0, 2);
  await stage.add('mail-3', STOPPED);
  await stage.add('mail-4', LONG_AGO_MS);
  const state = async (node: string) => {
    const line = (await stage.says('nodes', 'list')).split('\n').find((one) => one.startsWith(node));
    return line!.split(/ {2,}/)[1];
  };

  t.match(await stage.says('nodes', 'drain', 'mail-2'), /^mail-2 begins nothing new and hands its slots over/);
  t.equal(await state('mail-2'), 'draining');
  await stage.withStore(async ({ owners }) => {
    const held = (await owners.listSlots()).filter(({ node }) => node === 'mail-2');
    t.equal(held.length, 2);
    await owners.letGoOfSlots(held);
  });
  t.equal(await state('mail-2'), 'drained');

  t.equal(
    await stage.says('nodes', 'drain', 'mail-3'),
    'mail-3 is stopped and has no slots to hand over. When it is back, it takes none until you run: postrider nodes resume mail-3',
  );
  t.match(await stage.says('nodes', 'drain', 'mail-4'), /^mail-4 is silent and has no slots to hand over\. /);
  t.equal(await state('mail-3'), 'stopped, drained');
  t.equal(await state('mail-4'), 'silent, drained');
  t.match((await stage.json('nodes', 'list')).nodes, [
    { state: 'alive', drained: false },
    { state: 'drained', drained: true },
    { state: 'stopped', drained: true },
    { state: 'silent', drained: true },
  ]);

  t.equal(
    await stage.says('nodes', 'resume', 'mail-3'),
    'mail-3 is stopped. When it is back, it takes its share of the mail.',
  );
  t.equal(await state('mail-3'), 'stopped');
  t.equal(await stage.says('nodes', 'resume', 'mail-2'), 'mail-2 takes its share within some seconds.');
  t.match(await stage.runHere('nodes', 'drain', 'mail-33'), { code: 1, stderr: /did you mean mail-3\?/ });
});

t.test('slots that nobody holds are an alarm only when nobody is about to take them', async (t) => {
  const stage = await openStage(t);
  const stuck = /^No daemon holds the slots 3, 4: the next living one takes them\.$/m;
  const moving = /^The slots 3, 4 are being handed over: a living daemon takes them within some seconds\.$/m;
  await stage.add('mail-1', 0, 2);
  await stage.add('mail-2', 0, 2);
  t.notMatch(await stage.says('nodes', 'list'), /The slots|No daemon/);
  await stage.json('nodes', 'drain', 'mail-2');
  const letGo = () =>
    stage.withStore(async ({ owners }) => {
      await owners.letGoOfSlots((await owners.listSlots()).filter(({ node }) => node === 'mail-2'));
    });
  await letGo();
  t.match(await stage.says('nodes', 'list'), moving);
  t.notMatch(await stage.says('nodes', 'list'), /No daemon/);
  t.match(await stage.json('nodes', 'list'), { free_slots: [3, 4], stuck_slots: [] });

  await stage.add('mail-1', LONG_AGO_MS);
  t.match(await stage.says('nodes', 'list'), moving, 'one that is drained takes them when no other is left');

  const dead = await openStage(t);
  await dead.add('mail-1', 0, 2);
  await dead.add('mail-2', LEASE_MS + 5000, 2);
  t.match(await dead.says('nodes', 'list'), moving, 'its lease has ended a moment ago');
  await dead.withStore(({ owners }) => {
    const now = Date.now() - LONG_AGO_MS;
    return owners.takeSlots({ node: 'mail-2', slots: 2, now, leaseUntil: now + LEASE_MS, endedBy: -1 });
  });
  t.match(await dead.says('nodes', 'list'), stuck, 'and a minute ago: somebody should have taken them');
  t.match(await dead.json('nodes', 'list'), { free_slots: [3, 4], stuck_slots: [3, 4] });
});
