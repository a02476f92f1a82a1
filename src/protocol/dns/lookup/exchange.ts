// One query to one DNS server: UDP first, TCP when the response was truncated (RFC 7766), within a hard deadline. Every
// query has a random ID and its own socket, hence its own source port (RFC 5452). Callers choose servers and retry.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIP, isIPv6 } from 'node:net';
import { type DnsAnswer, type DnsReply, decodeReply, encodeQuery, isAskable, RCODE, type RecordType } from './wire.ts';

export interface DnsServer {
  ip: string;
  port: number;
}

export interface ExchangeRequest {
  server: DnsServer;
  /** Lower case, A-labels, no final dot. */
  name: string;
  type: RecordType;
  /** Whether the server is asked for recursion. */
  recursive: boolean;
  timeoutMs: number;
  transport?: 'udp' | 'tcp';
  signal?: AbortSignal;
}

export type ExchangeResult =
  | { kind: 'answer'; answer: DnsAnswer }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  | { kind: 'network_error'; reason: string }
  | { kind: 'malformed'; reason: string };

interface Attempt {
  server: DnsServer;
  bytes: Buffer;
  read(bytes: Buffer): DnsReply;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

type AttemptResult = ExchangeResult | { kind: 'truncated' };
type Settle = (result: AttemptResult) => void;

/** Reads `ip`, `ip4:port` and `[ip6]:port`. */
export function parseServer(text: string, defaultPort = 53): DnsServer | null {
  if (isIP(text)) return { ip: text, port: defaultPort };
  const parts = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const ip = parts?.[1] ?? parts?.[2] ?? '';
  const port = parts?.[3] === undefined ? defaultPort : Number(parts[3]);
  const familyFits = parts?.[1] === undefined ? isIP(ip) === 4 : isIP(ip) === 6;
  return familyFits && port >= 1 && port <= 65_535 ? { ip, port } : null;
}

export function formatServer(server: DnsServer): string {
  return isIPv6(server.ip) ? `[${server.ip}]:${server.port}` : `${server.ip}:${server.port}`;
}

export async function exchange(request: ExchangeRequest): Promise<ExchangeResult> {
  if (!isAskable(request.name, request.type))
    return { kind: 'malformed', reason: `"${request.name}" is not a DNS name` };
  const deadline = performance.now() + request.timeoutMs;
  let transport = request.transport ?? 'udp';
  let edns = true;
  for (;;) {
    const attempt = newAttempt(request, edns, deadline - performance.now());
    const result = await (transport === 'udp' ? askOverUdp(attempt) : askOverTcp(attempt));
    if (result.kind === 'truncated') {
      if (transport === 'tcp') return { kind: 'malformed', reason: 'an answer over TCP was marked as truncated' };
      transport = 'tcp';
    } else if (edns && result.kind === 'answer' && refusesEdns(result.answer.rcode)) {
      edns = false;
    } else {
      return result;
    }
  }
}

/** RFC 6891 section 7: servers that do not know EDNS answer so, and are queried again without it. */
function refusesEdns(rcode: number): boolean {
  return rcode === RCODE.FORMERR || rcode === RCODE.NOTIMP || rcode === RCODE.BADVERS;
}

function newAttempt(request: ExchangeRequest, edns: boolean, timeoutMs: number): Attempt {
  const { server, name, type, recursive, signal } = request;
  const query = { id: randomInt(0x10000), name, type, recursive, edns };
  return { server, bytes: encodeQuery(query), read: (bytes) => decodeReply(bytes, query), timeoutMs, signal };
}

function askOverUdp(attempt: Attempt): Promise<AttemptResult> {
  return settleInTime(attempt, (settle) => {
    const socket = createSocket(isIPv6(attempt.server.ip) ? 'udp6' : 'udp4');
    socket.on('error', (error) => settle({ kind: 'network_error', reason: error.message }));
    socket.on('message', (bytes) => {
      const reply = attempt.read(bytes);
      // RFC 5452 section 9.1: responses that do not match are ignored, since the right one may still arrive.
      if (reply.kind !== 'unrelated') settle(reply);
    });
    // Connected, so that the kernel drops datagrams from others and reports a closed port.
    socket.on('connect', () => socket.send(attempt.bytes));
    socket.connect(attempt.server.port, attempt.server.ip);
    return () => {
      // Closing waits for a pending connect, and a closed socket must not send.
      socket.removeAllListeners('connect');
      socket.close();
    };
  });
}

function askOverTcp(attempt: Attempt): Promise<AttemptResult> {
  return settleInTime(attempt, (settle) => {
    const socket = connect({ host: attempt.server.ip, port: attempt.server.port });
    let received = Buffer.alloc(0);
    socket.on('error', (error) => settle({ kind: 'network_error', reason: error.message }));
    socket.on('close', () => settle({ kind: 'network_error', reason: 'the connection was closed without an answer' }));
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(attempt.bytes.length);
      socket.write(Buffer.concat([length, attempt.bytes]));
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      // RFC 1035 section 4.2.2: two octets of length precede the message; so at most 64 KiB are buffered.
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const reply = attempt.read(received.subarray(2, 2 + received.readUInt16BE(0)));
      settle(reply.kind === 'unrelated' ? { kind: 'malformed', reason: 'the answer is to another question' } : reply);
    });
    return () => socket.destroy();
  });
}

/** Runs `start` until it settles, the deadline passes or the caller aborts; then releases its socket. */
function settleInTime(attempt: Attempt, start: (settle: Settle) => () => void): Promise<AttemptResult> {
  const { signal, timeoutMs } = attempt;
  if (signal?.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    let settled = false;
    const settle: Settle = (result) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      release();
      resolve(result);
    };
    const onAbort = () => settle({ kind: 'aborted' });
    const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
    signal?.addEventListener('abort', onAbort);
    const release = start(settle);
  });
}
