// The receiving side of a run: our own sink process, or Debian's smtp-sink, which tells how many
// messages it has, but not when which one came.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from './processes.ts';
import type { SinkAnswer, SinkRequest } from './sink.ts';

export type SinkKind = 'own' | 'smtp-sink';

export interface Sink {
  pid: number;
  smtpPort: number;
  /** Tells how many messages have arrived. */
  progressPort: number;
  total(): Promise<number>;
  /** Of the messages that have arrived; null when the sink does not know. */
  bytes(): Promise<number | null>;
  /** The arrivals since the last call, by the left side of Message-ID; null when the sink does not know. */
  arrivals(): Promise<Arrival[] | null>;
  stop(): Promise<void>;
}

export interface Arrival {
  messageId: string;
  atMs: number;
}

export interface SinkOptions {
  kind: SinkKind;
  folder: string;
  /** False: connections are taken and never hear a word. Only our own sink can do that. */
  greets?: boolean;
}

export function startSink({ kind, folder, greets = true }: SinkOptions): Promise<Sink> {
  return kind === 'own' || !greets ? startOwnSink(folder, greets) : startDebianSink();
}

async function startOwnSink(folder: string, greets: boolean): Promise<Sink> {
  const child = startProcess<SinkRequest, SinkAnswer>(new URL('./sink.ts', import.meta.url));
  const { smtpPort, progressPort } = await child.ask({ kind: 'start', greets });
  return {
    ...{ pid: child.pid, smtpPort, progressPort },
    total: async () => (await child.ask({ kind: 'total' })).total,
    bytes: async () => (await child.ask({ kind: 'total' })).bytes,
    async arrivals() {
      const file = path.join(folder, 'arrivals');
      await child.ask({ kind: 'arrivals', file });
      return readArrivals(fs.readFileSync(file, 'latin1'));
    },
    stop: () => child.stop(),
  };
}

function readArrivals(text: string): Arrival[] {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const [messageId = '', atMs] = line.split(' ');
    return { messageId, atMs: Number(atMs) };
  });
}

const SMTP_SINKS = ['/usr/sbin/smtp-sink', '/usr/bin/smtp-sink'];
const CONNECT_TRIES = 100;
const CONNECT_PAUSE_MS = 20;

/** Path of Debian's smtp-sink (package postfix); null when it is not installed. */
export function findSmtpSink(): string | null {
  return SMTP_SINKS.find((file) => fs.existsSync(file)) ?? null;
}

async function startDebianSink(): Promise<Sink> {
  const program = findSmtpSink();
  if (program === null) throw new Error('smtp-sink is not installed (Debian package postfix)');
  const smtpPort = await freePort();
  // It refuses to run as root without being told whom to become.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const args = ['-c', '-m', '512', ...user, `127.0.0.1:${smtpPort}`, '1024'];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const counted = countMessages(child);
  const progress = await serveProgress(counted);
  await answers(smtpPort);
  return {
    ...{ pid: child.pid!, smtpPort, progressPort: progress.port },
    total: async () => counted.total,
    bytes: async () => null,
    arrivals: async () => null,
    async stop() {
      progress.close();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

interface Counted {
  total: number;
  onChange: () => void;
}

/** smtp-sink -c writes its counters over and over into one line: `sess=1 quit=0 mesg=17`. */
function countMessages(child: ChildProcess): Counted {
  const counted: Counted = { total: 0, onChange: () => {} };
  child.stdout!.setEncoding('latin1').on('data', (text: string) => {
    const count = /mesg=(\d+)[^=]*$/.exec(text)?.[1];
    if (count === undefined) return;
    counted.total = Number(count);
    counted.onChange();
  });
  return counted;
}

async function serveProgress(counted: Counted): Promise<{ port: number; close(): void }> {
  const listeners = new Set<Socket>();
  const server = createServer((socket) => {
    listeners.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => listeners.delete(socket));
    socket.write(`${counted.total}\n`);
  });
  counted.onChange = () => {
    for (const socket of listeners) socket.write(`${counted.total}\n`);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    for (const socket of listeners) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const socket = connect({ host: '127.0.0.1', port });
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (attempt >= CONNECT_TRIES) throw error;
      await pause(CONNECT_PAUSE_MS);
    } finally {
      socket.destroy();
    }
  }
}
