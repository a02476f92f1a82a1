// The listener for Prometheus: GET /metrics and nothing else, separate from the API's so that it can have its own
// address. It needs no key.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenFault } from '../base/text/system-words.ts';
import type { Logger } from './log.ts';
import type { Figures, Metrics } from './metrics.ts';

export interface MetricsListenerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  metrics: Metrics;
  figures(): Promise<Figures>;
  log: Pick<Logger, 'info' | 'error'>;
}

export interface MetricsListener {
  port: number;
  close(): Promise<void>;
}

// One or two Prometheus servers, and a person.
const MAX_CONNECTIONS = 16;
const IDLE_MS = 60_000;
const REQUEST_MS = 10_000;

export async function startMetricsListener(options: MetricsListenerOptions): Promise<MetricsListener> {
  const { host, port, log } = options;
  const limits = { keepAliveTimeout: IDLE_MS, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS };
  const server = createServer(limits, (request, response) => {
    const path = request.url?.split('?')[0];
    if (path !== '/metrics') return end(response, 404, 'Not found; use /metrics.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return end(response, 405, 'Method not allowed; use GET.\n');
    answer(options, response).catch((error: unknown) => {
      log.error({ error }, 'metrics could not be rendered');
      end(response, 500, 'The metrics could not be rendered; see the log.\n');
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, host, port);
  const chosen = (server.address() as AddressInfo).port;
  log.info({ host, port: chosen }, 'metrics listener started');
  return {
    port: chosen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer({ metrics, figures }: MetricsListenerOptions, response: ServerResponse): Promise<void> {
  const text = await metrics.render(await figures());
  response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text);
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenFault('metrics', { host, port }, error)));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}
