// Runs the real program with a data folder and configuration of the test's: in a process of its
// own with nothing of this machine's environment, or, for long tables, the same in this process.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../src/cli/run-cli.ts';
import { patience } from './patience.ts';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));

/** As people start it. */
export const PROGRAM = programOf(CHECKOUT);

/** What that gives to Node: for a process that is killed or asked by signals, with no shell in between. */
export const PROGRAM_ARGUMENTS = programArguments();

function programOf(root: string): string {
  return path.join(root, 'bin/postrider');
}

/** Of this checkout, or of another version's. */
export function programArguments(root = CHECKOUT): string[] {
  return ['--require', path.join(root, 'scripts/source-cache.cjs'), path.join(root, 'src/main.ts')];
}

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Program {
  /** Directly below the system's temporary folder: a socket's name may not be long. */
  folder: string;
  dataDir: string;
  configFile: string;
  run(...args: string[]): Promise<Finished>;
  runHere(...args: string[]): Promise<Finished>;
  /** The one JSON value on standard output of a command that must succeed. */
  json(...args: string[]): Promise<Record<string, unknown>>;
  remove(): void;
}

export function newProgram(): Program {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-cli-'));
  const dataDir = path.join(folder, 'data');
  const configFile = path.join(folder, 'postrider.toml');
  fs.writeFileSync(configFile, '[data]\ndir = "data"\n');
  const run = (...args: string[]) => runProgram([...args, '--config', configFile]);
  const runHere = (...args: string[]) => runInThisProcess([...args, '--config', configFile]);
  return {
    folder,
    dataDir,
    configFile,
    run,
    runHere,
    async json(...args) {
      const { code, stdout, stderr } = await runHere(...args, '--json');
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

interface RunAs {
  uid?: number;
  gid?: number;
  /** Another version's checkout. */
  root?: string;
}

export function runProgram(args: string[], { root = CHECKOUT, ...as }: RunAs = {}): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH }, timeout: patience(30_000), ...as };
    execFile(programOf(root), args, options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

/** What main.ts does, without a process of its own. */
export async function runInThisProcess(argv: string[], env: Record<string, string> = {}): Promise<Finished> {
  const printed: string[] = [];
  const complained: string[] = [];
  const notStarted = async () => {
    throw new Error('nothing is started in this process');
  };
  const code = await runCli({
    argv,
    env,
    version: '0.0.0',
    starters: { serve: notStarted, sandbox: notStarted },
    print: (text) => void printed.push(`${text}\n`),
    printOctets: (octets) => void printed.push(octets.toString()),
    complain: (text) => void complained.push(`${text}\n`),
  });
  return { code, stdout: printed.join(''), stderr: complained.join('') };
}
