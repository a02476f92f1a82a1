// The start of a session on one connection: connect, greeting, EHLO, STARTTLS, EHLO again. It tries once and reports
// how far it got; session.ts decides whether to retry in clear text.
import type { SecureContext } from 'node:tls';
import { describeError } from '../../base/errors.ts';
import type { SmtpStage, TlsFacts } from '../../base/outcome.ts';
import { type Capabilities, parseCapabilities } from './capabilities.ts';
import type { Dialler } from './dial.ts';
import type { Reply } from './reply.ts';
import { secure } from './secure.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import { type Loss, Wire } from './wire.ts';

/**
 * none: never. opportunistic: if offered, with any certificate (RFC 7435). required: always, and the certificate must
 * be valid for the MX name (MTA-STS, RFC 8461).
 */
export type TlsMode = 'none' | 'opportunistic' | 'required';

export interface IntroductionOptions {
  mx: string;
  ip: string;
  port: number;
  localAddress: string | undefined;
  ehloName: string;
  tls: TlsMode;
  secureContext: SecureContext | undefined;
  timeouts: SmtpTimeouts;
  dial: Dialler;
  signal: AbortSignal | undefined;
  /** Called when a stage is over. */
  onStage: ((stage: SmtpStage) => void) | undefined;
}

export interface Introduced {
  kind: 'ready';
  wire: Wire;
  capabilities: Capabilities;
  tls: TlsFacts | null;
  /** Why the certificate is not valid for the MX name; null when it is, or without TLS. */
  tlsUnverified: string | null;
}

/**
 * Why TLS failed. missing: it is required but not offered. refused: STARTTLS was rejected. broken: the handshake failed
 * or stalled, or the server left right after it. unverified: the certificate is required to be valid but is not.
 */
export type TlsTrouble = 'missing' | 'refused' | 'broken' | 'unverified';

export interface Failed {
  kind: 'failed';
  stage: SmtpStage;
  /** The server's rejection, if the server ended it. */
  reply: Reply | null;
  why: string;
  tls: TlsFacts | null;
  /** Null when the failure is not about TLS. */
  tlsTrouble: TlsTrouble | null;
}

export async function introduce(options: IntroductionOptions): Promise<Introduced | Failed> {
  const { ip, port, localAddress, timeouts, signal, dial, onStage } = options;
  let wire: Wire;
  try {
    wire = new Wire(await dial({ ip, port, localAddress, timeoutMs: timeouts.connectMs, signal }));
  } catch (error) {
    return failed('connect', `connect: ${describeError(error)}`);
  }
  onStage?.('connect');
  const leave = wire.loseOn(signal);
  try {
    const refusal = await greet(wire, timeouts);
    if (refusal) return refusal;
    onStage?.('greeting');
    const capabilities = await sayHello(wire, options);
    if ('kind' in capabilities) return capabilities;
    if (options.tls === 'none') return { kind: 'ready', wire, capabilities, tls: null, tlsUnverified: null };
    if (capabilities.startTls) return await startTls(wire, options);
    if (options.tls === 'opportunistic') return { kind: 'ready', wire, capabilities, tls: null, tlsUnverified: null };
    const missing = failed('starttls', 'TLS is required here, but the server does not offer STARTTLS');
    return part(wire, { ...missing, tlsTrouble: 'missing' });
  } finally {
    leave();
  }
}

async function greet(wire: Wire, timeouts: SmtpTimeouts): Promise<Failed | null> {
  const received = await wire.readReply(timeouts.greetingMs);
  if (!('lost' in received) && received.code === 220) return null;
  return part(wire, unwelcome('greeting', received));
}

async function sayHello(wire: Wire, options: IntroductionOptions): Promise<Capabilities | Failed> {
  const { ehloName, timeouts, onStage } = options;
  wire.write(`EHLO ${ehloName}\r\n`);
  const received = await wire.readReply(timeouts.ehloMs);
  if ('lost' in received) return unwelcome('ehlo', received);
  onStage?.('ehlo');
  if (received.code === 250) return parseCapabilities(received.lines);
  // RFC 5321 section 3.2: a server that does not know EHLO must still know HELO.
  if (received.code < 500) return part(wire, unwelcome('ehlo', received));
  wire.write(`HELO ${ehloName}\r\n`);
  const second = await wire.readReply(timeouts.ehloMs);
  if (!('lost' in second) && second.code === 250) return parseCapabilities([]);
  return part(wire, unwelcome('ehlo', second));
}

async function startTls(clear: Wire, options: IntroductionOptions): Promise<Introduced | Failed> {
  const { mx, secureContext, timeouts, signal, tls: mode } = options;
  clear.write('STARTTLS\r\n');
  const received = await clear.readReply(timeouts.startTlsMs);
  if ('lost' in received || received.code !== 220) {
    // 421 is about the whole service (RFC 5321 section 3.8): a second connection would be of no use.
    if ('lost' in received) return part(clear, { ...unwelcome('starttls', received), tlsTrouble: 'broken' });
    const tlsTrouble = received.code === 421 ? null : 'refused';
    return part(clear, { ...unwelcome('starttls', received), tlsTrouble });
  }
  if (clear.hasUnreadReply) {
    // RFC 3207 section 4.2, CVE-2011-0411: data sent in clear text must not be taken for a reply under TLS.
    clear.lose('protocol error: data between the reply to STARTTLS and the TLS handshake');
    return { ...failed('starttls', clear.loss!.lost), tlsTrouble: 'broken' };
  }
  if (clear.loss) return { ...failed('starttls', clear.loss.lost), tlsTrouble: 'broken' };

  const result = await secure(clear.detach(), { host: mx, secureContext, timeoutMs: timeouts.startTlsMs, signal });
  if (result.kind === 'failed') return { ...failed('starttls', result.why), tlsTrouble: 'broken' };
  options.onStage?.('starttls');
  const wire = new Wire(result.socket);
  const { facts: tls, unverified: tlsUnverified } = result;
  if (mode === 'required' && tlsUnverified !== null) {
    wire.lose('certificate not acceptable');
    return {
      ...failed('starttls', `certificate not valid for ${mx}: ${tlsUnverified}`),
      tls,
      tlsTrouble: 'unverified',
    };
  }
  return await meetAgain(wire, options, { tls, tlsUnverified });
}

/** RFC 3207 section 4.2: what was learned before TLS is discarded. */
async function meetAgain(
  wire: Wire,
  options: IntroductionOptions,
  security: { tls: TlsFacts; tlsUnverified: string | null },
): Promise<Introduced | Failed> {
  const leave = wire.loseOn(options.signal);
  try {
    const capabilities = await sayHello(wire, options);
    if ('kind' in capabilities) {
      // In TLS 1.3 our side of the handshake is done before the server has checked it (RFC 8446 section 4.4.2.4): where it
      // wants a certificate of ours, it leaves now.
      const isRefused = wire.loss?.byServer === true && capabilities.reply === null;
      if (!isRefused || options.tls === 'required') return { ...capabilities, tls: security.tls };
      return { ...failed('starttls', `after the TLS handshake: ${capabilities.why}`), tlsTrouble: 'broken' };
    }
    return { kind: 'ready', wire, capabilities, ...security };
  } finally {
    leave();
  }
}

/** Ends a connection after a failure, without waiting for the reply to QUIT. */
function part(wire: Wire, failure: Failed): Failed {
  wire.write('QUIT\r\n');
  wire.lose('given up');
  return failure;
}

function unwelcome(stage: SmtpStage, received: Reply | Loss): Failed {
  if ('lost' in received) return failed(stage, received.lost);
  if (received.code >= 400) return { ...failed(stage, received.text), reply: received };
  return failed(stage, `protocol error: unexpected reply ${received.code} ${received.text}`);
}

function failed(stage: SmtpStage, why: string): Failed {
  return { kind: 'failed', stage, reply: null, why, tls: null, tlsTrouble: null };
}
