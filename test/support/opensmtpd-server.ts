// A real OpenSMTPD that passes mail on, or keeps it in its queue. Debian's package excludes Postfix, so it is unpacked beside it
// (test/thorough/peers/unpack-opensmtpd). Users, spool and socket have names that are fixed in the program: it runs
// in a mount namespace of its own, in which those are its own.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeServerFolder, runServer } from './server-program.ts';

const ROOT = '/opt/postrider-opensmtpd/usr/sbin';
const PROGRAM = `${ROOT}/smtpd`;

/** Why there is none here, or false: the `skip` of a test. */
export const noOpenSmtpd: string | false = !existsSync(PROGRAM)
  ? `${PROGRAM} is not there: run test/thorough/peers/unpack-opensmtpd as root`
  : process.getuid?.() === 0
    ? false
    : 'OpenSMTPD is started by root only';

export interface OpenSmtpdOptions {
  address: string;
  port: number;
  /** Domain, and the server that mail for it goes to. None: mail for all domains stays in the queue. */
  routes?: { domain: string; address: string; port: number }[];
  /** Lines of smtpd.conf. */
  settings?: readonly string[];
}

export interface OpenSmtpd {
  /** Tries at once what waits; its first pause would be minutes. */
  retryAll(): Promise<void>;
  log(): string;
  close(): Promise<void>;
}

const [DAEMON_ID, QUEUE_ID] = [65_531, 65_532];

export async function startOpenSmtpd(options: OpenSmtpdOptions): Promise<OpenSmtpd> {
  const folder = makeServerFolder('opensmtpd');
  const inside = (name: string) => path.join(folder, name);
  for (const name of ['spool', 'run']) await fs.mkdir(inside(name), { mode: 0o711 });
  const [passwd, group] = [await fs.readFile('/etc/passwd', 'utf8'), await fs.readFile('/etc/group', 'utf8')];
  const users = { opensmtpd: DAEMON_ID, opensmtpq: QUEUE_ID };
  const lines = Object.entries(users).map(([name, id]) => `${name}:x:${id}:${id}::/:/usr/sbin/nologin\n`);
  const groups = Object.entries(users).map(([name, id]) => `${name}:x:${id}:\n`);
  await fs.writeFile(inside('passwd'), passwd + lines.join(''));
  await fs.writeFile(inside('group'), group + groups.join(''));
  await fs.writeFile(inside('conf'), configuration(options));
  const mounts = Object.entries({ passwd: '/etc/passwd', group: '/etc/group', spool: '/var/spool/smtpd', run: '/run' });
  const script = mounts.map(([own, place]) => `mount --bind ${inside(own)} ${place} && `).join('');
  const server = runServer('unshare', ['--mount', 'sh', '-c', `${script}exec ${PROGRAM} -d -f ${inside('conf')}`]);
  let log = '';
  for (const stream of [server.child.stdout, server.child.stderr]) stream?.on('data', (part) => (log += part));
  await server.answersAt([options.address], options.port);
  return {
    async retryAll() {
      const pid = String(server.child.pid);
      // It wants to be started with the group that its file would give it.
      const own = ['setpriv', '--regid', String(QUEUE_ID), '--clear-groups'];
      await promisify(execFile)('nsenter', ['--target', pid, '--mount', ...own, `${ROOT}/smtpctl`, 'schedule', 'all']);
    },
    log: () => log,
    async close() {
      await server.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

/** Nobody listens there. */
const NOWHERE = ['action "keep" relay host "smtp://127.0.0.1:9"', 'match from any for any action "keep"'];

function configuration({ address, port, routes, settings = [] }: OpenSmtpdOptions): string {
  const ways = routes?.flatMap((route, index) => [
    `action "hop${index}" relay host "smtp://${route.address}:${route.port}"`,
    `match from any for domain "${route.domain}" action "hop${index}"`,
  ]);
  return [...settings, `listen on ${address} port ${port} hostname mx.opensmtpd.test`, ...(ways ?? NOWHERE), ''].join(
    '\n',
  );
}
