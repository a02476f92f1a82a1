// A port that is free on every loopback address that a test asks for: all MX hosts of one
// delivery engine are called at the same port.
import { createServer, type Server } from 'node:net';

const TRIES = 20;

export async function findFreePort(addresses: readonly string[] = ['127.0.0.1']): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = await reserve(addresses);
    if (port !== null) return port;
  }
  throw new Error(`no port is free on all of ${addresses.join(', ')}`);
}

/** An address that no test listens at: a free port of the usual one may be somebody's a moment later. */
const NOBODYS_ADDRESS = '127.0.0.9';

/** Where nobody listens, and nobody will. */
export async function closedUrl(): Promise<string> {
  return `http://${NOBODYS_ADDRESS}:${await findFreePort([NOBODYS_ADDRESS])}`;
}

async function reserve(addresses: readonly string[]): Promise<number | null> {
  const servers: Server[] = [];
  let port = 0;
  try {
    for (const address of addresses) {
      const server = createServer();
      servers.push(server);
      await listen(server, port, address);
      port = (server.address() as { port: number }).port;
    }
    return port;
  } catch {
    return null;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
}
