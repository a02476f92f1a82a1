// A Postfix of its own, from Debian's package, for comparison: SMTP in, SMTP out to the sink, its queue
// in the folder that is measured and durable as it is by default; with OpenDKIM as a milter on a Unix
// socket when asked to sign. Needs root: its master process starts the others as other users.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface PostfixPlan {
  folder: string;
  sinkPort: number;
  signing: boolean;
}

export interface Postfix {
  smtpPort: number;
  stop(): Promise<void>;
}

const POSTFIX = '/usr/sbin/postfix';
const OPENDKIM = '/usr/sbin/opendkim';
const STARTS_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

/** Why it cannot be measured here; null when it can. */
export function postfixMissing(signing: boolean): string | null {
  if (process.getuid?.() !== 0) return 'needs root';
  if (!fs.existsSync(POSTFIX)) return 'Debian package postfix is not installed';
  if (signing && !fs.existsSync(OPENDKIM)) return 'Debian package opendkim is not installed';
  return null;
}

export async function startPostfix({ folder, sinkPort, signing }: PostfixPlan): Promise<Postfix> {
  // Postfix' processes run as other users, and have to get to their queue.
  for (let above = folder; above !== path.dirname(above); above = path.dirname(above)) openToAll(above);
  const milter = signing ? await startOpenDkim(folder) : null;
  const smtpPort = await freePort();
  const config = writeConfig(folder, { smtpPort, sinkPort, milterSocket: milter?.socket ?? null });
  const postfix = (command: string) => execFileSync(POSTFIX, ['-c', config, command], { stdio: 'ignore' });
  const stop = async () => {
    postfix('stop');
    await milter?.stop();
  };
  postfix('start');
  try {
    await answers({ host: '127.0.0.1', port: smtpPort });
  } catch (error) {
    await stop();
    throw error;
  }
  return { smtpPort, stop };
}

function openToAll(folder: string): void {
  if (fs.existsSync(folder) && folder.includes('postrider-bench-')) fs.chmodSync(folder, 0o755);
}

interface Ports {
  smtpPort: number;
  sinkPort: number;
  milterSocket: string | null;
}

function writeConfig(folder: string, { smtpPort, sinkPort, milterSocket }: Ports): string {
  const [config, queue, data] = ['config', 'queue', 'data'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [config, queue, data]) fs.mkdirSync(each, { recursive: true, mode: 0o755 });
  execFileSync('chown', ['postfix', data]);
  const log = path.join(folder, 'log');
  const main = {
    compatibility_level: '3.6',
    queue_directory: queue,
    data_directory: data,
    maillog_file: log,
    maillog_file_prefixes: folder,
    myhostname: 'postfix.bench.test',
    mydestination: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    relayhost: `[127.0.0.1]:${sinkPort}`,
    alias_maps: '',
    ...(milterSocket !== null && { smtpd_milters: `unix:${milterSocket}`, milter_default_action: 'tempfail' }),
  };
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}\n`);
  fs.writeFileSync(path.join(config, 'main.cf'), lines.join(''));
  fs.writeFileSync(path.join(config, 'master.cf'), masterOf(smtpPort));
  return config;
}

/** Debian's services, as far as a relay needs them, and none in a chroot. */
function masterOf(smtpPort: number): string {
  return `127.0.0.1:${smtpPort} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;
}

async function startOpenDkim(folder: string): Promise<{ socket: string; stop(): Promise<void> }> {
  const milterFolder = path.join(folder, 'opendkim');
  fs.mkdirSync(milterFolder, { recursive: true, mode: 0o755 });
  const socket = path.join(milterFolder, 'socket');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keyFile = path.join(milterFolder, 'key.pem');
  fs.writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const config = path.join(milterFolder, 'opendkim.conf');
  const lines = [
    ...['Mode s', 'Syslog no', 'UMask 000', 'Canonicalization relaxed/relaxed', 'Background no'],
    ...['Domain sender.test', 'Selector s1', `KeyFile ${keyFile}`, `Socket local:${socket}`, 'InternalHosts 127.0.0.1'],
    'RequireSafeKeys no', // the folder of a run may lie below one that all may write to
    '',
  ];
  fs.writeFileSync(config, lines.join('\n'));
  const child = spawn(OPENDKIM, ['-f', '-x', config], { stdio: 'ignore' });
  const stop = () => end(child);
  for (const deadline = Date.now() + STARTS_WITHIN_MS; !fs.existsSync(socket); await pause(LOOK_EVERY_MS)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('opendkim does not start');
  }
  return { socket, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function answers(at: { host: string; port: number }): Promise<void> {
  for (const deadline = Date.now() + STARTS_WITHIN_MS; ; await pause(LOOK_EVERY_MS)) {
    const socket = connect(at);
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    } finally {
      socket.destroy();
    }
  }
}
