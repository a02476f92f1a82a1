// An endpoint for webhooks that keeps what came as it came: the raw body, and the headers as
// Node has read them.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface CaughtWebhook {
  headers: Record<string, string>;
  body: Buffer;
}

export async function catchWebhooks(t: Test): Promise<{ url: string; caught: CaughtWebhook[] }> {
  const caught: CaughtWebhook[] = [];
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
    const headers = names.map((name, index) => [name, request.rawHeaders[2 * index + 1]!]);
    caught.push({ headers: Object.fromEntries(headers), body: Buffer.concat(parts) });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, caught };
}
