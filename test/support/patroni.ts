// Two PostgreSQL that Patroni looks after, with an etcd, all out of Debian's packages and on loopback. Their configuration is the
// one that docs/operate.md shows, with ports, folders and passwords of the test.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { findFreePort } from './free-port.ts';
import { asServerUser, giveToServer, killServer, programFolder } from './postgres-server.ts';
import { makeServerFolder, runServer, type ServerProgram } from './server-program.ts';
import { createTestAuthority } from './test-authority.ts';
import { until } from './until.ts';

const PROGRAMS = ['/usr/bin/patroni', '/usr/bin/patronictl', '/usr/bin/etcd'] as const;
const [PATRONI, CONTROL, ETCD] = PROGRAMS;
const HOST = '127.0.0.1';
/** Patroni's own terms are of half a minute. */
const PATIENT_MS = 120_000;

/** Why there is none here, or false. */
export function patroniMissing(): string | false {
  const missing = PROGRAMS.filter((program) => !fs.existsSync(program));
  return missing.length > 0 && `${missing.join(', ')}: apt-get install patroni python3-etcd etcd-server`;
}

export interface Member {
  name: string;
  port: number;
  start(): void;
  /** With all its processes, at once. */
  die(): Promise<void>;
}

export interface PatroniCluster {
  members: Member[];
  /** Once one follows the other. */
  inStep(): Promise<{ leader: Member; standby: Member }>;
  /** Null: there is none at present. */
  leader(): Promise<Member | null>;
  /** A planned change. */
  switchOver(): Promise<void>;
  /** As the superuser, at one member. */
  url(member: Member, database: string): string;
}

interface Listed {
  Member: string;
  Role: string;
  State: string;
}

export async function startPatroni(t: Test): Promise<PatroniCluster> {
  const folder = makeServerFolder('patroni');
  const authority = createTestAuthority();
  const etcd = await startEtcd(folder);
  const members = [await makeMember(folder, 'db1', etcd.url), await makeMember(folder, 'db2', etcd.url)];
  for (const { directory } of members) issue(authority, directory);
  t.teardown(async () => {
    await Promise.all(members.map((member) => member.stop()));
    await etcd.program.stop();
    authority.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  for (const member of members) member.start();
  const control = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(CONTROL, ['-c', members[0]!.file, ...args]);
    return stdout;
  };
  const list = async () => JSON.parse(await control('list', '--format', 'json')) as Listed[];
  const inRole = (listed: readonly Listed[], role: string) => {
    const found = listed.find(({ Role, State }) => Role === role && /^(running|streaming)$/.test(State));
    return members.find(({ name }) => name === found?.Member) ?? null;
  };
  return {
    members,
    inStep: () =>
      until(
        'a leader and its standby',
        async () => {
          const listed = await list();
          const [leader, standby] = [inRole(listed, 'Leader'), inRole(listed, 'Sync Standby')];
          return leader && standby && { leader, standby };
        },
        PATIENT_MS,
      ),
    leader: async () => inRole(await list(), 'Leader'),
    switchOver: async () => void (await control('switchover', '--force')),
    url: ({ port }, database) => `postgres://postgres:secret@${HOST}:${port}/${database}`,
  };
}

async function startEtcd(folder: string): Promise<{ url: string; program: ServerProgram }> {
  const [clients, peers] = [`${HOST}:${await findFreePort()}`, `http://${HOST}:${await findFreePort()}`];
  const options = {
    'data-dir': path.join(folder, 'etcd'),
    'listen-client-urls': `http://${clients}`,
    'advertise-client-urls': `http://${clients}`,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const program = runServer('setpriv', ['--pdeathsig=KILL', ETCD, ...args]);
  const isHealthy = async () => (await fetch(`http://${clients}/health`)).ok;
  await until('etcd', () => isHealthy().catch(() => false));
  return { url: clients, program };
}

type RunningMember = Member & { file: string; directory: string; stop(): Promise<void> };

async function makeMember(folder: string, name: string, etcd: string): Promise<RunningMember> {
  const directory = path.join(folder, name);
  fs.mkdirSync(directory);
  giveToServer(directory);
  const [port, restPort] = [await findFreePort(), await findFreePort()];
  const file = path.join(directory, 'config.yml');
  fs.writeFileSync(file, configuration({ name, directory, etcd, port, restPort }));
  const command = asServerUser(PATRONI, [file], 'TERM');
  let program: ServerProgram | null = null;
  return {
    name,
    port,
    file,
    directory,
    start() {
      program = runServer(...command, { env: { ...process.env, HOME: directory }, cwd: '/' });
    },
    async die() {
      // Who looks after the server goes first: it would start it again.
      await program?.stop('SIGKILL');
      killServer(Number(fs.readFileSync(path.join(directory, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]));
    },
    stop: async () => await program?.stop(),
  };
}

interface MemberTerms {
  name: string;
  directory: string;
  etcd: string;
  port: number;
  restPort: number;
}

function configuration({ name, directory, etcd, port, restPort }: MemberTerms): string {
  const page = fs.readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8');
  const shown = /^```yaml\n(scope: .*?)^```$/ms.exec(page)![1]!;
  const changes: readonly [shown: string, here: string][] = [
    ['name: db1', `name: ${name}`],
    ['etcd1.example.com:2379,etcd2.example.com:2379,etcd3.example.com:2379', etcd],
    ['0.0.0.0:8008', `${HOST}:${restPort}`],
    ['db1.example.com:8008', `${HOST}:${restPort}`],
    ['0.0.0.0:5432', `0.0.0.0:${port}`],
    ['db1.example.com:5432', `${HOST}:${port}`],
    ['/var/lib/postgresql/15/main', path.join(directory, 'data')],
    ['/usr/lib/postgresql/15/bin', programFolder()!],
    ['/etc/patroni', directory],
    ['  parameters:\n', `  parameters:\n    unix_socket_directories: ${directory}\n`],
    ['…', 'secret'],
  ];
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`docs/operate.md does not show "${from}" any more`);
    return text.replaceAll(from, to);
  }, shown);
}

function issue(authority: ReturnType<typeof createTestAuthority>, directory: string): void {
  const { cert, key } = authority.issue('db.example.com');
  for (const [name, text] of [
    ['server.crt', cert],
    ['server.key', key],
  ] as const) {
    const file = path.join(directory, name);
    fs.writeFileSync(file, text, { mode: 0o600 });
    giveToServer(file);
  }
}
