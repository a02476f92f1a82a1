// A real HTTP server on loopback that receives webhooks: keeps what came, and answers as the test says.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { EventBody } from '../../src/events/event-body.ts';

export interface Received {
  id: string;
  path: string;
  /** By names in lower case. */
  headers: Record<string, string>;
  /** By names as they were sent. */
  headersAsSent: Record<string, string>;
  text: string;
  body: EventBody;
}

export interface TestEndpoint {
  port: number;
  url: string;
  readonly received: Received[];
  /** Connections so far. */
  connections: number;
  /** What is answered from now on. */
  answer: (response: ServerResponse, got: Received) => void;
  /** Settles when so many have come. */
  until(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export async function startEndpoint(t: Test, port = 0, host = '127.0.0.1'): Promise<TestEndpoint> {
  const server = http.createServer();
  const waiting: { count: number; resolve: () => void }[] = [];
  const endpoint: TestEndpoint = {
    port: 0,
    url: '',
    received: [],
    connections: 0,
    answer: (response) => response.writeHead(204).end(),
    until(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      look();
      return promise.then(() => endpoint.received);
    },
    async close() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  const look = () => {
    for (const { count, resolve } of waiting) if (endpoint.received.length >= count) resolve();
  };
  server.on('connection', () => endpoint.connections++);
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const headers = request.headers as Record<string, string>;
    const body = JSON.parse(text) as EventBody;
    const got = { id: headers['webhook-id']!, path: request.url!, headers, headersAsSent: asSent(request), text, body };
    endpoint.received.push(got);
    endpoint.answer(response, got);
    look();
  });
  server.listen(port, host);
  await once(server, 'listening');
  endpoint.port = (server.address() as AddressInfo).port;
  endpoint.url = `http://${host}:${endpoint.port}/hook`;
  t.teardown(() => endpoint.close());
  return endpoint;
}

function asSent({ rawHeaders }: IncomingMessage): Record<string, string> {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, rawHeaders[2 * index + 1]!]));
}
