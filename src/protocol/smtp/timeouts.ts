// How long the client waits at each stage (RFC 5321 section 4.5.3.2), in one table. Each timeout is for one reply or
// one block of data; callers limit a whole message (AbortSignal).
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';

export interface SmtpTimeouts {
  connectMs: number;
  greetingMs: number;
  ehloMs: number;
  /** For the reply to STARTTLS, and once more for the handshake. */
  startTlsMs: number;
  /** For MAIL, and for the RSET before it. */
  mailMs: number;
  rcptMs: number;
  /** For the 354 after DATA. */
  dataMs: number;
  /** For the server to accept one block of the body. */
  dataBlockMs: number;
  /** For the reply to the final dot. */
  dotMs: number;
  quitMs: number;
}

export const DEFAULT_TIMEOUTS: Readonly<SmtpTimeouts> = {
  // The RFC does not cover connecting. A SYN is repeated after 1, 3, 7 and 15 s: later ones rarely help.
  connectMs: 30 * SECOND_MS,
  // The RFC says 5 minutes, but a server that has not greeted yet holds nothing of ours, and its slot is better used
  // for the next MX. Tarpits greet within 45 s.
  greetingMs: 60 * SECOND_MS,
  ehloMs: 5 * MINUTE_MS,
  // RFC 3207 names none; a handshake is cheap, and under opportunistic TLS clear text has to wait for it.
  startTlsMs: 60 * SECOND_MS,
  mailMs: 5 * MINUTE_MS,
  rcptMs: 5 * MINUTE_MS,
  dataMs: 2 * MINUTE_MS,
  dataBlockMs: 3 * MINUTE_MS,
  // Never shorter: giving up here causes duplicates (RFC 1047).
  dotMs: 10 * MINUTE_MS,
  // Nothing depends on the answer to QUIT.
  quitMs: 2 * SECOND_MS,
};

/** The table with all timeouts multiplied. */
export function scaleTimeouts(factor: number, timeouts: Readonly<SmtpTimeouts> = DEFAULT_TIMEOUTS): SmtpTimeouts {
  const scaled = { ...timeouts };
  for (const key of Object.keys(scaled) as (keyof SmtpTimeouts)[]) scaled[key] *= factor;
  return scaled;
}
