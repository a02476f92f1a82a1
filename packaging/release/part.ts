// A part of a release: what it makes, which programs it needs, and the place where it is made. Programs run with an
// environment of their own, so that language, time zone and settings of the user who builds change no byte.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

export interface Part {
  /** For --only. */
  name: string;
  tools: Tool[];
  make(site: Site): void;
}

export interface Tool {
  /** A command that succeeds where the tool can be used. */
  check: [string, ...string[]];
  /** What to do where it fails. */
  install: string;
}

export interface Site {
  /** A tar file of the commit, and its files unpacked; nothing is written there. */
  archive: string;
  source: string;
  /** An empty folder, of this part alone. */
  work: string;
  /** Where the part's files go. */
  out: string;
  version: string;
  commit: Commit;
}

export interface Commit {
  id: string;
  /** When it was committed, in seconds since 1970. */
  epoch: number;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
}

const MAX_OUTPUT_BYTES = 2 ** 28;

/** A program failed; the message has all that it printed. */
export class StepFailure extends Error {}

/** Runs to the end; its standard output. */
export function run(site: Site, [program, ...args]: [string, ...string[]], options: RunOptions = {}): string {
  const { cwd = site.work, env = {} } = options;
  const home = path.join(site.work, 'home');
  fs.mkdirSync(home, { recursive: true });
  const { error, status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR, ...neutral(site), ...env },
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return stdout;
  const why = error?.message ?? signal ?? `exit code ${status}`;
  throw new StepFailure(`${[program, ...args].join(' ')}: ${why}\n${stdout}${stderr}`);
}

/** What of the environment could change a byte. */
export function neutral({ commit }: Site): Record<string, string> {
  return { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', SOURCE_DATE_EPOCH: String(commit.epoch) };
}

/** Builds leave files beside their sources. */
export function copySource({ source, work }: Site, folder: string): string {
  const copy = path.join(work, path.basename(folder));
  fs.cpSync(path.join(source, folder), copy, { recursive: true });
  return copy;
}

export interface TreeFile {
  /** With slashes, relative to the folder. */
  name: string;
  content: Buffer;
}

/** All files below a folder, sorted by name. */
export function readTree(folder: string): TreeFile[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort()
    .map((name) => ({ name, content: fs.readFileSync(path.join(folder, name)) }));
}

/** zlib writes neither a name nor a time into it. */
export function gzip(content: Buffer): Buffer {
  return gzipSync(content, { level: 9 });
}
