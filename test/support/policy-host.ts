// A real HTTPS server on loopback that serves MTA-STS policies (RFC 8461 section 3.3), and
// misbehaves as a test tells it to.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from './test-authority.ts';

export interface PolicyHost {
  port: number;
  /** Host and path of every request, in order. */
  asked: string[];
  /** What is served from now on: a policy's text, or an answer of the test's own. */
  serve(answer: string | ((request: IncomingMessage, response: ServerResponse) => void)): void;
  close(): Promise<void>;
}

export async function startPolicyHost(certificate: TestCertificate, address = '127.0.0.1'): Promise<PolicyHost> {
  const asked: string[] = [];
  let answer: Parameters<PolicyHost['serve']>[0] = '';
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    if (typeof answer === 'function') return answer(request, response);
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(answer);
  });
  server.on('tlsClientError', () => {}); // clients that refuse the certificate are part of the tests
  server.listen(0, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    serve: (next) => (answer = next),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The text of a policy. */
export function policyText(mode: 'none' | 'testing' | 'enforce', mx: string[], maxAgeS = 86_400): string {
  return ['version: STSv1', `mode: ${mode}`, ...mx.map((pattern) => `mx: ${pattern}`), `max_age: ${maxAgeS}`, ''].join(
    '\r\n',
  );
}
