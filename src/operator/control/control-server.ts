// The daemon's end of the control socket: runs store commands with the daemon's own services, so that they take effect
// at once and the database keeps one writer. The caller holds the data folder's lock, so an existing socket belongs to
// a dead daemon.
import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import type { Answer } from '../answer.ts';
import type { OperatorServices } from '../operator-services.ts';
import {
  COMMAND_TIMEOUT_MS,
  type ControlRequest,
  REQUEST_MAX_BYTES,
  readLine,
  socketName,
  toResponse,
} from './control-protocol.ts';

// One operator and a few scripts; more is a mistake.
const MAX_CONNECTIONS = 32;

/** Runs a command of the command line with the daemon's services; null: the command is unknown. */
export type RunCommand = (request: ControlRequest, services: OperatorServices) => Promise<Answer> | null;

export interface ControlServerOptions {
  socketFile: string;
  run: RunCommand;
  services: OperatorServices;
  /** For the log: which command ran, and its result. Never its options, which may contain addresses. */
  onCommand?(command: string, answer: Answer): void;
}

export interface ControlServer {
  /** Accepts nothing new, waits for running commands, removes the socket. */
  close(): Promise<void>;
}

export async function startControlServer(options: ControlServerOptions): Promise<ControlServer> {
  fs.rmSync(options.socketFile, { force: true });
  const reading = new Set<Socket>();
  const running = new Set<Promise<void>>();
  const server = net.createServer(async (socket) => {
    reading.add(socket);
    const request = await readRequest(socket);
    reading.delete(socket);
    if (socket.destroyed) return;
    const work = serveRequest(socket, request, options).finally(() => running.delete(work));
    running.add(work);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listenPrivately(server, socketName(options.socketFile, process.cwd()));
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve())); // removes the file, too
      for (const socket of reading) socket.destroy();
      await Promise.all(running);
      await closed;
    },
  };
}

/** Mode 0600 from the start: a chmod after the bind would leave a gap. */
function listenPrivately(server: net.Server, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const before = process.umask(0o177);
    try {
      server.listen(name, () => {
        server.removeListener('error', reject);
        resolve();
      }); // binds before it returns
    } finally {
      process.umask(before);
    }
  });
}

function readRequest(socket: Socket): Promise<unknown> {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(COMMAND_TIMEOUT_MS, () => socket.destroy());
  return readLine(socket, REQUEST_MAX_BYTES);
}

async function serveRequest(socket: Socket, request: unknown, serving: ControlServerOptions): Promise<void> {
  const answer = await execute(request, serving);
  if (!socket.destroyed) socket.end(`${JSON.stringify(toResponse(answer))}\n`, () => socket.destroySoon());
}

async function execute(request: unknown, { run, services, onCommand }: ControlServerOptions): Promise<Answer> {
  if (!isRequest(request)) return { kind: 'failed', message: 'the request is not valid' };
  const running = run(request, services);
  if (running === null) {
    const message = `the running daemon does not know "${request.command}": it is another version; restart it`;
    return { kind: 'failed', message };
  }
  const answer = await running;
  onCommand?.(request.command, answer);
  return answer;
}

function isRequest(value: unknown): value is ControlRequest {
  if (typeof value !== 'object' || value === null) return false;
  const { command, options } = value as Partial<ControlRequest>;
  return typeof command === 'string' && typeof options === 'object' && options !== null && !Array.isArray(options);
}
