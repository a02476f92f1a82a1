// Opens a TCP connection to one address. The caller chooses the address and our source address; names are never
// resolved here.
import { connect, createServer, isIP, type OnReadOpts, type Socket } from 'node:net';
import { Fault } from '../../base/errors.ts';

export interface DialTarget {
  ip: string;
  port: number;
  /** The source address; undefined leaves it to the system. */
  localAddress: string | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Resolves to a connected socket that nothing was read from, or rejects. */
export type Dialler = (target: DialTarget) => Promise<Socket>;

export const dialTcp: Dialler = (target) => dial((options) => connect(options), target);

/** A socket of `dialForOctets` emits this instead of 'data': bytes that are only valid until the listener returns. */
export const OCTETS = 'octets';
// Longer replies arrive in pieces.
const READ_BYTES = 2048;

/**
 * The socket reads nothing before it is resumed. By default Node allocates 64 KiB for each read, which for replies of
 * twenty bytes costs more than reading them, and keeps the garbage collector busy.
 */
export const dialForOctets: Dialler = (target) =>
  dial((options) => {
    const callback = (octets: number, buffer: Uint8Array) => socket.emit(OCTETS, buffer.subarray(0, octets));
    const onread: OnReadOpts = { buffer: Buffer.allocUnsafe(READ_BYTES), callback };
    const socket: Socket = connect({ ...options, onread });
    return socket.pause();
  }, target);

type Connect = (options: { host: string; port: number; noDelay: true; localAddress?: string }) => Socket;

function dial(connectTo: Connect, { ip, port, localAddress, timeoutMs, signal }: DialTarget): Promise<Socket> {
  if (isIP(ip) === 0) return Promise.reject(new Fault('not an IP address', { detail: ip }));
  if (signal?.aborted) return Promise.reject(new Fault('aborted'));
  return new Promise((resolve, reject) => {
    const socket = connectTo({ host: ip, port, noDelay: true, ...(localAddress && { localAddress }) });
    const settle = (fault: Fault | null) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.off('connect', connected);
      if (!fault) {
        socket.off('error', failed);
        return resolve(socket);
      }
      // `failed` stays attached: a destroyed socket may still report an error.
      socket.destroy();
      reject(fault);
    };
    const connected = () => settle(null);
    const failed = (error: NodeJS.ErrnoException) => settle(new Fault(error.code ?? error.message, { cause: error }));
    const abort = () => settle(new Fault('aborted'));
    const timer = setTimeout(() => settle(new Fault(`no connection within ${timeoutMs / 1000} s`)), timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    socket.on('connect', connected);
    socket.on('error', failed);
  });
}

/** Why this source address can't be used here; null when it can. */
export function bindProblem(ip: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(`this machine does not have the address (${error.code ?? error.message})`);
    });
    server.listen({ host: ip, port: 0, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
