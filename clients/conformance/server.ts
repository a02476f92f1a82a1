// The scripted server: plays the answers of one case in their order, and notes every request that
// arrives with its time. Each case has a listener of its own, so that all of them can run at once.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Answer } from './case-format.ts';

export interface RecordedRequest {
  /** In milliseconds, of a clock that only goes forward. */
  atMs: number;
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

export interface ScriptedServer {
  url: string;
  requests: RecordedRequest[];
  close(): Promise<void>;
}

/** Any client that waits for an end of this has waited too long. */
const BETWEEN_BYTES_MS = 40;
/** Longer than any wait between two attempts: a connection that was kept must still be there. */
const KEEP_ALIVE_MS = 60_000;

export async function startScriptedServer(
  answers: readonly Answer[],
  certificate?: { key: string; cert: string },
): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const place = requests.length;
    const noted: RecordedRequest = {
      atMs: performance.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.alloc(0),
    };
    requests.push(noted);
    request.on('error', () => {});
    response.on('error', () => {});
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    noted.body = Buffer.concat(parts);
    play(answers[place] ?? TOO_MANY, place, response);
  };
  const guarded = (request: IncomingMessage, response: ServerResponse) => {
    // A request that breaks off half-way has no more to say; it is noted already.
    listener(request, response).catch(() => {});
  };
  const server = certificate ? https.createServer(certificate, guarded) : http.createServer(guarded);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A 4xx: a library that comes back after it would be wrong once more. */
const TOO_MANY: Answer = { status: 418, json: { error: 'not_expected', message: 'this request was not expected' } };

function play(answer: Answer, place: number, response: ServerResponse): void {
  if (answer.close) {
    response.socket?.destroy();
    return;
  }
  if (answer.silent) return;
  const body = Buffer.from(answer.json === undefined ? (answer.raw ?? '') : JSON.stringify(answer.json));
  writeHead(answer, { place, length: body.length }, response);
  const half = body.subarray(0, body.length / 2);
  if (answer.trickle) {
    response.flushHeaders();
    trickle(body, response);
  } else if (answer.stall) {
    response.write(half);
  } else if (answer.cut) {
    response.write(half, () => response.socket?.destroy());
  } else {
    response.end(body);
  }
}

function writeHead(answer: Answer, { place, length }: { place: number; length: number }, response: ServerResponse) {
  const headers: Record<string, string | null> = {
    'content-type': answer.json === undefined ? 'text/html; charset=utf-8' : 'application/json',
    'x-request-id': `req_${place + 1}`,
    'content-length': answer.status === 204 ? null : String(length),
    ...answer.headers,
  };
  response.statusCode = answer.status ?? 200;
  for (const [name, value] of Object.entries(headers)) if (value !== null) response.setHeader(name, value);
}

function trickle(body: Buffer, response: ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < body.length - 1) response.write(body.subarray(sent, ++sent));
  }, BETWEEN_BYTES_MS);
  response.on('close', () => clearInterval(timer));
}
