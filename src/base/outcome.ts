// The outcome of one attempt to deliver one message: a union that couriers produce, the store records, and log, API
// and portal show. Values, not exceptions.

/** How far the session with the receiving server had got. */
export type SmtpStage =
  | 'resolve'
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'dot'
  | 'prepare';

/** When a stage was over, in milliseconds since 1970. */
export type StageMark = [stage: SmtpStage, endedAt: number];

export interface TlsFacts {
  /** For example `TLSv1.3`. */
  version: string;
  cipher: string;
  /** Whether the certificate is valid for the MX name; without a policy it need not be. */
  verified: boolean;
}

/** What the recipients' domain requires of the connection (MTA-STS, RFC 8461). */
export type TlsPolicyMode = 'none' | 'testing' | 'enforce';

export interface TlsPolicyFacts {
  mode: TlsPolicyMode;
  /** Why TLS or the policy failed although the mail was sent, as a sentence. */
  failure: string | null;
}

export const NO_TLS_POLICY: Readonly<TlsPolicyFacts> = { mode: 'none', failure: null };

/** What is known of the receiving server and its reply. */
export interface PeerFacts {
  mx: string | null;
  remoteIp: string | null;
  stage: SmtpStage;
  smtpCode: number | null;
  /** RFC 3463, for example `5.1.1`. */
  enhancedCode: string | null;
  /** The server's reply, lines joined by a space, at most 1,000 characters; or our own words. */
  response: string;
  /** Null in clear text. */
  tls: TlsFacts | null;
  tlsPolicy: TlsPolicyFacts;
  elapsedMs: number;
  /** Where no session was established: every address that was tried, including the last. */
  tried?: readonly TriedHost[];
}

/** One address of an MX host, and why no session was established. */
export interface TriedHost {
  mx: string;
  ip: string;
  port: number;
  stage: SmtpStage;
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string;
}

export type BounceType = 'hard' | 'soft' | 'block';

export type DeliveryOutcome =
  | { kind: 'delivered'; peer: PeerFacts }
  | {
      kind: 'temporary';
      peer: PeerFacts;
      reason: string;
      /** The connection was lost after the final dot: it may have been accepted. */
      ambiguous: boolean;
      /** A delay that the server named in its reply. */
      retryAfterMs: number | null;
    }
  | { kind: 'permanent'; peer: PeerFacts; reason: string; bounce: BounceType };

export function noPeer(stage: SmtpStage, response: string): PeerFacts {
  return {
    mx: null,
    remoteIp: null,
    stage,
    smtpCode: null,
    enhancedCode: null,
    response,
    tls: null,
    tlsPolicy: NO_TLS_POLICY,
    elapsedMs: 0,
  };
}
