// The receiving side of the sandbox: a real MTA (RFC 5321) on loopback that takes mail for every
// domain, keeps it in a folder, and behaves as the recipient's local part asks. It relays
// nothing. Which first tries it has put off is forgotten when it stops.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { BoundedMap } from '../base/bounded-map.ts';
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { CapturedMail } from '../portal/captured-mails.ts';
import { type Connection, StrictSmtpServer } from '../smtp-listener/strict-server.ts';
import { keepPathAsWritten } from '../smtp-listener/written-path.ts';
import type { CapturedFolder } from './captured.ts';
import { type SmtpRefusal, treatmentOf } from './magic-recipient.ts';
import { composeReportMail } from './report-mail.ts';
import type { ReportSender } from './report-sender.ts';
import { makeSelfSigned } from './self-signed.ts';

export interface CaptureServerOptions {
  /** What it calls itself; the name that the sandbox's MX records point to. */
  host: string;
  folder: CapturedFolder;
  reports: Pick<ReportSender, 'send'>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  /** 0 for any free one. */
  port?: number;
  /** How long `slow` takes. */
  slowMs?: number;
}

export interface CaptureServer {
  port: number;
  close(): Promise<void>;
}

const SLOW_MS = 5 * SECOND_MS;
/** RFC 1870; what large receivers take. */
const MAX_OCTETS = 25 * 1024 * 1024;
const MAX_CLIENTS = 500;
// Ten times as many as anybody is known to have put off at once: whoever is forgotten is put off once more.
const MAX_REMEMBERED_TRIES = 100_000;
// By then the daemon has ended its sessions; what is left is somebody's telnet.
const CLOSE_TIMEOUT_MS = 200;

const TOO_LARGE: SmtpRefusal = { code: 552, text: `5.3.4 Message size exceeds the limit of ${MAX_OCTETS} octets` };
const NOT_KEPT: SmtpRefusal = { code: 451, text: '4.3.0 The message could not be stored; try again later' };

export async function startCaptureServer(options: CaptureServerOptions): Promise<CaptureServer> {
  const { host, clock, log } = options;
  const closing = new AbortController();
  const firstTries: FirstTries = new BoundedMap(MAX_REMEMBERED_TRIES);
  const server = new AnyRecipientServer({
    name: host,
    banner: 'Postrider sandbox',
    ...makeSelfSigned(host, clock.now()),
    size: MAX_OCTETS,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    logger: false,
    maxClients: MAX_CLIENTS,
    closeTimeout: CLOSE_TIMEOUT_MS,
    onRcptTo({ address }, { envelope }, done) {
      const refusal = refusalAtRcpt(firstTries, address, senderOf(envelope));
      done(refusal && toError(refusal));
    },
    onData(stream, session, done) {
      takeMessage(stream, session, { options, signal: closing.signal }).then(
        (taken) => (typeof taken === 'string' ? done(null, taken) : done(toError(taken))),
        (error: unknown) => {
          if (!closing.signal.aborted) log.error({ error }, `a message could not be kept: ${describeError(error)}`);
          done(toError(NOT_KEPT));
        },
      );
    },
  });
  // Peers that reset their connection, or fail in the TLS handshake.
  server.on('error', (error) => log.debug({ error }, `capture server: ${describeError(error)}`));
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    close() {
      closing.abort();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Each address that the API takes has a mailbox here, quoted local parts too. */
class AnyRecipientServer extends StrictSmtpServer {
  protected override prepare(connection: Connection): void {
    super.prepare(connection);
    keepPathAsWritten(connection, 'rcpt to');
  }
}

function refusalAtRcpt(firstTries: FirstTries, recipient: string, sender: string): SmtpRefusal | null {
  const treatment = treatmentOf(recipient);
  if (treatment.kind !== 'refuse') return null;
  // The sender's address names the message: it is a return path of our own.
  if (treatment.onlyFirstTry && !isFirst(firstTries, `${sender} ${recipient}`)) return null;
  return treatment.reply;
}

interface Reception {
  options: CaptureServerOptions;
  signal: AbortSignal;
}

/** The text of the 250, or a refusal. */
async function takeMessage(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  { options, signal }: Reception,
): Promise<string | SmtpRefusal> {
  const { folder, reports, clock, ids, host } = options;
  const facts = describe(session);
  const treatments = facts.rcptTo.map((recipient) => ({ recipient, treatment: treatmentOf(recipient) }));
  const raw = await readMessage(stream);
  if (raw === null) return TOO_LARGE;
  if (treatments.some(({ treatment }) => treatment.kind === 'pause')) {
    await sleep(options.slowMs ?? SLOW_MS, undefined, { signal });
  }
  // The id is made after the pause: whoever reads the folder in the order of ids misses nobody.
  const mail = { ...facts, id: ids.next(), receivedAt: clock.now(), sizeBytes: raw.length };
  await folder.add(mail, raw);
  for (const { recipient, treatment } of treatments) {
    if (treatment.kind !== 'report') continue;
    const date = new Date(clock.now());
    const report = composeReportMail({ kind: treatment.report, mail, raw, recipient, host, date });
    if (report) reports.send(report);
  }
  return `2.0.0 Ok: kept as ${mail.id}`;
}

/** Null when it is larger than we take; the stream is read to its end either way. */
async function readMessage(stream: SMTPServerDataStream): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets <= MAX_OCTETS) chunks.push(chunk);
    else chunks.length = 0;
  }
  return octets > MAX_OCTETS ? null : Buffer.concat(chunks, octets);
}

function describe(session: SMTPServerSession): Omit<CapturedMail, 'id' | 'receivedAt' | 'sizeBytes'> {
  const { envelope, tlsOptions, remoteAddress, hostNameAppearsAs } = session;
  return {
    mailFrom: senderOf(envelope),
    rcptTo: envelope.rcptTo.map(({ address }) => address),
    remoteIp: remoteAddress,
    ehloName: hostNameAppearsAs,
    tls: tlsOptions ? { version: tlsOptions.version, cipher: tlsOptions.name } : null,
  };
}

function senderOf({ mailFrom }: SMTPServerSession['envelope']): string {
  return mailFrom ? mailFrom.address : '';
}

function toError({ code, text }: SmtpRefusal): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

type FirstTries = BoundedMap<string, true>;

/** Whether this is the first. */
function isFirst(tries: FirstTries, key: string): boolean {
  if (tries.has(key)) return false;
  tries.set(key, true);
  return true;
}
