// The world of the contract suite: a receiving server, DNS, and the real daemon on the engine
// that is asked for, with tenants, keys and domains made the way people make them.
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { SCOPES, type Scope, type Tenant, type TenantStatus } from '../../src/store/tenants.ts';
import type { Daemon, Settings } from '../support/daemon-process.ts';
import { startNginx } from '../support/nginx.ts';
import { RawHttp } from '../support/raw-http.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } from '../support/smtp-peer-tls.ts';
import { startWorld, type World, type WorldOptions } from '../support/world.ts';
import { type Answer, type Call, ContractClient } from './contract-client.ts';

export type Engine = 'uws' | 'node';

/** Calls per minute in the first tier: one a second, so that a pause of a second lets one through. */
export const FIRST_TIER = 60;

/** Shaped like every id, and nobody's. */
export const NOBODY = '018f0000-0000-7000-8000-000000000000';

export interface TestTenant {
  id: string;
  /** A key with every scope. */
  key: string;
}

export interface Sender extends TestTenant {
  domain: string;
  domainId: string;
}

/** How clients reach the daemon: in clear text, over TLS that it speaks itself, or through nginx that speaks it. */
export type Way = 'clear text' | 'TLS' | 'nginx';

export interface ContractWorldOptions extends WorldOptions {
  engine?: Engine;
  way?: Way;
}

interface Entrance {
  daemon: Daemon;
  engine: Engine;
  port: number;
  tls: boolean;
}

export class ContractWorld {
  readonly engine: Engine;
  readonly daemon: Daemon;
  readonly client: ContractClient;
  /** Where clients connect to. */
  readonly port: number;
  readonly #world: World;
  readonly #tls: boolean;

  constructor(world: World, { daemon, engine, port, tls }: Entrance) {
    this.#world = world;
    this.#tls = tls;
    this.daemon = daemon;
    this.engine = engine;
    this.port = port;
    this.client = new ContractClient({ port, tls });
  }

  get dns(): World['dns'] {
    return this.#world.dns;
  }

  get sink(): World['sink'] {
    return this.#world.sink;
  }

  get postrider(): World['postrider'] {
    return this.#world.postrider;
  }

  call(route: string, call?: Call): Promise<Answer> {
    return this.client.call(route, call);
  }

  /** For what no client library would send. */
  connect(): Promise<RawHttp> {
    return this.#tls ? RawHttp.connectTls(this.port) : RawHttp.connect(this.port);
  }

  /** Active and without a limit of its rate, unless something else is said. */
  async addTenant(change: { status?: TenantStatus; tier?: Tenant['tier'] } = {}): Promise<TestTenant> {
    const { status = 'active', tier = 'uncapped' } = change;
    const { id } = await this.postrider.json('tenant', 'create', '--name', 'Tenant', '--status', status);
    await this.postrider.json('tenant', 'set', String(id), '--tier', tier);
    return { id: String(id), key: await this.addKey(String(id)) };
  }

  async addKey(tenantId: string, scopes: readonly Scope[] = SCOPES, domain?: string): Promise<string> {
    const bound = domain === undefined ? [] : ['--domain', domain];
    const rights = ['--name', 'test', '--scopes', scopes.join(','), ...bound];
    return String((await this.postrider.json('key', 'create', '--tenant', tenantId, ...rights)).key);
  }

  /** Registered, published, verified. Gives its id. */
  async addDomain(key: string, domain: string): Promise<string> {
    const { status, body } = await this.call('POST /domains', { key, body: { domain } });
    if (status !== 201) throw new Error(`not registered: ${JSON.stringify(body)}`);
    this.publish(domain, body.records);
    const verified = await this.call(`POST /domains/${body.id}/verify`, { key });
    if (verified.status !== 200) throw new Error(`not verified: ${JSON.stringify(verified.body)}`);
    return body.id;
  }

  async addSender(domain: string): Promise<Sender> {
    const tenant = await this.addTenant();
    return { ...tenant, domain, domainId: await this.addDomain(tenant.key, domain) };
  }

  /** A record that is looked up is forgotten at once, so that a test can take it away again. */
  publish(zone: string, records: { name: string; value: string }[]): void {
    this.dns.addZone(zone);
    for (const { name, value } of records) this.dns.set(name, 'TXT', [value], 0);
  }

  suppress(tenantId: string, address: string, reason: string): Promise<unknown> {
    return this.postrider.json('suppression', 'add', '--tenant', tenantId, '--address', address, '--reason', reason);
  }

  suppressForAll(address: string): Promise<unknown> {
    return this.postrider.json('suppression', 'add', '--platform', '--address', address);
  }
}

export async function startContractWorld(t: Test, options: ContractWorldOptions = {}): Promise<ContractWorld> {
  const { engine = 'uws', way = 'clear text', settings = {}, ...rest } = options;
  // Written into TOML as it is; the type only knows of lists of texts.
  const tiers = [FIRST_TIER, 10_000] as unknown as string[];
  const limits = { requests_per_minute: tiers, ...settings.limits };
  const http = { engine, ...WAYS[way], ...settings.http };
  const world = await startWorld(t, { ...rest, settings: { ...settings, http, limits } });
  const inFolder = (name: string) => path.join(world.postrider.folder, name);
  const pair = { certFile: inFolder('http.crt'), keyFile: inFolder('http.key') };
  fs.writeFileSync(pair.certFile, TEST_ONLY_CERTIFICATE);
  fs.writeFileSync(pair.keyFile, TEST_ONLY_KEY, { mode: 0o600 });
  const daemon = await world.postrider.serve();
  const { engine: inUse } = await daemon.logged({ msg: 'HTTP server started' });
  if (inUse !== engine) throw new Error(`runs on ${inUse} instead of ${engine}`);
  const behind = { ...pair, folder: inFolder('nginx'), upstreamPort: daemon.httpPort };
  const port = way === 'nginx' ? await startNginx(t, behind) : daemon.httpPort;
  const contractWorld = new ContractWorld(world, { daemon, engine, port, tls: way !== 'clear text' });
  t.teardown(() => contractWorld.client.close());
  return contractWorld;
}

const WAYS: Record<Way, Settings[string]> = {
  'clear text': {},
  TLS: { tls_cert: 'http.crt', tls_key: 'http.key' },
  nginx: { trusted_proxies: ['127.0.0.1'] },
};
