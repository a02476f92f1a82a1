// Runs one case of the HTTP conformance suite over both engines. A case starts servers with
// `serve`; they are closed when it ends, and a handler's error that no case asked for fails it.
import type { Test } from 'tap';
import { startHttp } from '../../src/http/engines/start-http.ts';
import type { HttpEngineName, HttpHandler, HttpOptions, HttpServer } from '../../src/http/http.ts';
import { RawHttp } from '../support/raw-http.ts';

export interface Served extends HttpServer {
  /** What was reported to the operator. Taking it out says that it was expected. */
  errors: unknown[];
  connect(): Promise<RawHttp>;
  /** Closes the server and all connections to it. */
  dispose(): Promise<void>;
}

export interface EngineCase {
  t: Test;
  engine: HttpEngineName;
  serve(handler: HttpHandler, options?: Partial<HttpOptions>): Promise<Served>;
}

export const ENGINES: readonly HttpEngineName[] = ['uws', 'node'];

export const SILENT_LOG = { info() {}, warn() {} };

export function overBothEngines(t: Test, name: string, run: (engineCase: EngineCase) => Promise<void>): void {
  for (const engine of ENGINES) {
    t.test(`${name} (${engine})`, async (t) => {
      const opened: Served[] = [];
      const serve = async (handler: HttpHandler, options: Partial<HttpOptions> = {}) => {
        const served = await start(engine, handler, options);
        opened.push(served);
        return served;
      };
      try {
        await run({ t, engine, serve });
      } finally {
        for (const served of opened) await served.dispose();
      }
      for (const { errors } of opened) t.same(errors, [], 'nothing unexpected was reported');
    });
  }
}

async function start(engine: HttpEngineName, handler: HttpHandler, options: Partial<HttpOptions>): Promise<Served> {
  const errors: unknown[] = [];
  const connections: RawHttp[] = [];
  const server = await startHttp({
    engine,
    host: '127.0.0.1',
    port: 0,
    trustedProxies: [],
    handler,
    onError: (error) => errors.push(error),
    log: SILENT_LOG,
    ...options,
  });
  if (server.engine !== engine) throw new Error(`runs on ${server.engine} instead of ${engine}`);
  return {
    ...server,
    errors,
    async connect() {
      const connection = options.tls ? await RawHttp.connectTls(server.port) : await RawHttp.connect(server.port);
      connections.push(connection);
      return connection;
    },
    async dispose() {
      await server.close(0);
      for (const connection of connections) connection.destroy();
    },
  };
}
