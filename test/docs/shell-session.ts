// One bash for all snippets of a page, so that variables stay from one to the next. It stops at
// the first command that fails, as a careful reader would.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { patience } from '../support/patience.ts';

export interface ShellOptions {
  cwd: string;
  env: Record<string, string>;
  /** Commands before the first snippet. */
  setUp?: string;
}

export interface Ran {
  /** False when a command failed; the session is over then. */
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Longer than any snippet takes on a loaded machine. */
const PATIENCE_MS = 60_000;

const STRICT = 'set -eu -o pipefail';
/** On a terminal it shows no progress either. */
const QUIET_CURL = 'curl() { command curl --silent --show-error "$@"; }';

export class ShellSession {
  readonly #bash: ChildProcess;
  readonly #closed: Promise<unknown>;
  #stdout = '';
  #stderr = '';
  #over = false;
  #look: () => void = () => {};

  constructor({ cwd, env, setUp = '' }: ShellOptions) {
    this.#bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env });
    this.#bash.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#look();
    });
    this.#bash.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#bash.stdin!.on('error', () => {}); // it has ended: `close` tells
    this.#closed = once(this.#bash, 'close').then(() => {
      this.#over = true;
      this.#look();
    });
    this.#bash.stdin!.write(`${STRICT}\n${QUIET_CURL}\n${setUp}\n`);
  }

  run(code: string): Promise<Ran> {
    return this.#eval(code);
  }

  /** In a shell of its own, which may fail: the session goes on, without its variables. */
  async attempt(code: string): Promise<Ran> {
    const ran = await this.#eval(`set +e\n( set -e\n${code}\n)\nprintf '\\nexit code %d' $?\nset -e`);
    const [, stdout = '', exitCode] = /^(.*)\nexit code (\d+)$/s.exec(ran.stdout) ?? [];
    return { ok: exitCode === '0', stdout, stderr: ran.stderr };
  }

  async #eval(code: string): Promise<Ran> {
    this.#stdout = '';
    this.#stderr = '';
    const end = `the end of ${code.length} characters`;
    // As one text, and with nothing to read: a command must not take the next one for its input.
    this.#bash.stdin!.write(`eval ${quote(code)} </dev/null\nprintf '\\n%s\\n' ${quote(end)}\n`);
    const timer = setTimeout(() => this.#bash.kill('SIGKILL'), patience(PATIENCE_MS));
    const ok = await new Promise<boolean>((resolve) => {
      this.#look = () => {
        if (this.#stdout.endsWith(`\n${end}\n`)) resolve(true);
        else if (this.#over) resolve(false);
      };
      this.#look();
    });
    clearTimeout(timer);
    const stdout = ok ? this.#stdout.slice(0, -end.length - 2) : this.#stdout;
    return { ok, stdout, stderr: this.#stderr };
  }

  async close(): Promise<void> {
    this.#bash.stdin!.end();
    const timer = setTimeout(() => this.#bash.kill('SIGKILL'), patience(PATIENCE_MS));
    await this.#closed;
    clearTimeout(timer);
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
