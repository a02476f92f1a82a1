// A server of the test's own over HTTPS, at a certificate that only the test's authority has signed.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { createTestAuthority } from './test-authority.ts';

export interface HttpsServer {
  /** Without a path. */
  origin: string;
  /** PEM. */
  ca: string;
}

export async function startHttpsServer(t: Test, answer: RequestListener): Promise<HttpsServer> {
  const authority = createTestAuthority();
  const server = createServer(authority.issue('localhost'), answer).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
    authority.close();
  });
  await once(server, 'listening');
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, ca: authority.ca };
}
