// A real Postfix as receiving server: Debian's binaries with a configuration and a queue of their
// own in a temporary folder. One Postfix can listen at several loopback addresses, each with
// settings of its own, and keeps what it takes in a maildir.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeServerFolder, runServer } from './server-program.ts';

const PROGRAM = '/usr/sbin/postfix';
// Started by itself, because `postfix start-fg` would stand between us and the process to stop.
const MASTER = '/usr/lib/postfix/sbin/master';

/** Why there is none here, or false: the `skip` of a test. */
export const noPostfix: string | false = !existsSync(PROGRAM)
  ? `${PROGRAM} is not installed: apt-get install postfix`
  : process.getuid?.() === 0
    ? false
    : 'Postfix is started by root only';

export interface PostfixOptions {
  port: number;
  /** Address → settings of main.cf that hold there only. */
  listeners: Record<string, Record<string, string>>;
  /** Settings of main.cf for all of them. */
  settings?: Record<string, string>;
  /** Domain or address → transport and next hop; everything else stays in its mailbox. */
  routes?: Record<string, string>;
}

export interface Postfix {
  /** Waits until a mail with this line is in the mailbox: Postfix delivers some time after its 250. */
  mailWith(line: string): Promise<string>;
  log(): Promise<string>;
  close(): Promise<void>;
}

const NOBODY = 65_534;
const LOOK_AGAIN_AFTER_MS = 20;

const SERVICES = `
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
tlsmgr    unix - - n 1000? 1 tlsmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
proxymap  unix - - n - - proxymap
anvil     unix - - n - 1 anvil
error     unix - - n - - error
retry     unix - - n - - error
virtual   unix - n n - - virtual
smtp      unix - - n - - smtp
lmtp      unix - - n - - lmtp
postlog   unix-dgram n - n - 1 postlogd
`;

export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const folder = makeServerFolder('postfix');
  const inside = (name: string) => path.join(folder, name);
  for (const name of ['conf', 'queue', 'data', 'mail']) await fs.mkdir(inside(name));
  const { uid, gid } = await userOf('postfix');
  await fs.chown(inside('data'), uid, gid);
  await fs.chown(inside('mail'), NOBODY, NOBODY);
  await fs.writeFile(
    inside('conf/main.cf'),
    asSettings({ ...ownSettings(folder), ...routing(options.routes), ...options.settings }),
  );
  const listeners = Object.entries(options.listeners).map(([address, settings]) => {
    const overrides = Object.entries(settings).map(([name, value]) => `  -o { ${name} = ${value} }`);
    return [`${address}:${options.port} inet n - n - - smtpd`, ...overrides].join('\n');
  });
  await fs.writeFile(inside('conf/master.cf'), `${listeners.join('\n')}${SERVICES}`);
  execFileSync(PROGRAM, ['-c', inside('conf'), 'check']); // makes the folders of the queue
  const server = runServer(MASTER, ['-c', inside('conf')]);
  const log = () => fs.readFile(inside('log'), 'utf8').catch(() => '');
  try {
    await server.answersAt(Object.keys(options.listeners), options.port);
  } catch (error) {
    throw new Error(`${String(error)}\n${await log()}`);
  }
  return {
    async mailWith(line) {
      for (;;) {
        const mails = await readMaildir(inside('mail/inbox/new'));
        const found = mails.find((mail) => mail.split('\n').includes(line));
        if (found !== undefined) return found;
        await pause(LOOK_AGAIN_AFTER_MS);
      }
    },
    log,
    async close() {
      await server.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

async function readMaildir(folder: string): Promise<string[]> {
  const names = await fs.readdir(folder).catch(() => []);
  return Promise.all(names.map((name) => fs.readFile(path.join(folder, name), 'utf8')));
}

function routing(routes: Record<string, string> | undefined): Record<string, string> {
  if (!routes) return {};
  const entries = Object.entries(routes).map(([place, nextHop]) => `{ ${place} = ${nextHop} }`);
  return { transport_maps: `inline:{ ${entries.join(', ')} }` };
}

function ownSettings(folder: string): Record<string, string> {
  return {
    compatibility_level: '3.6',
    queue_directory: `${folder}/queue`,
    data_directory: `${folder}/data`,
    maillog_file: `${folder}/log`,
    maillog_file_prefixes: folder,
    command_directory: '/usr/sbin',
    daemon_directory: '/usr/lib/postfix/sbin',
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    myhostname: 'mx.rcpt.test',
    mydestination: '',
    alias_maps: '',
    // The listeners name their addresses; this one must be a real interface.
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    // Nobody is trusted, and nobody is looked up.
    mynetworks: '192.0.2.1/32',
    smtpd_peername_lookup: 'no',
    smtpd_relay_restrictions: 'reject_unauth_destination',
    // Mail for everybody, into one mailbox.
    virtual_mailbox_domains: 'static:all',
    virtual_mailbox_base: `${folder}/mail`,
    virtual_mailbox_maps: 'static:inbox/',
    virtual_uid_maps: `static:${NOBODY}`,
    virtual_gid_maps: `static:${NOBODY}`,
  };
}

function asSettings(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

async function userOf(name: string): Promise<{ uid: number; gid: number }> {
  const line = (await fs.readFile('/etc/passwd', 'utf8')).split('\n').find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = (line ?? '').split(':');
  if (!uid || !gid) throw new Error(`there is no user ${name}`);
  return { uid: Number(uid), gid: Number(gid) };
}
