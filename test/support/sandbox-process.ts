// `postrider sandbox` as a process of its own, with its own data folder.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { PROGRAM_ARGUMENTS } from './program.ts';
import { until } from './until.ts';

export interface RunningSandbox {
  /** What it has printed so far. */
  readonly printed: string;
  readonly complained: string;
  /** Resolves when it has printed its last line, or ended. */
  ready(): Promise<string>;
  /** As Ctrl-C does; resolves to the exit code. */
  interrupt(): Promise<number | null>;
  ended(): Promise<number | null>;
}

/** Below the system's temporary folder: the name of the control socket must not be long. */
export function newDataDir(t: Test): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'postrider-sandbox-'));
  t.teardown(() => {
    if (t.passing()) rmSync(dir, { recursive: true, force: true });
    else t.comment(`left for a look: ${dir}`);
  });
  return dir;
}

export function spawnSandbox(t: Test, dataDir: string, ...more: string[]): RunningSandbox {
  return spawnSandboxWith(t, dataDir, {}, ...more);
}

/** `settings`: variables of the environment. */
export function spawnSandboxWith(
  t: Test,
  dataDir: string,
  settings: Record<string, string>,
  ...more: string[]
): RunningSandbox {
  return spawnSandboxCommand(t, settings, '--data', dataDir, ...more);
}

/** With nothing but what is given: it must name a data folder, or the checkout's own is used. */
export function spawnSandboxCommand(t: Test, settings: Record<string, string>, ...args: string[]): RunningSandbox {
  const env = { ...withoutSettings(), ...settings };
  const child = spawn(process.execPath, [...PROGRAM_ARGUMENTS, 'sandbox', ...args], { env });
  t.teardown(() => kill(child));
  let printed = '';
  let complained = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    get printed() {
      return printed;
    },
    get complained() {
      return complained;
    },
    async ready() {
      await until('the sandbox is ready', () => isOver() || /Ctrl-C|^\{.*\}\n/.test(printed), 30_000);
      if (isOver()) throw new Error(`the sandbox ended: ${complained}`);
      return printed;
    },
    interrupt() {
      child.kill('SIGINT');
      return exit;
    },
    ended: () => exit,
  };
}

/** A command for the data folder of a sandbox; what it prints. */
export async function runCommand(dataDir: string, ...args: string[]): Promise<string> {
  const env = { ...withoutSettings(), POSTRIDER_DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [...PROGRAM_ARGUMENTS, ...args], { env });
  return stdout;
}

/** The environment of whoever runs the tests must not configure the sandbox. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTRIDER_')));
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  child.kill('SIGKILL');
  await gone;
}
