// Postfix' own load generator: so many messages of a size over so many connections, one message each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

const PROGRAMS = ['/usr/sbin/smtp-source', '/usr/bin/smtp-source'];

export interface SourcePlan {
  port: number;
  connections: number;
  messages: number;
  messageBytes: number;
}

export function findSmtpSource(): string | null {
  return PROGRAMS.find((file) => fs.existsSync(file)) ?? null;
}

/** Settles when the last message is taken. `-d`: connections are kept, as Postrider keeps its own. */
export async function sendWithSmtpSource({ port, connections, messages, messageBytes }: SourcePlan): Promise<void> {
  const program = findSmtpSource();
  if (program === null) throw new Error('smtp-source is not installed (Debian package postfix)');
  const envelope = ['-f', 'orders@sender.test', '-t', 'customer@in1.test'];
  const amount = ['-s', String(connections), '-m', String(messages), '-l', String(messageBytes)];
  const child = spawn(program, ['-d', ...amount, ...envelope, `127.0.0.1:${port}`], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`smtp-source ended with ${code}`);
}
