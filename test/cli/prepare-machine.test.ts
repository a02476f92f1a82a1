// User, folders and unit in the root of another system: made once, and what a package has brought stays.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { type MachineKit, prepareMachine } from '../../src/operator/prepare-machine.ts';
import { testFolder } from '../support/test-folder.ts';

/** The working folder of tests is the checkout. By this name it lies where the unit can see it, wherever it is. */
const CHECKOUT = '/proc/self/cwd';
const NEEDS_ROOT = { skip: process.getuid?.() === 0 ? false : 'useradd needs root' };

t.test('a bare system gets all, once', NEEDS_ROOT, async (t) => {
  const root = testFolder(t, {
    etc: { passwd: 'root:x:0:0:root:/root:/bin/sh\n', group: 'root:x:0:\n', shadow: '', gshadow: '' },
    run: { systemd: { system: {} } },
    var: {
      lib: { postrider: { 'postrider.db': '', 'postrider-schema-0034-20261126T060000Z.db': '', 'notes.txt': '' } },
    },
  });
  const asked: string[] = [];
  const run: MachineKit['run'] = async (command, args) => {
    asked.push([command, ...args].join(' '));
    // systemd is another machine's; everything else is the real command.
    if (command !== 'systemctl') await promisify(execFile)(command, args);
  };
  const kit = { root, checkout: CHECKOUT, run };
  const units = ['postrider.service', 'postrider-backup.service', 'postrider-backup.timer'].map((name) =>
    path.join(root, 'etc/systemd/system', name),
  );
  const first = await prepareMachine(kit, { dir: '/var/lib/postrider' });
  t.same(first.created, [
    'user postrider',
    `folder ${path.join(root, 'var/backups/postrider')}`,
    ...units.map((unit) => `unit ${unit}`),
  ]);
  t.equal(first.unit.kind, 'ready');
  t.not(first.user.uid, 0);
  for (const unit of units.slice(0, 2)) {
    const text = fs.readFileSync(unit, 'utf8');
    t.match(text, new RegExp(`^ExecStart=.*${CHECKOUT}/`, 'm'));
    t.notMatch(text, '/opt/postrider', 'nothing of another checkout');
  }
  t.ok(asked.includes('systemctl daemon-reload'));
  const ownerOf = (file: string) => fs.statSync(path.join(root, 'var/lib/postrider', file)).uid;
  t.equal(ownerOf('postrider.db'), first.user.uid, 'what root has made becomes the service’s');
  t.equal(ownerOf('postrider-schema-0034-20261126T060000Z.db'), first.user.uid);
  t.equal(ownerOf('notes.txt'), 0, 'nothing else does');

  fs.rmSync(units[2]!);
  t.same(
    (await prepareMachine(kit, { dir: '/var/lib/postrider' })).created,
    [`unit ${units[2]}`],
    'only what is missing',
  );

  fs.rmSync(path.join(root, 'etc/systemd'), { recursive: true, force: true });
  const odd = await prepareMachine({ ...kit, checkout: '/home/me/postrider' }, { dir: '/var/lib/postrider' });
  t.match(odd, { created: [], unit: { kind: 'none', reason: /can't run a program below \/home\/: move/ } });
  const spaced = await prepareMachine({ ...kit, checkout: '/opt/post rider' }, { dir: '/var/lib/postrider' });
  t.match(spaced.unit, { kind: 'none', reason: /without spaces/ });
  const closed = path.join(root, 'closed');
  fs.mkdirSync(path.join(closed, 'postrider'), { recursive: true });
  fs.chmodSync(closed, 0o700);
  const hidden = await prepareMachine(
    { ...kit, checkout: path.join(closed, 'postrider') },
    { dir: '/var/lib/postrider' },
  );
  t.match(hidden.unit, { kind: 'none', reason: `only its owner can enter ${closed}: move` });
  fs.rmSync(path.join(root, 'run/systemd'), { recursive: true });
  const bare = await prepareMachine(kit, { dir: '/var/lib/postrider' });
  t.match(bare.unit, { kind: 'none', reason: 'systemd does not run here' });
  t.equal(asked.filter((command) => command.startsWith('useradd')).length, 1);
});
