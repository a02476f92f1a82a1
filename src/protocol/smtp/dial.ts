// Opens a TCP connection to one address. Which address, and from which of our own, is decided
// by the caller; names are never resolved here.
import { connect, createServer, isIP, type Socket } from 'node:net';
import { Fault } from '../../base/errors.ts';

export interface DialTarget {
  ip: string;
  port: number;
  /** The own address to speak from; undefined leaves it to the system. */
  localAddress: string | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Resolves to a connected socket that nobody has read from, or rejects. */
export type Dialler = (target: DialTarget) => Promise<Socket>;

export const dialTcp: Dialler = ({ ip, port, localAddress, timeoutMs, signal }) => {
  if (isIP(ip) === 0) return Promise.reject(new Fault('not an IP address', { detail: ip }));
  if (signal?.aborted) return Promise.reject(new Fault('aborted'));
  return new Promise((resolve, reject) => {
    const socket = connect({ host: ip, port, noDelay: true, ...(localAddress && { localAddress }) });
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
};

/** Why nobody can speak from this address here; null when it can be done. */
export function bindProblem(ip: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(`this machine does not have the address (${error.code ?? error.message})`);
    });
    server.listen({ host: ip, port: 0, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
