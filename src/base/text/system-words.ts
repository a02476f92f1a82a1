// Errors of the operating system in words for people: Node's messages have a code, a call and a path.
import { describeError, Fault } from '../errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  EEXIST: 'it already exists',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is exceeded',
  EROFS: 'the disk is read-only',
  EMFILE: 'too many files are open',
};

/** Without the path: the sentence around it names it. */
export function systemWords(thrown: unknown): string {
  return (thrown instanceof Error && WORDS[codeOf(thrown)]) || describeError(thrown);
}

/** The same with the path, where the sentence does not name it. */
export function systemTrouble(thrown: unknown): string {
  const { path } = thrown as NodeJS.ErrnoException;
  return typeof path === 'string' && path !== '' ? `${path}: ${systemWords(thrown)}` : systemWords(thrown);
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error instanceof Fault ? '' : (error.code ?? '');
}

interface ListenPlace {
  host: string;
  port: number;
  /** The keys of the section, where they are not `host` and `port`. */
  hostKey?: string;
  key?: string;
}

/** `section` is the configuration section of the listener. Other errors are returned as they are. */
export function listenFault(
  section: string,
  { host, port, hostKey = 'host', key = 'port' }: ListenPlace,
  cause: unknown,
): unknown {
  const { code = '', syscall = '' } = cause as NodeJS.ErrnoException;
  if (!['listen', 'bind', 'getaddrinfo'].includes(syscall)) return cause;
  const anotherPort = `choose another ${section}.${key} (environment variable POSTRIDER_${`${section}_${key}`.toUpperCase()})`;
  const why = {
    EADDRINUSE: `another program uses this port (ss -ltnp shows which): stop it, or ${anotherPort}`,
    EACCES: `ports below 1024 need CAP_NET_BIND_SERVICE, which systemd/postrider.service grants: start the daemon with it, or ${anotherPort}`,
    EADDRNOTAVAIL: `this machine has no such address: choose another ${section}.${hostKey}`,
    ENOTFOUND: `no such host: ${section}.${hostKey} must be an address of this machine`,
  }[code];
  const message = `${section}.${hostKey}, ${section}.${key}: cannot listen on ${host}:${port}`;
  return new Fault(message, { detail: why ?? describeError(cause), cause, permanence: 'permanent' });
}
