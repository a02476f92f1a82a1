// A capture server with all its parts for one test, and a client that speaks to it.
import type { Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { openSession, type SendResult, type SmtpSession } from '../../src/protocol/smtp/session.ts';
import { type CaptureServer, type CaptureServerOptions, startCaptureServer } from '../../src/sandbox/capture-server.ts';
import { type CapturedFolder, openCapturedFolder } from '../../src/sandbox/captured.ts';
import { testFolder } from '../support/test-folder.ts';

export const SENDER = 'bmessage1@bounces.postrider.test';

export interface CaptureKit extends CaptureServer {
  folder: CapturedFolder;
  connect(tls?: 'none' | 'opportunistic'): Promise<SmtpSession>;
}

export async function startCapture(t: Test, changes: Partial<CaptureServerOptions> = {}): Promise<CaptureKit> {
  const folder = await openCapturedFolder(testFolder(t));
  const server = await startCaptureServer({
    host: 'mx.capture.test',
    folder,
    reports: { send: () => {} },
    clock: systemClock,
    ids: new IdSource(),
    log: silentLogger,
    ...changes,
  });
  const sessions: SmtpSession[] = [];
  t.teardown(async () => {
    await Promise.all(sessions.map((session) => session.close()));
    await server.close();
    await folder.close();
  });
  return {
    ...server,
    folder,
    async connect(tls = 'none') {
      const to = { mx: 'mx.capture.test', ip: '127.0.0.1', port: server.port };
      const opened = await openSession({ ...to, ehloName: 'client.test', tls });
      if (opened.kind === 'failed') throw new Error(opened.peer.response);
      sessions.push(opened.session);
      return opened.session;
    },
  };
}

export interface Sending {
  mailFrom?: string;
  message?: string | Buffer;
  smtputf8?: boolean;
}

export function sendTo(session: SmtpSession, rcptTo: string, sending: Sending = {}): Promise<SendResult> {
  const { mailFrom = SENDER, message = 'Subject: Hi\r\n\r\nHi.\r\n', smtputf8 = false } = sending;
  const needs = { smtputf8, eightBit: smtputf8 };
  return session.send({ mailFrom, rcptTo, message: Buffer.from(message), needs });
}

/** `accepted`, or code, enhanced code and stage of the refusal. */
export function verdictOf(result: SendResult): string {
  const { smtpCode, enhancedCode, stage } = result.peer;
  return result.kind === 'accepted' ? 'accepted' : `${smtpCode} ${enhancedCode} at ${stage}`;
}
