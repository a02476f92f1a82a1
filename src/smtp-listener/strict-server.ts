// smtp-server accepts a bare LF as the end of a command; this subclass refuses and closes such a
// connection, before and after STARTTLS. smtp-server's end of data is strict already: only CR LF dot
// CR LF. The path of MAIL is accepted whatever it is: a report from a server with an odd name is still a report.
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { keepPathAsWritten } from './written-path.ts';

export type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never;

/** The part of its parser that we use (smtp-server 3.21.6, smtp-stream.js). */
interface Parser {
  _dataMode: boolean;
  _remainder: string;
  _write(chunk: Buffer, encoding: BufferEncoding, next: (error?: Error | null) => void): void;
}

export class StrictSmtpServer extends SMTPServer {
  override connect(...args: Parameters<SMTPServer['connect']>): void {
    super.connect(...args);
    const connection = [...this.connections].at(-1);
    if (connection && socketOf(connection) === args[0]) this.prepare(connection);
  }

  /** Before the connection has read anything. */
  protected prepare(connection: Connection): void {
    enforceCrlf(connection);
    keepPathAsWritten(connection, 'mail from');
  }

  /** After STARTTLS the connection has a new parser. */
  enforceCrlfAgain(session: SMTPServerSession): void {
    const connection = this.connectionOf(session);
    if (connection) enforceCrlf(connection);
  }

  connectionOf(session: SMTPServerSession): Connection | null {
    for (const connection of this.connections) if (connection.session === session) return connection;
    return null;
  }
}

export function socketOf(connection: Connection): Socket {
  return (connection as unknown as { _socket: Socket })._socket;
}

function enforceCrlf(connection: Connection): void {
  const parser = connection._parser as unknown as Parser | false;
  if (parser === false) return;
  const write = parser._write;
  parser._write = (chunk, encoding, next) => {
    if (parser._dataMode || !hasBareLf(parser._remainder, chunk)) return write.call(parser, chunk, encoding, next);
    connection.send(500, '5.5.2 Commands must end with CR LF, not with a bare LF');
    connection.close();
    next();
  };
}

function hasBareLf(before: string, chunk: Buffer): boolean {
  for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) {
    const isAfterCr = at === 0 ? before.endsWith('\r') : chunk[at - 1] === 0x0d;
    if (!isAfterCr) return true;
  }
  return false;
}
