// The program: argv, signals and the exit code. Everything else happens below.
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from './base/errors.ts';
import { programVersion } from './base/program-version.ts';
import { loadDaemonCommands } from './cli/registry.ts';
import { EXIT_FAILED, runCli } from './cli/run-cli.ts';
import type { Starters } from './cli/starters.ts';
import { printableLines } from './cli/table.ts';

// On top of the grace that the daemon gives its sessions: to write and close the database.
const CLOSING_MS = 5000;
const SANDBOX_GRACE_MS = 5000;
// npm hands on the Ctrl-C (SIGINT) that its child has already got from the terminal: one wish, not two.
const SAME_WISH_MS = 500;

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (signal: NodeJS.Signals) => {
      const now = performance.now();
      const echoed = signal === 'SIGINT' && firstAt !== null && now - firstAt < SAME_WISH_MS;
      if (firstAt !== null && !echoed) {
        complain(`postrider: ${signal} again: ending at once`);
        process.exit(EXIT_FAILED);
      }
      firstAt ??= now;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

interface Closable {
  close(): Promise<void>;
}

async function closeWithin(running: Closable, graceMs: number): Promise<number> {
  const late = new AbortController();
  const outcome = await Promise.race([
    running.close().then(() => 'closed' as const),
    sleep(graceMs + CLOSING_MS, 'late' as const, { signal: late.signal }),
  ]);
  late.abort();
  if (outcome === 'closed') return 0;
  complain('postrider: not everything could be closed in time');
  return EXIT_FAILED;
}

// Imported when they are asked for: the other commands start in a fraction of the time.
const starters: Starters = {
  async serve({ config }) {
    const stop = stopSignal(); // from here on: a signal during the start is not lost
    const { startDaemon } = await import('./daemon/daemon.ts');
    const daemon = await startDaemon(config, { commands: await loadDaemonCommands(), stop });
    await stop;
    return closeWithin(daemon, config.stop.grace);
  },
  async sandbox(options) {
    const stop = stopSignal();
    const { startSandbox } = await import('./sandbox/sandbox.ts');
    const sandbox = await startSandbox({ ...options, env: process.env, commands: await loadDaemonCommands() });
    await stop;
    return closeWithin(sandbox, SANDBOX_GRACE_MS);
  },
};

/** Aborted by the next SIGINT; one more ends the process as usual. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

function watchOutput(): { readonly fault: Error | null } {
  const seen: { fault: Error | null } = { fault: null };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read our output may have seen enough (`| head`): that is no failure of ours.
    if (error.code !== 'EPIPE') seen.fault = error;
  });
  return seen;
}

/** What a pipe has not taken yet would end with the process. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

// Here and in all threads. Otherwise times without a zone, in data for templates or in CSV, would be read in the server's, and
// liquidjs, which writes UTC by shifting local time, would be wrong where clocks are put forward.
process.env.TZ = 'UTC';

process.on('unhandledRejection', (reason) => {
  complain(`postrider: unexpected: ${reason instanceof Error ? reason.stack : String(reason)}`);
  process.exit(EXIT_FAILED);
});

const output = watchOutput();

const exitCode = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  version: programVersion(),
  starters,
  print: (text) => void process.stdout.write(`${text}\n`),
  printOctets: (octets) => void process.stdout.write(process.stdout.isTTY ? printableLines(octets.toString()) : octets),
  complain,
  ...(process.stdin.isTTY && process.stdout.isTTY && { terminal: { input: process.stdin, output: process.stdout } }),
  interruption,
});
await written(process.stdout);
if (output.fault) complain(`postrider: the output cannot be written: ${describeError(output.fault)}`);
await written(process.stderr);
process.exit(output.fault ? EXIT_FAILED : exitCode);
