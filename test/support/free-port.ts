// A port that is free on every loopback address that a test asks for: all MX hosts of one
// delivery engine are called at the same port.
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const TRIES = 20;
/** Systems choose ports above these, for every outgoing call too: one of theirs is soon somebody else's. */
const CHOSEN_PORTS = { from: 20_000, to: 32_000 };
/** Test files that run at one time have numbers, from tap: each chooses among its own ports. */
const FILES_AT_ONCE = 4;
const PORTS_OF_A_FILE = (CHOSEN_PORTS.to - CHOSEN_PORTS.from) / FILES_AT_ONCE;

/** One that is free may be chosen, and not listened at yet. */
const given = new Set<number>();

export async function findFreePort(addresses: readonly string[] = ['127.0.0.1']): Promise<number> {
  const from = CHOSEN_PORTS.from + (Number(process.env.TAP_JOB_ID ?? 0) % FILES_AT_ONCE) * PORTS_OF_A_FILE;
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(from, from + PORTS_OF_A_FILE);
    if (given.has(port) || !(await isFree(port, addresses))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no port is free on all of ${addresses.join(', ')}`);
}

/** An address that no test listens at: a free port of the usual one may be somebody's a moment later. */
const NOBODYS_ADDRESS = '127.0.0.9';

/** Where nobody listens, and nobody will. */
export async function closedUrl(): Promise<string> {
  return `http://${NOBODYS_ADDRESS}:${await findFreePort([NOBODYS_ADDRESS])}`;
}

async function isFree(port: number, addresses: readonly string[]): Promise<boolean> {
  const servers: Server[] = [];
  try {
    for (const address of addresses) {
      const server = createServer();
      servers.push(server);
      await listen(server, port, address);
    }
    return true;
  } catch {
    return false;
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
