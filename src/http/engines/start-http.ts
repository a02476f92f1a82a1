// Starts the HTTP server on the configured engine, or on node:http where the native addon of uWebSockets does not load
// (another Node major version, musl, another processor).
import { describeError } from '../../base/errors.ts';
import { TrustedProxies } from '../client-address.ts';
import { DEFAULT_LIMITS, type HttpOptions, type HttpServer } from '../http.ts';
import { StallWatch } from '../stall-watch.ts';
import { startNode } from './node-engine.ts';
import { type HyperExpressModule, loadHyperExpress, startUws } from './uws-engine.ts';

/** So often while the shortest limit passes. */
const LOOKS_FOR_STALLS = 8;

export async function startHttp(
  options: HttpOptions,
  loadUws: () => Promise<HyperExpressModule> = loadHyperExpress,
): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { bodyIdleMs, bodyPaceMs, drainIdleMs } = limits;
  const context = { proxies: new TrustedProxies(options.trustedProxies), bodyIdleMs, bodyPaceMs };
  const stalls = new StallWatch(Math.ceil(Math.min(bodyIdleMs, bodyPaceMs, drainIdleMs) / LOOKS_FOR_STALLS));
  const engineOptions = { ...options, limits, context, stalls };
  const uws = options.engine === 'uws' ? await loadOrNull(loadUws, options) : null;
  const server = uws ? await startUws(uws, engineOptions) : await startNode(engineOptions);
  options.log.info({ engine: server.engine, host: options.host, port: server.port }, 'HTTP server started');
  return server;
}

async function loadOrNull(load: () => Promise<HyperExpressModule>, { log }: HttpOptions) {
  try {
    return await load();
  } catch (error) {
    log.warn({ reason: describeError(error) }, "uWebSockets can't be loaded; using node:http");
    return null;
  }
}
