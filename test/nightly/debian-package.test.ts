// The Debian package in clean roots of Debian 12 and 13: installed with nothing but what it depends on, started as its unit
// would be, upgraded with mail in the queue, removed, purged. systemd's part is the test's (test/support/installed-package.ts).
// The version before is the same tree under a lower number: there is no release yet. lintian looks at it, and two builds are
// the same to the byte. On the architecture of this machine only.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runInside } from '../support/clean-checkout.ts';
import { newRoot, noRoot } from '../support/debian-root.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { asMachine, buildPackage, commandJson, dpkg, startUnit, whenAsked } from '../support/installed-package.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { testFolder } from '../support/test-folder.ts';
import { addReceiver, RECEIVER, registerSender, send, stateOf } from '../support/world.ts';

const OLD = '0.0.9';
const NEW = '99.0.0';
const noLintian = spawnSync('lintian', ['--version']).error !== undefined;

t.test('the Debian package', { skip: noRoot() }, async (t) => {
  const out = testFolder(t);
  const [older, newer] = [buildPackage(out, OLD), buildPackage(out, NEW)];
  const again = buildPackage(path.join(out, 'again'), NEW);
  t.equal(
    path.basename(newer),
    `postrider_${NEW}_${execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()}.deb`,
  );
  t.ok(fs.readFileSync(newer).equals(fs.readFileSync(again)), 'two builds have the same bytes');

  t.test('lintian', { skip: noLintian && 'lintian is not here: apt-get install lintian' }, async (t) => {
    const options = ['--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0'];
    const { status, stdout } = spawnSync('lintian', [...options, newer], { encoding: 'utf8' });
    t.equal(status, 0, 'finds no error and no warning');
    t.equal(stdout, '');
    const overrides = fs.readFileSync(
      path.join(import.meta.dirname, '../../packaging/debian/lintian-overrides'),
      'utf8',
    );
    for (const block of overrides.split(/(?<=^postrider: .*\n)(?=#)/m))
      t.match(block, /^# /, 'each override has its reason');
  });

  for (const suite of ['bookworm', 'trixie']) {
    t.test(`Debian ${suite}`, async (t) => {
      const depends = execFileSync('dpkg-deb', ['--field', newer, 'Depends'], { encoding: 'utf8' });
      // systemd for its offline commands; how it is asked to start and stop is played by the test.
      const packages = [...depends.split(',').map((one) => one.trim().split(' ')[0]!), 'systemd'];
      const machine = asMachine(await newRoot(t, suite, packages));
      for (const file of [older, newer]) fs.cpSync(file, path.join(machine.folder, path.basename(file)));
      const inside = (file: string) => fs.existsSync(path.join(machine.root, file));
      const shell = async (command: string) => (await runInside(machine, command)).output.trim();
      const before = await shell('find / -xdev -not -path "/proc/*" | sort');

      const installed = await dpkg(machine, '--install', path.basename(older));
      t.equal(installed.code, 0, installed.output);
      t.equal(await shell('postrider --version'), OLD);
      t.equal(await shell('systemctl is-enabled postrider'), 'disabled', 'not enabled by itself');
      const owners = await shell('stat --format "%U %a" /var/lib/postrider /var/backups/postrider');
      t.equal(owners, 'postrider 700\npostrider 700', 'the data folder, and that of the nightly backup');
      t.equal(await shell('systemd-analyze verify --man=no postrider.service 2>&1 | grep postrider'), '');
      const completion = '. /usr/share/bash-completion/completions/postrider; complete -p postrider';
      t.match(await shell(`bash -c '${completion}'`), /_postrider/);
      const linked =
        'file=$(find /usr/lib/postrider -name "*.node"); ldd $file /usr/lib/postrider/node_modules/.bin/node';
      t.notMatch(await shell(linked), /not found/, 'what it depends on is enough');

      let isRefusing = false;
      const sink = await startMailSink({ onRcpt: () => (isRefusing ? { code: 451, text: '4.2.0 later' } : null) });
      const dns = await startDnsServer();
      t.teardown(() => Promise.all([sink.close(), dns.close()]));
      addReceiver(dns, RECEIVER);
      fs.writeFileSync(
        path.join(machine.root, 'etc/postrider/postrider.toml'),
        `[http]\nport = 0\n[smtp]\nhost = "127.0.0.1"\nport = 0\n[service]\nbase_url = "https://mail.postrider.test"
[dns]\nservers = ["${dns.endpoint}"]\nauthority_port = ${dns.port}\nallow_private = true
[delivery]\nport = ${sink.port}\nallow_private = true\nretry_steps = ["100ms", "200ms", "400ms"]
[intake]\nmin_disk_free = 0\n`,
      );
      await shell('systemctl enable postrider');
      const first = await startUnit(t, machine);
      const postrider = { json: (...args: string[]) => commandJson(machine, ...args) };
      const sender = await registerSender({ dns, postrider }, first);
      const [delivered] = await send(first, sender, `ann@${RECEIVER}`);
      await first.logged({ fact: 'delivered', message_id: delivered! });
      t.equal(sink.mails.length, 1, 'a mail goes out');
      t.equal(
        (await fetch(`http://127.0.0.1:${first.httpPort}/docs/guide`)).status,
        200,
        'the documentation is served',
      );

      await shell(`dpkg --extract ${path.basename(newer)} /tmp/newer`);
      const unpacked = '/tmp/newer/usr/lib/postrider/bin/postrider';
      t.equal(await shell(`${unpacked} --version`), NEW, 'a package that is only unpacked can be asked');
      t.match(await shell(`${unpacked} upgrade --check`), /\S/);
      await shell('rm -r /tmp/newer');

      isRefusing = true;
      const [waiting] = await send(first, sender, `bob@${RECEIVER}`);
      await first.logged({ fact: 'deferred', message_id: waiting! });
      const upgrading = dpkg(machine, '--install', path.basename(newer));
      const code = await whenAsked(machine, 'stop', () => first.stop());
      t.equal(code, 0, 'the upgrade stops the daemon, which drains');
      isRefusing = false;
      const second = await whenAsked(machine, 'start', () => startUnit(t, machine));
      const upgraded = await upgrading;
      t.equal(upgraded.code, 0, upgraded.output);
      t.equal(await shell('postrider --version'), NEW);
      await second.logged({ fact: 'delivered', message_id: waiting! });
      t.equal(await stateOf(second, sender, waiting!), 'delivered', 'mail of the version before is delivered after');
      t.match(fs.readFileSync(path.join(machine.root, 'etc/postrider/postrider.toml'), 'utf8'), 'mail.postrider.test');
      t.equal(await shell('systemctl is-enabled postrider'), 'enabled');
      const found = 'find /usr/lib/postrider | sort >/tmp/found; dpkg --listfiles postrider | sort >/tmp/listed';
      t.equal(await shell(`${found}; comm -23 /tmp/found /tmp/listed`), '', 'the program makes no files beside itself');
      t.match(await shell('dpkg --verify postrider'), /^\S+ c \/etc\/postrider\/postrider\.toml$/, 'and changes none');

      const removing = dpkg(machine, '--remove', 'postrider');
      await whenAsked(machine, 'stop', () => second.stop());
      const removed = await removing;
      t.equal(removed.code, 0, removed.output);
      t.notOk(inside('usr/lib/postrider'), 'no program after the removal');
      t.ok(
        inside('var/lib/postrider/postrider.db') && inside('etc/postrider/postrider.toml'),
        'data and configuration stay',
      );

      fs.writeFileSync(path.join(machine.root, 'etc/postrider/master.key'), 'of an operator');
      const backup = suite === 'bookworm' ? 'var/backups/postrider/postrider-1.db' : null;
      if (backup) fs.writeFileSync(path.join(machine.root, backup), 'a backup');
      const purged = await dpkg(machine, '--purge', 'postrider');
      t.equal(purged.code, 0, purged.output);
      const after = (await shell('find / -xdev -not -path "/proc/*" | sort')).split('\n');
      const left = after.filter((name) => !before.split('\n').includes(name) && !KEPT.test(name));
      t.same(left, [], 'nothing is left but what an operator made, and the user');
      t.ok(inside('etc/postrider/master.key'), 'the key stays, for backups');
      if (backup) t.ok(inside(backup), 'and so do they');
      else t.notOk(inside('var/backups/postrider'), 'their folder goes if it is empty');
      t.match(await shell('getent passwd postrider'), /nologin$/, 'the user stays, so that its ID is not used again');
    });
  }
});

/** The operator's folder, the old lists of users, what adduser, systemd, dpkg and man keep for themselves. */
const KEPT = new RegExp(
  `^/(?:${[
    'etc/postrider(?:/master\\.key)?',
    'var/backups/postrider(?:/postrider-1\\.db)?',
    'etc/(?:passwd|group|g?shadow)-',
    'run/(?:adduser|systemd/systemd-units-load)',
    'var/(?:lib/dpkg|cache|log)/.*',
    '(?:srv|dev|tmp)/.*',
  ].join('|')})$`,
);
