// The protocol of the control socket between command line and daemon: one JSON value and a line end in each direction,
// then the connection ends. The socket's mode is its only protection: a process that can open it is an operator's.
import type { Socket } from 'node:net';
import path from 'node:path';
import { Fault } from '../../base/errors.ts';
import type { Answer } from '../answer.ts';

export interface ControlRequest {
  command: string;
  /** As typed; the command parses them where it runs. */
  options: Readonly<Record<string, unknown>>;
}

/** `exit`: of a command whose result itself reports a problem. */
export type ControlResponse = { ok: unknown; exit?: number } | { error: { message: string; exit: 1 | 2 } };

/** Arguments are short. */
export const REQUEST_MAX_BYTES = 64 * 1024;
/** The largest inbound mail (smtp.max_mail_mib, 100 at most) in base64; lists stay well below. */
export const RESPONSE_MAX_BYTES = 160 * 1024 * 1024;
/** Long enough for a slow disk, and for domain verify, which waits for name servers: half a minute at most. */
export const COMMAND_TIMEOUT_MS = 60_000;

// sockaddr_un has 108 bytes with the closing zero on Linux, 104 elsewhere; longer names are silently truncated or
// rejected.
const SOCKET_NAME_MAX_BYTES = 103;

/** The name to open the socket by: unchanged, or relative to the working folder when that is shorter. */
export function socketName(file: string, workingDir: string): string {
  if (Buffer.byteLength(file) <= SOCKET_NAME_MAX_BYTES) return file;
  const relative = path.relative(workingDir, file);
  if (Buffer.byteLength(relative) <= SOCKET_NAME_MAX_BYTES) return relative;
  throw new Fault(`${file} is too long for a socket path: choose a shorter data.dir`, {
    permanence: 'permanent',
  });
}

export function toResponse(answer: Answer): ControlResponse {
  switch (answer.kind) {
    case 'done':
      return answer.exit ? { ok: answer.result, exit: answer.exit } : { ok: answer.result };
    case 'failed':
      return { error: { message: answer.message, exit: 1 } };
    case 'wrong_usage':
      return { error: { message: answer.message, exit: 2 } };
    case 'ended':
      return { error: { message: "this command can't run in the daemon", exit: 1 } };
  }
}

export function toAnswer(response: ControlResponse): Answer {
  if ('ok' in response) {
    const { ok: result, exit } = response;
    return typeof exit === 'number' ? { kind: 'done', result, exit } : { kind: 'done', result };
  }
  const { message, exit } = response.error;
  return { kind: exit === 2 ? 'wrong_usage' : 'failed', message };
}

/** The first line received, as JSON; null when it ends early, is too long or is not JSON. */
export function readLine(socket: Socket, maxBytes: number): Promise<unknown> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (line: Buffer | null) => {
      socket.removeListener('data', onData);
      resolve(line === null ? null : parseJson(line));
    };
    const onData = (part: Buffer) => {
      const end = part.indexOf(0x0a);
      parts.push(end < 0 ? part : part.subarray(0, end));
      size += parts.at(-1)!.length;
      if (size > maxBytes) finish(null);
      else if (end >= 0) finish(Buffer.concat(parts));
    };
    socket.on('data', onData);
    socket.once('end', () => finish(null));
    socket.once('close', () => finish(null));
  });
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return null;
  }
}
