// The SMTP server of the door, as smtp-server has it except for four things: AUTH is neither offered nor accepted where
// the password could be read on its way, AUTH LOGIN takes any user name, recipients are handed on as they were written, and
// replies that bring their enhanced code (RFC 3463) get no second one.

import type { Socket } from 'node:net';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { type Connection, StrictSmtpServer, socketOf } from '../../smtp-listener/strict-server.ts';
import { keepPathAsWritten } from '../../smtp-listener/written-path.ts';

type Command = (command: Buffer, done: () => void) => void;

/** The commands that we wrap (smtp-server 3.21.6, smtp-connection.js). */
interface Commands {
  handler_EHLO: Command;
  handler_AUTH: Command;
  /** Gets the next line of a dialog of AUTH; `false`: the next line is a command. */
  _nextHandler: Command | false;
}

const HAS_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

export class DoorServer extends StrictSmtpServer {
  /** Called when smtp-server itself refuses a mail at MAIL, for the size that is announced. */
  sizeRefused: () => void = () => {};
  keysInClear = false;
  /** Called for each connection before its greeting, after a TLS handshake that comes first. */
  connecting: (socket: Socket) => void = () => {};

  override connect(...args: Parameters<StrictSmtpServer['connect']>): void {
    this.connecting(args[0]);
    super.connect(...args);
  }

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
      if (mayAuth()) return auth(withAnyUser(command), () => takeAnyUser(commands, command, done));
      connection.send(538, '5.7.11 Encrypt the connection with STARTTLS first, then send AUTH');
      done();
    };
  }
}

/** smtp-server refuses a user name that is empty, or that has control characters; only the password counts. */
const ANY_USER = Buffer.from('any').toString('base64');

/** Where the user name is in the command itself. */
function withAnyUser(command: Buffer): Buffer {
  return Buffer.from(command.toString('latin1').replace(/^(AUTH\s+LOGIN\s+)\S+\s*$/i, `$1${ANY_USER}`), 'latin1');
}

/** Where it is asked for; `*` gives up (RFC 4954 section 4). */
function takeAnyUser(commands: Commands, command: Buffer, done: () => void): void {
  const next = commands._nextHandler;
  if (next !== false && /^AUTH\s+LOGIN\s*$/i.test(command.toString('latin1'))) {
    commands._nextHandler = (line, ended) =>
      next(line.toString('latin1').trim() === '*' ? line : Buffer.from(ANY_USER), ended);
  }
  done();
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
