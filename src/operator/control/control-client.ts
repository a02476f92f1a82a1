// The command line's end of the control socket.
import net, { type Socket } from 'node:net';
import { describeError, Fault } from '../../base/errors.ts';
import type { Answer } from '../answer.ts';
import {
  COMMAND_TIMEOUT_MS,
  type ControlRequest,
  type ControlResponse,
  RESPONSE_MAX_BYTES,
  readLine,
  socketName,
  toAnswer,
} from './control-protocol.ts';

// A little longer than the daemon's own limit, so that its answer arrives.
const TIMEOUT_MS = COMMAND_TIMEOUT_MS + 5000;

/** Null when no daemon is listening. */
export async function askDaemon(
  socketFile: string,
  request: ControlRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<Answer | null> {
  const socket = await connect(socketFile);
  if (!socket) return null;
  try {
    let isSilent = false;
    socket.setTimeout(timeoutMs, () => {
      isSilent = true;
      socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.write(`${JSON.stringify(request)}\n`);
    const response = await readLine(socket, RESPONSE_MAX_BYTES);
    if (isResponse(response)) return toAnswer(response);
    // Whether the command was carried out is unknown, so it must not be repeated here.
    const fate = isSilent
      ? `the running daemon has not answered for ${timeoutMs / 1000} s. It may be stuck: check its log`
      : 'the daemon closed the connection without an answer';
    throw new Fault(`${fate}. Check whether the command took effect before you run it again`);
  } finally {
    socket.destroy();
  }
}

/** Asks nothing of it, so that its version does not matter. */
export async function isDaemonListening(socketFile: string): Promise<boolean> {
  const socket = await connect(socketFile);
  socket?.destroy();
  return socket !== null;
}

function connect(socketFile: string): Promise<Socket | null> {
  const name = socketName(socketFile, process.cwd());
  return new Promise((resolve, reject) => {
    const socket = net.connect(name);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // No folder, no socket, or one left by a dead daemon.
      if (['ENOTDIR', 'ENOENT', 'ECONNREFUSED'].includes(error.code ?? '')) resolve(null);
      else
        reject(
          new Fault(`the running daemon cannot be reached: ${unreachableWords(socketFile, error)}`, { cause: error }),
        );
    });
  });
}

function unreachableWords(socketFile: string, error: NodeJS.ErrnoException): string {
  if (error.code !== 'EACCES' && error.code !== 'EPERM') return describeError(error);
  return `only the service's user and root can open ${socketFile}; run the command as that user (sudo -u)`;
}

function isResponse(value: unknown): value is ControlResponse {
  if (typeof value !== 'object' || value === null) return false;
  if ('ok' in value) return true;
  const { error } = value as { error?: { message?: unknown; exit?: unknown } };
  return typeof error?.message === 'string' && (error.exit === 1 || error.exit === 2);
}
