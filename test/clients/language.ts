// What a test has to know about the language of a client library: which programs it needs, how its
// package is built and installed into a temporary folder, and how programs run against that.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { patience } from '../support/patience.ts';

export interface Language {
  /** Of the folder below clients/, and of the User-Agent. */
  name: 'node' | 'python' | 'go' | 'java' | 'php' | 'ruby';
  title: string;
  /** How code blocks of it are marked in Markdown. */
  fence: string;
  /** The programs that have to be there, and Debian's packages that have them. */
  tools: Tool[];
  /** Where the compiler refuses a parsed object in place of a raw body, that case is left out. */
  typing: 'static' | 'dynamic';
  /** A language without tasks or threads does one call at a time, in this many processes. Otherwise 1. */
  processes?: number;
  /** How the README's lines for the checkout can be followed, or why they cannot. */
  fromCheckout: FromCheckout | { cannot: string };
  /** Builds the package into `site.folder`, checks what its ecosystem can check, and installs the built file there. */
  install(site: Site): Promise<Installed>;
}

export interface Tool {
  /** A name looked up in PATH, or an absolute path. */
  command: string;
  /** Arguments with which it must end well; without them it has to be there, no more. */
  works?: string[];
  debianPackage: string;
}

export interface FromCheckout {
  /** Files of the project into which the library is installed, before it is. */
  project: Record<string, string>;
  /** Keeps the language's tools from the network and from the user's own folders; `folder` is an empty one. */
  env(folder: string): Record<string, string>;
  /** A command that loads the library as the README does, and prints `loaded`. */
  loads: [string, ...string[]];
}

export interface Site {
  /** clients/<name> of the checkout; nothing is written there. */
  source: string;
  /** An empty folder. */
  folder: string;
  /** Runs to the end; its standard output. Throws with all output when it fails. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<string>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

export interface Program {
  command: string;
  args: string[];
  cwd?: string;
  /** Beside PATH and HOME; there is nothing else in a program's environment. */
  env?: Record<string, string>;
}

export interface Installed {
  /** conformance/ of the library, run with the installed package. */
  runner: Program;
  /** Writes a code block of the README to a file (and compiles it, if that is how it is run). */
  snippet(code: string, name: string): Promise<Program>;
}

const BUILD_TIMEOUT_MS = 110_000;
const CHECKOUT_BIN = path.join(import.meta.dirname, '../../node_modules/.bin');

/** The machine's programs, without those of the checkout: a reader of a README has only these. */
export function machinePath(): string[] {
  return (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '' && folder !== CHECKOUT_BIN);
}

export function findTool(command: string): string | null {
  if (path.isAbsolute(command)) return existsSync(command) ? command : null;
  const found = machinePath().find((folder) => existsSync(path.join(folder, command)));
  return found === undefined ? null : path.join(found, command);
}

/** Why the library cannot be tested here, and what helps; null when it can. */
export function missingTools({ title, tools }: Language): string | null {
  const missing = tools.filter((tool) => !isThere(tool));
  if (missing.length === 0) return null;
  const commands = missing.map(({ command, works = [] }) => [command, ...works].join(' ')).join(', ');
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))].join(' ');
  return `the ${title} library was not tested: ${commands} missing; apt-get install ${packages}`;
}

function isThere({ command, works }: Tool): boolean {
  const found = findTool(command);
  if (found === null || works === undefined) return found !== null;
  return spawnSync(found, works, { env: plainEnvironment() }).status === 0;
}

/** Without proxies, keys and settings of whoever runs the tests. */
export function plainEnvironment(more: Record<string, string> = {}): Record<string, string> {
  return { PATH: machinePath().join(path.delimiter), HOME: process.env.HOME ?? '/', LANG: 'C.UTF-8', ...more };
}

export function openSite(source: string, folder: string): Site {
  return {
    source,
    folder,
    run: (command, args, { cwd = folder, env } = {}) =>
      new Promise((resolve, reject) => {
        const options = { cwd, env: plainEnvironment(env), timeout: patience(BUILD_TIMEOUT_MS), maxBuffer: 1 << 26 };
        execFile(command, args, options, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${[command, ...args].join(' ')}: ${error.message}\n${stdout}${stderr}`));
        });
      }),
  };
}
