// Several daemons on one PostgreSQL, each an installation of its own, beside the world's DNS and receiving server.
import type { Test } from 'tap';
import { type Daemon, type Installation, install, type Launch, type Settings } from './daemon-process.ts';
import type { SinkOptions } from './mail-sink.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { startWorld, type World } from './world.ts';

/** Each must have the same, since each opens what the others have sealed. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

export interface TestNode {
  postrider: Installation;
  /** The one that was started last. */
  daemon: Daemon;
}

export interface Nodes extends Omit<World, 'postrider'> {
  server: PostgresServer;
  url: string;
  nodes: TestNode[];
  /** One more machine; its daemon is not started. */
  install(name: string, settings?: Settings): Installation;
}

export async function startNodes(
  t: Test,
  names: readonly [string, ...string[]],
  settings: Settings = {},
  { launch = {}, sink: sinkOptions = {} }: { launch?: Launch; sink?: SinkOptions } = {},
): Promise<Nodes> {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());
  const settingsOf = (node: string) => ({ ...settings, store: { url, node }, secrets: { master_key: MASTER_KEY } });
  const [first, ...others] = names;
  const { dns, sink, postrider } = await startWorld(t, { settings: settingsOf(first), launch, sink: sinkOptions });
  const installNode = (name: string, more: Settings = {}) =>
    install(t, { dns, smtpPort: sink.port, settings: { ...settingsOf(name), ...more }, launch });
  const nodes: TestNode[] = [];
  for (const installation of [postrider, ...others.map((name) => installNode(name))]) {
    nodes.push({ postrider: installation, daemon: await installation.serve() });
  }
  return { server, url, dns, sink, nodes, install: installNode };
}
