// Runs a mail server that is not ours as a child process of the test, out of a folder of its own:
// nothing of the machine's configuration is read, and nothing stays behind.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface ServerProgram {
  child: ChildProcess;
  /** Resolves when it greets at every one of these. */
  answersAt(addresses: readonly string[], port: number): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const LOOK_AGAIN_AFTER_MS = 20;

/** A folder that a server which has given up root can still enter. */
export function makeServerFolder(name: string, parent = os.tmpdir()): string {
  const folder = fs.mkdtempSync(path.join(parent, `postrider-${name}-`));
  fs.chmodSync(folder, 0o755);
  return folder;
}

export function runServer(program: string, options: string[], spawnOptions: SpawnOptions = {}): ServerProgram {
  const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'pipe'], ...spawnOptions });
  let said = '';
  child.stdout?.on('data', (chunk) => (said += chunk));
  child.stderr?.on('data', (chunk) => (said += chunk));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return {
    child,
    async answersAt(addresses, port) {
      for (const address of addresses) {
        while (!(await greets(address, port))) {
          if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
          await pause(LOOK_AGAIN_AFTER_MS);
        }
      }
    },
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      }
      // Its own children may hold the other ends for a moment longer.
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}

function greets(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', () => settle(true));
    socket.on('close', () => settle(false));
    socket.on('error', () => settle(false));
  });
}
