// A real Exim as receiving server. Debian's packages of Exim and Postfix exclude each other, so its
// binary is unpacked beside Postfix (test/thorough/peers/unpack-exim) and run out of that folder, with a
// configuration and a spool of its own. Its user exists for this process alone (nss_wrapper).
import { existsSync, readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { makeServerFolder, runServer } from './server-program.ts';

const PROGRAM = '/opt/postrider-exim/usr/sbin/exim4';
const WRAPPER = 'libnss_wrapper.so';
const LIBRARIES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu'];
const wrapper = LIBRARIES.map((folder) => path.join(folder, WRAPPER)).find(existsSync);
const HOW = 'run test/thorough/peers/unpack-exim as root';

/** Why there is none here, or false: the `skip` of a test. */
export const noExim: string | false = !existsSync(PROGRAM)
  ? `${PROGRAM} is not there: ${HOW}`
  : wrapper === undefined
    ? `${WRAPPER} is not installed: ${HOW}`
    : process.getuid?.() === 0
      ? false
      : 'Exim is started by root only';

export interface EximOptions {
  address: string;
  port: number;
  /** Lines of the main section. */
  settings?: string[];
  /** The access control lists: what follows `begin acl`. */
  acl?: string[];
  /** Passes mail on, instead of keeping it in its spool. */
  relay?: EximRelay;
}

export interface EximRelay {
  /** Domains, or `*`, and the server that mail for them goes to; the first that fits counts. */
  routes: { domains: string; address: string; port: number }[];
  /** How often it tries what waits. */
  everySeconds: number;
}

export interface Exim {
  /** Ends whatever has a connection, in the middle of anything. */
  killConnections(): void;
  /** Bodies of what it has taken and keeps in its spool. */
  bodies(): Promise<string[]>;
  log(): Promise<string>;
  close(): Promise<void>;
}

// Any that nobody has; given up root, it reads and writes its own folder only.
const USER_ID = 65_533;

export async function startExim(options: EximOptions): Promise<Exim> {
  const folder = makeServerFolder('exim');
  const inside = (name: string) => path.join(folder, name);
  for (const name of ['spool', 'log', 'db']) {
    await fs.mkdir(inside(name));
    await fs.chown(inside(name), USER_ID, USER_ID);
  }
  const passwd = await fs.readFile('/etc/passwd', 'utf8');
  const group = await fs.readFile('/etc/group', 'utf8');
  await fs.writeFile(inside('passwd'), `${passwd}Debian-exim:x:${USER_ID}:${USER_ID}::/:/usr/sbin/nologin\n`);
  await fs.writeFile(inside('group'), `${group}Debian-exim:x:${USER_ID}:\n`);
  await fs.writeFile(inside('conf'), configuration(folder, options));
  const runs = options.relay ? [`-q${options.relay.everySeconds}s`] : [];
  const listen = ['-bdf', ...runs, '-oX', `${options.address}.${options.port}`];
  const server = runServer(PROGRAM, ['-C', inside('conf'), ...listen], {
    env: {
      PATH: process.env.PATH,
      LD_PRELOAD: wrapper,
      NSS_WRAPPER_PASSWD: inside('passwd'),
      NSS_WRAPPER_GROUP: inside('group'),
    },
  });
  const log = () => fs.readFile(inside('log/mainlog'), 'utf8').catch(() => '');
  try {
    await server.answersAt([options.address], options.port);
  } catch (error) {
    throw new Error(`${String(error)}\n${await log()}`);
  }
  const killConnections = () => {
    for (const child of childrenOf(server.child.pid!)) {
      try {
        process.kill(child, 'SIGKILL');
      } catch {} // it has just ended by itself
    }
  };
  return {
    killConnections,
    async bodies() {
      const names = await fs.readdir(inside('spool/input')).catch(() => []);
      const bodies = names.filter((name) => name.endsWith('-D'));
      const texts = await Promise.all(bodies.map((name) => fs.readFile(inside(`spool/input/${name}`), 'utf8')));
      return texts.map((text) => text.slice(text.indexOf('\n') + 1)); // the first line is the file's own name
    },
    log,
    async close() {
      // They would sleep on in a folder that is gone.
      killConnections();
      await server.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

/** The daemon forks for each connection. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

const KEEPING = [
  ...['begin routers', 'all:', '  driver = accept', '  transport = none'],
  ...['begin transports', 'none:', '  driver = appendfile', '  file = /dev/null', 'begin retry'],
];

function relaying({ routes, everySeconds }: EximRelay): string[] {
  const names = routes.map((route, index) => ({ ...route, name: `hop${index}` }));
  return [
    'begin routers',
    ...names.flatMap(({ name, domains, address }) => [
      ...[`${name}:`, '  driver = manualroute', `  domains = ${domains}`, `  transport = ${name}`],
      ...[`  route_list = * ${address}`, '  self = send', '  no_more'],
    ]),
    'begin transports',
    ...names.flatMap(({ name, port }) => [
      ...[`${name}:`, '  driver = smtp', `  port = ${port}`, '  allow_localhost = true', '  hosts_avoid_tls = *'],
    ]),
    'begin retry',
    `* * F,1h,${everySeconds}s`,
  ];
}

function configuration(folder: string, { settings = [], acl = [], relay }: EximOptions): string {
  return [
    'primary_hostname = mx.exim.test',
    `spool_directory = ${folder}/spool`,
    `log_file_path = ${folder}/log/%slog`,
    `pid_file_path = ${folder}/exim.pid`,
    // What is taken stays in the spool: the tests look there.
    // What passes mail on starts itself again for each, without root.
    ...(relay ? ['deliver_drop_privilege = true', `exim_path = ${PROGRAM}`] : ['queue_only = true']),
    'keep_environment = LD_PRELOAD:NSS_WRAPPER_PASSWD:NSS_WRAPPER_GROUP',
    // Nobody is looked up.
    'dkim_verify_signers =',
    'host_lookup =',
    'rfc1413_query_timeout = 0s',
    ...(acl.some((line) => line.startsWith('check_rcpt:'))
      ? ['acl_smtp_rcpt = check_rcpt']
      : ['acl_smtp_rcpt = accept']),
    ...settings,
    'begin acl',
    ...acl,
    ...(relay ? relaying(relay) : KEEPING),
    '',
  ].join('\n');
}
