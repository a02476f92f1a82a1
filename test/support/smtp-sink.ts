// Postfix' smtp-sink as receiving server: takes everything, or fails in the way that its options say.
import { existsSync } from 'node:fs';
import { runServer, type ServerProgram } from './server-program.ts';

const PROGRAM = '/usr/sbin/smtp-sink';

/** Why there is none here, or false: the `skip` of a test. */
export const noSmtpSink: string | false = existsSync(PROGRAM)
  ? false
  : `${PROGRAM} is not installed: apt-get install postfix`;

export async function startSmtpSink(address: string, port: number, ...options: string[]): Promise<ServerProgram> {
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const sink = runServer(PROGRAM, [...user, ...options, `${address}:${port}`, '100']);
  await sink.answersAt([address], port);
  return sink;
}
