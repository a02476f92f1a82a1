// Mail that the sandbox has captured, as the portal sees it.

export interface CapturedMail {
  /** A UUIDv7: ids sort by arrival. */
  id: string;
  /** Milliseconds since 1970. */
  receivedAt: number;
  /** Empty for the null sender. */
  mailFrom: string;
  rcptTo: string[];
  sizeBytes: number;
  remoteIp: string;
  /** What the client called itself. */
  ehloName: string;
  tls: { version: string; cipher: string } | null;
}

/** What is kept: the oldest go when there is more. */
export interface CapturedLimits {
  messages: number;
  octets: number;
}

export interface CapturedMails {
  readonly limits: CapturedLimits;
  /** In the order of arrival, after the one with the id `after`, or from the oldest. */
  list(after: string | null, limit: number): CapturedMail[];
  /** Null when there is none, or no longer. */
  get(id: string): Promise<{ mail: CapturedMail; raw: Buffer } | null>;
  /** The first octets of it; null when there is none, or no longer. */
  head(id: string, octets: number): Promise<Buffer | null>;
  /** The tenant that the sandbox has made for its visitor; null until then. */
  ownerTenantId(): string | null;
}
