// A real receiving MTA for tests: keeps what it gets; a recipient's local part chooses what it says.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { heldOpen } from './held-open.ts';

export interface ReceivedMail {
  from: string;
  to: string;
  raw: Buffer;
  /** A number per connection, to see which messages shared one. */
  session: string;
  secure: boolean;
}

export interface MailSink {
  port: number;
  mails: ReceivedMail[];
  /** Connections, `most`: at one time. */
  connections: { total: number; most: number };
  /** The most connections at one time, by the address that they come from. */
  mostBySource: Map<string, number>;
  /** Resolves as soon as the sink holds so many mails. */
  received(count: number): Promise<ReceivedMail[]>;
  close(): Promise<void>;
}

/** `drop` ends the connection without a word; `keep and drop` has taken the mail before. */
export type SinkReply = { code: number; text: string } | 'drop' | 'keep and drop';
type Answer = SinkReply | null;

export interface SinkOptions {
  /** Refuses at RCPT when it returns a reply. */
  onRcpt?(address: string): Answer | Promise<Answer>;
  /** Refuses at the final dot when it returns a reply. */
  onMail?(mail: ReceivedMail): Answer | Promise<Answer>;
  server?: SMTPServerOptions;
  port?: number;
  host?: string;
}

/**
 * Whether neither side has said that it is over. A new connection may be heard of before the close of the one in whose
 * place it came, though that was first on the wire; but who waits for the answer to QUIT cannot have been faster.
 */
const isOpen = (socket: Socket) => !socket.writableEnded && !socket.readableEnded && !socket.destroyed;

// Clients that linger must not keep a test waiting.
const CLOSE_TIMEOUT_MS = 50;

export async function startMailSink(options: SinkOptions = {}): Promise<MailSink> {
  const mails: ReceivedMail[] = [];
  const connections = { total: 0, most: 0 };
  const mostBySource = new Map<string, number>();
  const sockets = new Map<number, Socket>();
  const waiting: { count: number; resolve(): void }[] = [];
  const keep = (mail: ReceivedMail) => {
    mails.push(mail);
    for (const entry of waiting.filter(({ count }) => count <= mails.length)) entry.resolve();
  };
  const say = (answer: Answer, session: SMTPServerSession, done: (error?: Error | null) => void) => {
    if (typeof answer === 'string') sockets.get(session.remotePort)?.destroy();
    else done(answer && Object.assign(new Error(answer.text), { responseCode: answer.code }));
  };
  const server = new SMTPServer({
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    logger: false,
    hideSTARTTLS: true,
    closeTimeout: CLOSE_TIMEOUT_MS,
    onRcptTo: async (address, session, done) => say((await options.onRcpt?.(address.address)) ?? null, session, done),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo[0]!.address,
          raw: Buffer.concat(chunks),
          session: session.id,
          secure: session.secure,
        };
        const answer = (await options.onMail?.(mail)) ?? null;
        if (answer === null || answer === 'keep and drop') keep(mail);
        say(answer, session, done);
      });
    },
    ...options.server,
  });
  server.on('error', () => {}); // peers that vanish are part of the tests
  server.server.on('connection', (socket: Socket) => {
    sockets.set(socket.remotePort!, socket);
    connections.total++;
    connections.most = Math.max(connections.most, [...sockets.values()].filter(isOpen).length);
    const source = String(socket.remoteAddress);
    const open = [...sockets.values()].filter((one) => isOpen(one) && one.remoteAddress === source).length;
    const most = mostBySource.get(source) ?? 0;
    // Whoever was killed, or has broken a mail off, has not waited for an answer to QUIT.
    if (open > most) mostBySource.set(source, Math.max(most, heldOpen(source, socket.localPort!)));
    const { remotePort } = socket;
    socket.on('close', () => sockets.delete(remotePort!));
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections,
    mostBySource,
    async received(count) {
      if (mails.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return mails;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
