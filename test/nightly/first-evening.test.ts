// The first evening of docs/operate.md, timed: in a root of Debian with nothing but what the package depends on, from its
// installation to a mail that has arrived, in five commands. Real: the package, DNS, an ACME directory (pebble), a receiving
// server, curl, ports 80 and 443. The test stands in for systemd, and for the person who publishes the zone file.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runInside } from '../support/clean-checkout.ts';
import { newRoot, noRoot } from '../support/debian-root.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { asMachine, buildPackage, dpkg, type Machine, startUnit, whenAsked } from '../support/installed-package.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { pebbleMissing, startPebble } from '../support/pebble.ts';
import { NO_ZONE_READER } from '../support/read-zone.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';
import { addReceiver, RECEIVER } from '../support/world.ts';
import { publish } from '../thorough/cli/setup-world.ts';

const HOST = 'mail.service.test';
const IP = '198.41.0.4';
const HTTP_PORT = 80;
const MINUTE_MS = 60_000;

t.test('from a bare root to the first mail', { skip: noRoot() || pebbleMissing() || NO_ZONE_READER }, async (t) => {
  const file = buildPackage(testFolder(t), '1.0.0');
  const depends = execFileSync('dpkg-deb', ['--field', file, 'Depends'], { encoding: 'utf8' });
  const packages = [...depends.split(',').map((one) => one.trim().split(' ')[0]!), 'systemd', 'curl'];
  const machine = asMachine(await newRoot(t, 'bookworm', packages));
  // Before anything else wants a folder of this test: it would begin empty.
  fs.cpSync(file, path.join(machine.folder, path.basename(file)));
  const world = await startAround(t, machine);
  const steps: string[] = [];
  let since = performance.now();
  const noteStep = (what: string) => {
    steps.push(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
    since = performance.now();
  };
  const shell = async (command: string) => {
    const { code, output } = await runInside(machine, command);
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
    return output;
  };

  const installed = await dpkg(machine, '--install', path.basename(file));
  t.equal(installed.code, 0, installed.output);
  noteStep('1. the package is installed');

  fs.appendFileSync(path.join(machine.root, 'etc/postrider/postrider.toml'), world.configuration);
  const answers = `--host ${HOST} --https self --operator me@acme.test --domain acme.test --address ${IP}`;
  const [program, ...args] = machine.inside(`exec postrider setup --yes --wait ${answers}`);
  const setup = spawn(program, args, { env: machine.env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => setup.kill('SIGKILL'));
  let printed = '';
  setup.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = once(setup, 'close');
  const unit = await whenAsked(machine, 'start', () => startUnit(t, machine));
  await until('the records', () => printed.includes('Checking again until all are right'), MINUTE_MS);
  noteStep('2. postrider setup has started the service, and shows the DNS records');
  publish(world.dns, await shell(`postrider dns --zone --address ${IP}`));
  noteStep('3. a person publishes the zone file');
  t.same((await ended)[0], 0, printed);
  t.match(printed, `Certificate for ${HOST}: valid until 20`);
  noteStep('   postrider setup sees the records, gets the certificate, and verifies the domain');

  const curl = /^curl .*?'\n(?=\n|$)/ms.exec(`${printed}\n`)?.[0].trim() ?? '';
  t.match(curl, `curl 'https://${HOST}/emails'`);
  const reachable = `--silent --show-error --fail --resolve ${HOST}:443:127.0.0.1 --cacert /srv/postrider/issuer.pem`;
  const accepted = await shell(curl.replace('me@acme.test', `ann@${RECEIVER}`).replace('curl ', `curl ${reachable} `));
  const [id] = (JSON.parse(accepted) as { message_ids: string[] }).message_ids;
  await unit.logged({ fact: 'delivered', message_id: id! });
  noteStep('4. the curl line of postrider setup; the mail has arrived');
  t.match(world.sink.mails[0]?.raw.toString(), /^DKIM-Signature: .*d=acme\.test/ms);
  t.match(await shell(`postrider queue show ${id}`), /state: +delivered/);
  noteStep('5. postrider queue show');
  t.equal(await unit.stop(), 0, `note: ${steps.join('; ')}`);
});

/** Everything that the Internet would have, and the lines of configuration that lead there instead. */
async function startAround(t: Parameters<typeof startPebble>[0], machine: Machine) {
  const [dns, outside, sink] = await Promise.all([
    startDnsServer(),
    // As the directory sees the world: the machine is this one.
    startDnsServer({ records: { [HOST]: { A: ['127.0.0.1'] } } }),
    startMailSink(),
  ]);
  t.teardown(() => Promise.all([dns.close(), outside.close(), sink.close()]));
  for (const zone of ['service.test', 'acme.test', 'in-addr.arpa']) dns.addZone(zone);
  addReceiver(dns, RECEIVER);
  const pebble = await startPebble(t, { dns: outside, httpPort: HTTP_PORT });
  fs.writeFileSync(path.join(machine.folder, 'directory.pem'), pebble.root);
  fs.writeFileSync(path.join(machine.folder, 'issuer.pem'), pebble.issuerRoot);
  return { dns: dns as TestDnsServer, sink, configuration: configurationFor({ dns, sink, pebble }) };
}

interface Around {
  dns: { endpoint: string; port: number };
  sink: { port: number };
  pebble: { directory: string };
}

function configurationFor({ dns, sink, pebble }: Around): string {
  return `
[dns]
servers = ["${dns.endpoint}"]
authority_port = ${dns.port}
allow_private = true
[delivery]
port = ${sink.port}
allow_private = true
[smtp]
port = 0
[doctor]
mail_domains = ["${RECEIVER}"]
known_domains = ["${RECEIVER}"]
time_sources = []
blocklists = []
[intake]
min_disk_free = 0
[tls]
acme_directory = "${pebble.directory}"
acme_root = "/srv/postrider/directory.pem"
`;
}
