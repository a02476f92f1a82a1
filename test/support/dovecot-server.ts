// A real Dovecot with Sieve (Pigeonhole) that takes mail by LMTP: Debian's binaries with a configuration and
// mailboxes of their own in a temporary folder. What its scripts answer goes out by SMTP.
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { makeServerFolder, runServer } from './server-program.ts';

const PROGRAM = '/usr/sbin/dovecot';
const SIEVE = '/usr/lib/dovecot/modules/lib90_sieve_plugin.so';
const LMTP = '/usr/lib/dovecot/lmtp';

/** Why there is none here, or false: the `skip` of a test. */
export const noDovecot: string | false = ![PROGRAM, SIEVE, LMTP].every(existsSync)
  ? `${PROGRAM}, its LMTP or its Sieve is not installed: apt-get install dovecot-lmtpd dovecot-sieve`
  : process.getuid?.() === 0
    ? false
    : 'Dovecot is started by root only';

export interface DovecotOptions {
  address: string;
  port: number;
  /** The server that gets what scripts answer. */
  submission: { address: string; port: number };
  /** Mailboxes, `user@domain`, and their Sieve scripts; nobody else is known. */
  scripts: Record<string, string>;
}

export interface Dovecot {
  log(): Promise<string>;
  close(): Promise<void>;
}

const OWNER_ID = 65_534;

export async function startDovecot(options: DovecotOptions): Promise<Dovecot> {
  const folder = makeServerFolder('dovecot');
  const inside = (name: string) => path.join(folder, name);
  for (const name of ['run', 'state', 'home']) await fs.mkdir(inside(name));
  const users: string[] = [];
  for (const [user, script] of Object.entries(options.scripts)) {
    await fs.mkdir(inside(`home/${user}`));
    await fs.writeFile(inside(`home/${user}/own.sieve`), script);
    await fs.chown(inside(`home/${user}`), OWNER_ID, OWNER_ID);
    users.push(`${user}:{PLAIN}x:${OWNER_ID}:${OWNER_ID}::${inside(`home/${user}`)}::\n`);
  }
  await fs.writeFile(inside('users'), users.join(''));
  await fs.writeFile(inside('conf'), configuration(folder, options));
  const server = runServer(PROGRAM, ['-F', '-c', inside('conf')]);
  const log = () => fs.readFile(inside('log'), 'utf8').catch(() => '');
  try {
    await server.answersAt([options.address], options.port);
  } catch (error) {
    throw new Error(`${String(error)}\n${await log()}`);
  }
  return {
    log,
    async close() {
      await server.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, { address, port, submission }: DovecotOptions): string {
  return `
protocols = lmtp
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
listen = ${address}
hostname = mx.dovecot.test
ssl = no
mail_location = maildir:~/mail
first_valid_uid = ${OWNER_ID}
submission_host = ${submission.address}:${submission.port}
postmaster_address = postmaster@mx.dovecot.test
passdb {
  driver = passwd-file
  args = ${folder}/users
}
userdb {
  driver = passwd-file
  args = ${folder}/users
}
service lmtp {
  inet_listener lmtp {
    address = ${address}
    port = ${port}
  }
}
protocol lmtp {
  mail_plugins = sieve
}
plugin {
  sieve = ~/own.sieve
}
`;
}
