// The small HTTP interface that all of Postrider speaks: a request with lazily read parts, a
// reply as a value, a handler between them. Two engines stand behind it (start-http.ts).
// Left out on purpose: streaming replies, trailers, upgrades, server push.

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Without the query, still percent-encoded: decoding is the router's affair. */
  readonly path: string;
  /** What stands after the question mark, as it came. */
  readonly queryText: string;
  readonly query: URLSearchParams;
  /** Field lines of one name are joined (RFC 9110 section 5.3), so that no copy can hide behind another. */
  header(name: string): string | undefined;
  /** The other end of the TCP connection, in the shortest spelling; empty if it is unknown. */
  readonly peerAddress: string;
  /** The client, looked at through trusted proxies. */
  readonly clientAddress: string;
  /** TLS up to us, or up to a trusted proxy that says so. */
  readonly secure: boolean;
  /** What the client has said about the body's length; null: it is chunked. */
  readonly declaredBodyBytes: number | null;
  /** Reads the body once; later calls get the first call's result. Without `room`, any body up to the limit is kept. */
  readBody(limitBytes: number, room?: BodyRoom): Promise<BodyResult>;
}

export type BodyResult =
  | { kind: 'body'; bytes: Buffer }
  | { kind: 'too_large' }
  /** `room` had too little. */
  | { kind: 'no_room' }
  /** It broke off, was malformed, brought no byte for `bodyIdleMs`, or too few in `bodyPaceMs`. */
  | { kind: 'broken' };

/**
 * Says whether so many more bytes may be kept. Asked for what goes beyond the 64 KiB that are kept of any body: once
 * and before the first byte where the length is declared, in steps where it is not.
 */
export interface BodyRoom {
  take(bytes: number): boolean;
}

export interface HttpReply {
  status: number;
  /** Names in any case; an array makes several lines. Framing (Content-Length, Connection, …) is the kernel's. */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: Buffer | string;
}

export type HttpHandler = (request: HttpRequest) => HttpReply | Promise<HttpReply>;

export type HttpEngineName = 'uws' | 'node';

export interface HttpServer {
  readonly port: number;
  readonly engine: HttpEngineName;
  /** Stops accepting, lets running requests finish for at most `graceMs`, then drops every connection. */
  close(graceMs: number): Promise<void>;
}

export interface HttpLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface HttpOptions {
  engine: HttpEngineName;
  host: string;
  /** 0 takes a free one. */
  port: number;
  tls?: { certFile: string; keyFile: string };
  /** Addresses and CIDR networks whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  trustedProxies: readonly string[];
  handler: HttpHandler;
  /** Told of everything that a handler throws; the client gets a 500 that says nothing of it. */
  onError(error: unknown): void;
  log: HttpLog;
  limits?: Partial<HttpLimits>;
}

export interface HttpLimits {
  /** A body that brings no byte for so long is broken. Below the 10 s after which uWebSockets hangs up. */
  bodyIdleMs: number;
  /** In each such time a body brings `BODY_PACE_BYTES` or ends, else it is broken: bytes that trickle hold memory. */
  bodyPaceMs: number;
  /** How much of a body that nobody wants is taken in, so that the client comes to read the answer. */
  drainBytes: number;
  /** A client that pauses for so long while its body is drained is taken to have seen the answer. */
  drainIdleMs: number;
  /** How often certificate and key are looked at. */
  tlsCheckMs: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  bodyIdleMs: 8_000,
  bodyPaceMs: 30_000,
  drainBytes: 64 * 1024 * 1024,
  drainIdleMs: 1_000,
  tlsCheckMs: 30_000,
};

/** Over 30 s, 2 KiB a second: less than any line that people still use. uWebSockets itself asks for more. */
export const BODY_PACE_BYTES = 64 * 1024;

/** 16 KiB for the header fields, and one for the request line. */
export const HEADER_LIMIT_BYTES = 17 * 1024;
