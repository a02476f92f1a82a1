// A PostgreSQL of the test's own, out of Debian's binaries and a folder of its own: no cluster of the machine is used or
// started. It ends with the test: the kernel tells it when the test process dies, however it dies.
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from './free-port.ts';
import { makeServerFolder, runServer, type ServerProgram } from './server-program.ts';
import { until } from './until.ts';

const VERSIONS_FOLDER = '/usr/lib/postgresql';
const IS_ROOT = process.getuid?.() === 0;
/** PostgreSQL refuses to run as root; Debian's package makes this user. */
const SERVER_USER = 'postgres';
const OWNER = 'owner';

/** Other than its defaults, for small databases that live for seconds. Without fsync a crash of the machine loses them. */
const SETTINGS = {
  fsync: 'off',
  shared_buffers: '32MB',
  max_connections: '100',
  autovacuum: 'off',
  log_min_messages: 'fatal',
  dynamic_shared_memory_type: 'mmap',
};

/** It does not wait for its clients: one may wait itself, for a standby. */
const FAST = 'SIGINT';

export interface PostgresServer {
  port: number;
  /** As its superuser; `database` must exist. */
  url(database: string, user?: string): string;
  /** The folder of its Unix socket. */
  socketFolder: string;
  dataFolder: string;
  program: ServerProgram;
  /** An empty database, or a copy of another one. */
  createDatabase(template?: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Lines of pg_hba.conf, in place of `trust` for all. */
  useRules(...rules: string[]): Promise<void>;
  /** Runs SQL in a database, as its superuser. */
  run(database: string, sql: string): Promise<pg.QueryResult>;
  stop(): Promise<void>;
  /** With all its processes, at once. */
  die(): Promise<void>;
  /** After it died: where it was, with what it had on disk. */
  startAgain(): Promise<void>;
}

/** Why there is no PostgreSQL here, or false. */
export function postgresMissing(): string | false {
  return programFolder() === null ? `${VERSIONS_FOLDER} has no PostgreSQL: install postgresql-15` : false;
}

export function programFolder(): string | null {
  const versions = fs.existsSync(VERSIONS_FOLDER) ? fs.readdirSync(VERSIONS_FOLDER) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a)).find((version) => Number(version) >= 15);
  return newest === undefined ? null : path.join(VERSIONS_FOLDER, newest, 'bin');
}

export interface PostgresOptions {
  settings?: Record<string, string>;
  /** The folder of its programs; missing: the newest of Debian's. */
  programs?: string;
  /** Copied into its data folder: names there, and files. */
  files?: Record<string, string>;
  /** Where its folder is made: the system's temporary folder if it is left out. */
  parent?: string;
  env?: Record<string, string>;
}

type HowToRun = Pick<PostgresOptions, 'settings' | 'programs' | 'env'>;

/** What a test is, as far as it is needed here: the benchmark starts one as well. */
interface Starter {
  teardown(end: () => unknown): void;
}

export async function startPostgres(
  t: Starter,
  { files = {}, parent, ...how }: PostgresOptions = {},
): Promise<PostgresServer> {
  const { folder, dataFolder } = makeFolders(parent);
  initialize(dataFolder, how.programs);
  for (const [name, file] of Object.entries(files)) {
    const copy = path.join(dataFolder, name);
    fs.copyFileSync(file, copy);
    fs.chmodSync(copy, 0o600);
    giveToServer(copy);
  }
  return runPostgres(t, { folder, dataFolder }, how);
}

/** A copy of another server that follows it, and is called so there. */
export async function startStandby(
  t: Starter,
  primary: PostgresServer,
  name: string,
  how: HowToRun = {},
): Promise<PostgresServer> {
  const folders = makeFolders();
  const from = `${primary.url('postgres')}?application_name=${name}`;
  const options = ['-D', folders.dataFolder, '-d', from, '-R', '-c', 'fast', '--no-sync'];
  // Others go on meanwhile: whoever asks for a standby may be the network to the primary, too.
  const [program, args] = asServerUser(programNamed('pg_basebackup'), options);
  await promisify(execFile)(program, args, { cwd: '/' });
  return runPostgres(t, folders, how);
}

interface Folders {
  folder: string;
  dataFolder: string;
}

function makeFolders(parent?: string): Folders {
  const folder = makeServerFolder('postgres', parent);
  giveToServer(folder);
  return { folder, dataFolder: path.join(folder, 'data') };
}

async function runPostgres(
  t: Starter,
  { folder, dataFolder }: Folders,
  { settings = {}, programs, env }: HowToRun,
): Promise<PostgresServer> {
  const port = await findFreePort();
  const all = { ...SETTINGS, port: String(port), unix_socket_directories: folder, ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = asServerUser(programNamed('postgres', programs), ['-D', dataFolder, ...options]);
  const run = () => runServer(...command, { env: { ...process.env, ...env } });
  let server = run();
  const url = (database: string, user = OWNER) => `postgres://${user}@127.0.0.1:${port}/${database}`;
  const admin = await until('PostgreSQL', () => connectTo(url('postgres'), server));
  let databases = 0;
  t.teardown(async () => {
    await admin.end();
    await server.stop(FAST);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{ port, url, dataFolder, socketFolder: folder },
    get program() {
      return server;
    },
    async createDatabase(template) {
      const name = `test_${++databases}`;
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template ?? 'template0'}`);
      return name;
    },
    async dropDatabase(name) {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    },
    async useRules(...rules) {
      fs.writeFileSync(path.join(dataFolder, 'pg_hba.conf'), rules.map((rule) => `${rule}\n`).join(''));
      await admin.query('SELECT pg_reload_conf()');
    },
    run: (database, sql) => runIn(url(database), sql),
    stop: () => server.stop(FAST),
    async die() {
      killServer(server.child.pid!);
      await server.stop(FAST);
    },
    async startAgain() {
      const client = await until('PostgreSQL, started again', () => {
        // It does not start while processes of the one before are about to end.
        if (server.child.exitCode !== null || server.child.signalCode !== null) server = run();
        return connectTo(url('postgres'), server);
      });
      await client.end();
    },
  };
}

async function connectTo(connectionString: string, server: ServerProgram): Promise<pg.Client | null> {
  if (server.child.exitCode !== null) throw new Error(`postgres ended with ${server.child.exitCode}`);
  const client = new pg.Client({ connectionString, password: () => '' });
  client.on('error', () => {}); // it is stopped before its connections end
  try {
    await client.connect();
    return client;
  } catch {
    return null;
  }
}

async function runIn(connectionString: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString, password: () => '' });
  client.on('error', () => {}); // the query, or its connection, is rejected as well
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

/** With all its processes, at once. */
export function killServer(pid: number): void {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const one of [pid, ...children.map(Number)]) killAtOnce(one);
}

function killAtOnce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function initialize(dataFolder: string, programs: string | undefined): void {
  const trust = ['-U', OWNER, '--auth=trust'];
  const options = ['-D', dataFolder, ...trust, '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
  runTool(programNamed('initdb', programs), options);
}

function runTool(tool: string, options: string[]): void {
  const [program, args] = asServerUser(tool, options);
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: '/' });
  if (status !== 0) throw new Error(`${path.basename(tool)}: ${stderr}`);
}

function programNamed(name: string, programs = programFolder()): string {
  if (!programs) throw new Error(String(postgresMissing()));
  return path.join(programs, name);
}

/** SIGQUIT makes PostgreSQL end its processes at once. */
export function asServerUser(program: string, args: string[], ending = 'QUIT'): [string, string[]] {
  const identity = IS_ROOT ? [`--reuid=${SERVER_USER}`, `--regid=${SERVER_USER}`, '--clear-groups'] : [];
  return ['setpriv', [...identity, `--pdeathsig=${ending}`, program, ...args]];
}

/** For a file or folder that the server must own. */
export function giveToServer(file: string): void {
  if (IS_ROOT) fs.chownSync(file, ...userIds());
}

function userIds(): [number, number] {
  const [, , uid, gid] =
    fs.readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^(${SERVER_USER}):[^:]*:(\\d+):(\\d+)`, 'm')) ?? [];
  if (uid === undefined) throw new Error(`there is no user ${SERVER_USER}`);
  return [Number(uid), Number(gid)];
}
