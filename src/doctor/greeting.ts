// What a mail server says first: connects, reads its greeting and sends QUIT; no mail is sent.
import type { Socket } from 'node:net';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { DoctorKit } from './doctor-settings.ts';

const CONNECT_MS = 8 * SECOND_MS;
// Postscreen and similar filters delay the greeting by six seconds.
const GREETING_MS = 12 * SECOND_MS;
const QUIT_MS = 2 * SECOND_MS;
const MAX_GREETING_CHARS = 2048;

/** Its first line, or why there is none. At the port that mail is delivered to. */
export async function greetingOf(
  { dial, settings }: DoctorKit,
  { ip, from }: { ip: string; from: string | null },
): Promise<{ greeting: string } | { unheard: string }> {
  const { port } = settings.delivery;
  let socket: Socket;
  try {
    const localAddress = from ?? undefined;
    socket = await dial({ ip, port, localAddress, timeoutMs: CONNECT_MS, signal: undefined });
  } catch (error) {
    return { unheard: describeError(error) };
  }
  const greeting = await firstLine(socket);
  await quit(socket);
  return greeting === null ? { unheard: 'connected, but received no greeting' } : { greeting };
}

/** Some servers hold it against a client that disconnects without QUIT. */
function quit(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), QUIT_MS);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.end('QUIT\r\n');
    socket.resume();
  });
}

/** Null when no line arrives in time. */
function firstLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    const settle = (line: string | null) => {
      clearTimeout(timer);
      resolve(line);
    };
    const timer = setTimeout(() => settle(null), GREETING_MS);
    socket.on('error', () => settle(null));
    socket.on('close', () => settle(null));
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      if (text.includes('\n') || text.length > MAX_GREETING_CHARS) settle(text.split(/\r?\n/)[0]!.slice(0, 200));
    });
  });
}
