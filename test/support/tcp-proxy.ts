// A TCP proxy on loopback, for what networks do: it passes bytes on, holds them back, or cuts connections.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Owner } from './daemon-process.ts';

export interface TcpProxy {
  port: number;
  /** Nothing passes in either direction any more, and no connection ends. */
  hold(): void;
  release(): void;
  /** The next time that a client sends these bytes, they and everything after them are held; settles then. */
  holdBefore(bytes: string): Promise<void>;
  /** Ends all connections at once, as a crash of the other machine that the network reports. */
  cut(): void;
  /**
   * The next time that a client sends these bytes, they are passed on, but no answer comes back: the client's connection is cut
   * as soon as the server has answered.
   */
  cutAnswerTo(bytes: string): void;
  /** New connections are refused from now on, or not. */
  refuse(refused: boolean): void;
}

/** The target may move: each new connection goes where it is then. */
export async function startTcpProxy(
  t: Pick<Owner, 'teardown'>,
  target: { port: number; host?: string },
): Promise<TcpProxy> {
  const pairs = new Set<[client: Socket, server: Socket]>();
  let [held, refused] = [false, false];
  let fatal: string | null = null;
  let gate: { bytes: string; reached(): void } | null = null;
  const kept: (() => void)[] = [];
  const server = createServer((client) => {
    if (refused) return void client.destroy();
    const upstream = connect(target.port, target.host ?? '127.0.0.1');
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    let cutting = false;
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (chunk) => {
      if (fatal !== null && chunk.includes(fatal)) {
        fatal = null;
        cutting = true;
      }
      if (!gate || !chunk.includes(gate.bytes)) return void upstream.write(chunk);
      const { reached } = gate;
      gate = null;
      kept.push(() => upstream.write(chunk));
      setHeld(true);
      reached();
    });
    upstream.on('data', (chunk) => (cutting ? end() : client.write(chunk)));
    for (const socket of pair) {
      socket.setNoDelay(true);
      if (held) socket.pause();
      socket.on('error', end).on('close', end);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const setHeld = (now: boolean) => {
    held = now;
    for (const pair of pairs) for (const socket of pair) now ? socket.pause() : socket.resume();
  };
  t.teardown(() => {
    server.close();
    cut();
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => setHeld(true),
    release() {
      for (const write of kept.splice(0)) write();
      setHeld(false);
    },
    holdBefore: (bytes) => new Promise((reached) => (gate = { bytes, reached })),
    cut,
    cutAnswerTo: (bytes) => (fatal = bytes),
    refuse: (now) => (refused = now),
  };
}
