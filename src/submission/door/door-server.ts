// The SMTP server of the door, as smtp-server has it except for three things: AUTH is neither offered nor accepted where
// the password could be read on its way, recipients are handed on as they were written, and replies that bring their
// enhanced code (RFC 3463) get no second one.

import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { type Connection, StrictSmtpServer, socketOf } from '../../smtp-listener/strict-server.ts';
import { keepPathAsWritten } from '../../smtp-listener/written-path.ts';

type Command = (command: Buffer, done: () => void) => void;

/** The commands that we wrap (smtp-server 3.21.6, smtp-connection.js). */
interface Commands {
  handler_EHLO: Command;
  handler_AUTH: Command;
}

const HAS_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

export class DoorServer extends StrictSmtpServer {
  /** Called when smtp-server itself refuses a mail at MAIL, for the size that is announced. */
  sizeRefused: () => void = () => {};
  keysInClear = false;

  protected override prepare(connection: Connection): void {
    super.prepare(connection);
    // Checked in read-recipient.ts.
    keepPathAsWritten(connection, 'rcpt to');
    const send = connection.send.bind(connection);
    connection.send = (code, data, context) => {
      gatherReplies(connection);
      if (code === 552 && !connection.session.envelope.mailFrom) this.sizeRefused();
      if (typeof data !== 'string') return send(code, data, context);
      send(code, inAscii(data), HAS_ENHANCED_CODE.test(data) ? false : context);
    };
    this.#guardPassword(connection);
  }

  #guardPassword(connection: Connection): void {
    const { session } = connection;
    const commands = connection as unknown as Commands;
    const [ehlo, auth] = [commands.handler_EHLO.bind(connection), commands.handler_AUTH.bind(connection)];
    const mayAuth = () => this.keysInClear || keepsPassword(session);
    commands.handler_EHLO = (command, done) => {
      if (mayAuth()) return ehlo(command, done);
      session.disabledCommands = [...disabledOf(this.options), 'AUTH'];
      ehlo(command, () => {
        delete session.disabledCommands;
        done();
      });
    };
    commands.handler_AUTH = (command, done) => {
      if (mayAuth()) return auth(command, done);
      connection.send(538, '5.7.11 Encrypt the connection with STARTTLS first, then send AUTH');
      done();
    };
  }
}

/** A reply may quote what was given, and has no octet above 127 (RFC 5321 section 4.2). */
function inAscii(text: string): string {
  return text.replaceAll('\u2026', '...').replace(/[^\x20-\x7e]/gu, '?');
}

/** Replies to pipelined commands leave together (RFC 2920 section 3.2): each write costs as much as a reply itself. */
function gatherReplies(connection: Connection): void {
  const socket = socketOf(connection);
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

/** Nothing between the client and us can read along. */
function keepsPassword({ secure, remoteAddress }: SMTPServerSession): boolean {
  return secure || remoteAddress === '::1' || remoteAddress.startsWith('127.');
}

function disabledOf({ disabledCommands }: SMTPServerOptions): string[] {
  return disabledCommands ?? [];
}
