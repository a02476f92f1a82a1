// What a daemon must be sure of before it works beside others: that its clock agrees with the store's, and that nobody else
// has its name.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { joinNodes } from '../../src/daemon/join-nodes.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { NODE_LEASE_MS, type NodeView } from '../../src/store/owners.ts';
import { testFolder } from '../support/test-folder.ts';

const NOW = 1_000_000_000;

function start(t: Test, { aheadMs = 0, nodes = [] as NodeView[] } = {}) {
  const noteFile = path.join(testFolder(t), 'node.json');
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (_: object, text: string) => void warned.push(text) };
  const world = { storeNow: NOW, nodes, looks: 0, onLook() {} };
  const owners = {
    readClock: async () => world.storeNow,
    async listNodes() {
      world.looks++;
      world.onLook();
      return world.nodes;
    },
  };
  const kit = { store: { owners }, clock: { now: () => NOW + aheadMs }, log, noteFile, lookAgainMs: 0 };
  const join = () => joinNodes(kit, { node: 'a', version: '1.0.0', startedAt: NOW });
  return { world, join, warned, noteFile };
}

const namesake = (seenAt: number, startedAt = 1): NodeView => {
  return { node: 'a', version: '1.0.0', startedAt, seenAt, isDraining: false };
};

t.test('a clock five seconds off is refused', async (t) => {
  await t.rejects(
    start(t, { aheadMs: 5000 }).join(),
    /clock of this machine is 5\.0 s ahead of the database's.*start again/,
  );
  await t.rejects(start(t, { aheadMs: -7000 }).join(), /clock of this machine is 7\.0 s behind the database's/);
  await start(t, { aheadMs: -4999 }).join();
});

t.test('a name that nobody uses any more is taken at once', async (t) => {
  for (const nodes of [[], [namesake(0)], [namesake(NOW - NODE_LEASE_MS)], [{ ...namesake(NOW), node: 'b' }]]) {
    const { join, world } = start(t, { nodes });
    await join();
    t.equal(world.looks, 1);
  }
});

t.test('one whose leases are not over is waited for, and refused when somebody renews them', async (t) => {
  const dead = start(t, { nodes: [namesake(NOW - 1)] });
  dead.world.onLook = () => {
    dead.world.storeNow += NODE_LEASE_MS / 2;
  };
  await dead.join();
  t.ok(dead.world.looks > 1);
  t.match(dead.warned, [/a daemon called a was alive a moment ago/]);
  const alive = start(t, { nodes: [namesake(NOW - 1)] });
  alive.world.onLook = () => {
    if (alive.world.looks > 2) alive.world.nodes = [namesake(NOW)];
  };
  await t.rejects(alive.join(), /another daemon on the same database is called a as well/);
  t.equal(fs.existsSync(alive.noteFile), false);
});

t.test('the previous daemon of the data folder is dead, so its name is free', async (t) => {
  const first = start(t);
  await first.join();
  first.world.nodes = [namesake(NOW - 1, NOW)];
  await first.join();
  t.equal(first.world.looks, 2, 'one look each');
  first.world.nodes = [namesake(NOW - 1, NOW + 1)];
  first.world.onLook = () => {
    if (first.world.looks > 3) first.world.nodes = [namesake(NOW, NOW + 1)];
  };
  await t.rejects(first.join(), /is called a as well/, 'but not that of another start');
});
