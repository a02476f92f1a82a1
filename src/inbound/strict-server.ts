// smtp-server, made strict: it takes LF alone as the end of a command. A connection that sends one
// is refused and closed, before and after STARTTLS. What ends the data is right as it is: only
// CR LF dot CR LF.
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never;

/** What we use of its parser (smtp-server 3.21.6, smtp-stream.js). */
interface Parser {
  _dataMode: boolean;
  _remainder: string;
  _write(chunk: Buffer, encoding: BufferEncoding, next: (error?: Error | null) => void): void;
}

export class StrictSmtpServer extends SMTPServer {
  override connect(...args: Parameters<SMTPServer['connect']>): void {
    super.connect(...args);
    const connection = [...this.connections].at(-1);
    if (connection && socketOf(connection) === args[0]) insistOnCrlf(connection);
  }

  /** Has a parser of its own since STARTTLS. */
  insistAgain(session: SMTPServerSession): void {
    const connection = this.connectionOf(session);
    if (connection) insistOnCrlf(connection);
  }

  connectionOf(session: SMTPServerSession): Connection | null {
    for (const connection of this.connections) if (connection.session === session) return connection;
    return null;
  }
}

function socketOf(connection: Connection): Socket {
  return (connection as unknown as { _socket: Socket })._socket;
}

function insistOnCrlf(connection: Connection): void {
  const parser = connection._parser as unknown as Parser | false;
  if (parser === false) return;
  const write = parser._write;
  parser._write = (chunk, encoding, next) => {
    if (parser._dataMode || !hasLoneLf(parser._remainder, chunk)) return write.call(parser, chunk, encoding, next);
    connection.send(500, '5.5.2 Commands must end with CR LF, not with a bare LF');
    connection.close();
    next();
  };
}

function hasLoneLf(before: string, chunk: Buffer): boolean {
  for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) {
    const isAfterCr = at === 0 ? before.endsWith('\r') : chunk[at - 1] === 0x0d;
    if (!isAfterCr) return true;
  }
  return false;
}
