// Webhook endpoints that fail in the usual ways: errors, connections that end, answers that come late or never
// after the event was taken. They note which events they have answered with success.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FlakyEndpoint {
  url: string;
  /** Ids of events that came, whatever was answered. */
  received: Map<string, number>;
  /** From now on every call succeeds at once. */
  heal(): void;
  close(): void;
}

const SLOW_MS = 300;

export async function startFlakyEndpoint(random: () => number): Promise<FlakyEndpoint> {
  let flaky = true;
  const received = new Map<string, number>();
  const server = http.createServer((request, response) => {
    request.on('error', () => {}).resume();
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      const draw = flaky ? random() : 1;
      if (draw < 0.1) return void response.writeHead(500).end('not now');
      if (draw < 0.15) return void request.socket.destroy();
      received.set(id, (received.get(id) ?? 0) + 1);
      if (draw < 0.2) return void request.socket.destroy();
      if (draw < 0.3) return void setTimeout(() => response.writeHead(204).end(), SLOW_MS);
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    heal: () => {
      flaky = false;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
