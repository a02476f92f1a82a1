// A load balancer for HTTP, as small as one can be, with the manners of usual ones: it asks each daemon for its health,
// gives each call to the next that answers well, and keeps connections open. A call that could not be sent goes to another
// daemon; one without an answer is answered 502, since it may have been carried out.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { patience } from './patience.ts';

const ASK_EVERY_MS = 250;
const ANSWER_WITHIN_MS = 1000;

export interface Balancer {
  url: string;
}

/** `backends` are asked for each time: a daemon that starts again has another port. */
export async function startBalancer(t: Test, backends: () => readonly number[]): Promise<Balancer> {
  const healthy = new Set<number>();
  const look = async () => {
    const ports = backends();
    const answers = await Promise.all(ports.map(isHealthy));
    healthy.clear();
    for (const [at, port] of ports.entries()) if (answers[at]) healthy.add(port);
  };
  await look();
  const timer = setInterval(() => void look(), ASK_EVERY_MS);
  const agent = new http.Agent({ keepAlive: true });
  let turn = 0;
  const server = http.createServer(async (call, answer) => {
    const body = await buffer(call);
    const ports = [...healthy];
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[turn++ % ports.length]!;
      const outcome = await passOn(agent, port, { call, body });
      if (outcome !== 'refused') return outcome === 'lost' ? refuse(answer) : void giveBack(outcome, answer);
      healthy.delete(port);
    }
    refuse(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    clearInterval(timer);
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, path: '/healthz', agent: false, timeout: patience(ANSWER_WITHIN_MS) };
    const request = http.get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy()).on('error', () => resolve(false));
  });
}

function passOn(
  agent: http.Agent,
  port: number,
  { call, body }: { call: IncomingMessage; body: Buffer },
): Promise<IncomingMessage | 'refused' | 'lost'> {
  return new Promise((resolve) => {
    const { method, url, headers } = call;
    const request = http.request({ agent, port, method, path: url, headers }, resolve);
    const onError = ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'lost');
    request.on('error', onError).end(body);
  });
}

async function giveBack(from: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { connection, ...headers } = from.headers;
  try {
    const body = await buffer(from);
    answer.writeHead(from.statusCode!, headers).end(body);
  } catch {
    refuse(answer); // it broke off in the middle
  }
}

function refuse(answer: ServerResponse): void {
  answer.writeHead(502).end();
}
