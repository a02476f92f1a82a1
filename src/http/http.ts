// The small HTTP interface that all of Postrider uses: a request with lazily read parts, a reply as a value, a handler
// between them. There are two engines behind it (start-http.ts).
// Left out on purpose: streaming replies, trailers, upgrades, server push.

import type { TlsFiles, TlsSource } from './tls-files.ts';

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Without the query, still percent-encoded: the router decodes it. */
  readonly path: string;
  /** The raw text after the question mark. */
  readonly queryText: string;
  readonly query: URLSearchParams;
  /** Field lines of one name are joined (RFC 9110 section 5.3), so that no copy can hide behind another. */
  header(name: string): string | undefined;
  /** The other end of the TCP connection, in the shortest spelling; empty if it is unknown. */
  readonly peerAddress: string;
  /** The client's address, through trusted proxies. */
  readonly clientAddress: string;
  /** TLS up to us, or up to a trusted proxy that says so. */
  readonly secure: boolean;
  /** The body's length as the client declared it; null: it is chunked. */
  readonly declaredBodyBytes: number | null;
  /** Reads the body once; later calls get the same result. Without `room`, any body up to the limit is kept. */
  readBody(limitBytes: number, room?: BodyRoom): Promise<BodyResult>;
}

export type BodyResult =
  | { kind: 'body'; bytes: Buffer }
  | { kind: 'too_large' }
  /** `room` did not have enough. */
  | { kind: 'no_room' }
  /** It was cut off or malformed, sent no byte for `bodyIdleMs`, or too few in `bodyPaceMs`. */
  | { kind: 'broken' };

/**
 * Says whether so many more bytes may be kept. Called for what exceeds the 64 KiB that are kept of any body: once and
 * before the first byte if the length is declared, in steps otherwise.
 */
export interface BodyRoom {
  take(bytes: number): boolean;
}

export interface HttpReply {
  status: number;
  /** Names in any case; an array becomes several lines. The kernel sets framing (Content-Length, Connection, …). */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: Buffer | string;
}

export type HttpHandler = (request: HttpRequest) => HttpReply | Promise<HttpReply>;

export type HttpEngineName = 'uws' | 'node';

export interface HttpServer {
  readonly port: number;
  readonly engine: HttpEngineName;
  /** Stops accepting, lets running requests finish for at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

export interface HttpLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface HttpOptions {
  engine: HttpEngineName;
  host: string;
  /** 0 picks a free port. */
  port: number;
  tls?: TlsFiles | TlsSource;
  /** Addresses and CIDR networks whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustedProxies: readonly string[];
  handler: HttpHandler;
  /** Gets every error that a handler throws; the client only gets a 500. */
  onError(error: unknown): void;
  log: HttpLog;
  limits?: Partial<HttpLimits>;
}

export interface HttpLimits {
  /** A body without a byte for so long is broken. */
  bodyIdleMs: number;
  /** In each such period a body must bring `BODY_PACE_BYTES` or end: slow bodies would hold memory. */
  bodyPaceMs: number;
  /** How much of an unwanted body is received, so that the client gets to read the response. */
  drainBytes: number;
  /** A client that pauses for so long while its body is drained is assumed to have read the response. */
  drainIdleMs: number;
  /** How often the certificate and key files are checked. */
  tlsCheckMs: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  bodyIdleMs: 8_000,
  bodyPaceMs: 30_000,
  drainBytes: 64 * 1024 * 1024,
  drainIdleMs: 1_000,
  tlsCheckMs: 30_000,
};

/** 2 KiB a second over 30 s: less than any connection in use today. */
export const BODY_PACE_BYTES = 64 * 1024;

/** 16 KiB for the header fields, and one for the request line. */
export const HEADER_LIMIT_BYTES = 17 * 1024;
