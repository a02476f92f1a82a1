// The API as a tenant meets it: real HTTP kernel, real store in a temporary folder, a real DNS
// server behind the domain checks. Every answer that is read is held to the API description.
// Delivery is left out: what is accepted stays queued.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BodyBudget } from '../../src/api/body/body-budget.ts';
import { BODY_LIMITS, type BodyLimits } from '../../src/api/body/body-job.ts';
import { BodyPool } from '../../src/api/body/body-pool.ts';
import { createApi } from '../../src/api/create-api.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import type { Refusal } from '../../src/base/refusals.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { CheckTurns, type CheckTurnsKit } from '../../src/domains/check-turns.ts';
import { createDomains, hasPassed } from '../../src/domains/domains.ts';
import { NOTHING_BEGUN } from '../../src/events/end-waiting.ts';
import { startHttp } from '../../src/http/engines/start-http.ts';
import type { HttpEngineName } from '../../src/http/http.ts';
import { createRouter, type Route } from '../../src/http/router.ts';
import type { Logger } from '../../src/observe/log.ts';
import { createAuthority } from '../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { createDkimKeyPair, type DkimKeyPair } from '../../src/protocol/mail/dkim/dkim-key.ts';
import type { DomainCheck } from '../../src/store/domains.ts';
import type { PortalReads } from '../../src/store/reads.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openPortalReads } from '../../src/store/sqlite/reading/reading.ts';
import type { Store } from '../../src/store/store.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { SCOPES, type Scope, type Tenant } from '../../src/store/tenants.ts';
import { createScheduling } from '../../src/submission/schedule.ts';
import { createSubmission } from '../../src/submission/submit.ts';
import { RENDER_LIMITS, type RenderLimits } from '../../src/templates/render-limits.ts';
import { type Renderer, RenderPool } from '../../src/templates/render-pool.ts';
import { createTemplates } from '../../src/templates/templates.ts';
import { createApiKey } from '../../src/tenants/api-keys.ts';
import { createTenant } from '../../src/tenants/tenant-service.ts';
import { Connections } from '../../src/webhooks/connections.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { TestSender } from '../../src/webhooks/test-sender.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { startDnsServer, type TestDnsServer } from './dns-server.ts';
import { newDatabase } from './new-database.ts';
import { checkAnswer } from './openapi-check.ts';
import { patience } from './patience.ts';

export const SERVICE = {
  spfDomain: 'spf.postrider.test',
  dmarcReportAddress: 'dmarc@postrider.test',
  ownDomains: ['postrider.test', 'bounces.postrider.test'],
  maxPerTenant: 20,
  rechecks: true,
};

export const RECORDS_DAYS = 90;

export interface LogLine {
  level: string;
  facts: Readonly<Record<string, unknown>>;
  message: string;
}

export interface ApiHarnessOptions {
  engine?: HttpEngineName;
  clock?: Clock;
  /** Calls per minute in the first tier: few, so that tests reach it soon. */
  firstTier?: number;
  /** `webhooks.allow_private` */
  allowPrivateWebhooks?: boolean | readonly string[];
  /** The usual ones, stretched by the machine's pace, when not given. */
  renderLimits?: RenderLimits;
  bodyLimits?: BodyLimits;
  bodyBudget?: BodyBudget;
  /** As the intake does while no new mail is taken. */
  refuseNew?(): Refusal | null;
  /** How verifications wait for each other; they do not when it is not given. */
  checkTurns?: Pick<CheckTurnsKit<DomainCheck[]>, 'gapMs' | 'pause'>;
  /** Puts something between the API and its store: faults, delays. */
  wrapStore?(store: Store): Store;
  /** The same before templates are rendered. */
  wrapRenderer?(renderer: Renderer): Renderer;
}

export interface CallOptions {
  key?: string;
  /** Sent as JSON, unless it is a text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect to be there
  body: any;
}

export interface TestTenant {
  id: string;
  /** A key with every scope. */
  key: string;
}

export interface ApiHarness {
  port: number;
  store: Store;
  dns: TestDnsServer;
  clock: Clock;
  ids: IdSource;
  log: LogLine[];
  /** What the scheduler was told. */
  notices: LaneNotice[];
  file: string;
  routes: readonly Route[];
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  addTenant(change?: Partial<Pick<Tenant, 'status' | 'tier'>>): Promise<TestTenant>;
  addKey(tenantId: string, scopes?: readonly Scope[], boundDomain?: string): Promise<string>;
  /** Verified without asking DNS. Returns its id. */
  addVerifiedDomain(tenantId: string, name: string): Promise<string>;
  close(): Promise<void>;
}

export async function startApiHarness(options: ApiHarnessOptions = {}): Promise<ApiHarness> {
  const { clock = systemClock, firstTier = 1000, allowPrivateWebhooks = false } = options;
  const { wrapStore = (store) => store } = options;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-api-'));
  const file = path.join(folder, 'postrider.db');
  await newDatabase(file);
  const store = await openSqliteStore({ file });
  const dns = await startDnsServer();
  const ids = new IdSource();
  const keyPair = await createDkimKeyPair();
  const log: LogLine[] = [];
  const notices: LaneNotice[] = [];
  const { workMs, jobMs } = RENDER_LIMITS;
  const patient = { ...RENDER_LIMITS, workMs: patience(workMs), jobMs: patience(jobMs) };
  const renderer = new RenderPool({ clock, log: listLogger(log), limits: options.renderLimits ?? patient });
  const patientBodies = { ...BODY_LIMITS, jobMs: patience(BODY_LIMITS.jobMs) };
  const bodies = new BodyPool({ log: listLogger(log), limits: options.bodyLimits ?? patientBodies });
  // The process starts with the first question.
  const limits = { queryMs: patience(5000), waitMs: patience(10_000), startMs: patience(10_000) };
  const onTrouble = (reason: string) => void log.push({ level: 'error', facts: { reason }, message: 'reads' });
  const reading = openPortalReads({ file, onTrouble, limits });
  const api = createApi(
    services({
      bodies,
      reads: reading.reads,
      store: wrapStore(store),
      renderer: options.wrapRenderer?.(renderer) ?? renderer,
      dns,
      clock,
      ids,
      keyPair,
      log: listLogger(log),
      notices,
      firstTier,
      allowPrivateWebhooks,
      checkTurns: options.checkTurns ?? { gapMs: 0 },
      bodyBudget: options.bodyBudget ?? new BodyBudget(),
      refuseNew: options.refuseNew ?? (() => null),
    }),
  );
  const http = await startHttp({
    engine: options.engine ?? 'uws',
    host: '127.0.0.1',
    port: 0,
    trustedProxies: [],
    handler: createRouter(api),
    onError: (error) => log.push({ level: 'error', facts: { error }, message: 'kernel' }),
    log: { info() {}, warn() {} },
    // At most the usual limit: uWebSockets closes by itself after 11 s.
    limits: { bodyIdleMs: Math.min(patience(1000), 6000) },
  });

  const addKey: ApiHarness['addKey'] = async (tenantId, scopes = SCOPES, boundDomain) => {
    const request = { tenantId, name: 'test', scopes, boundDomain: boundDomain ?? null, maxLive: 50 };
    const created = await createApiKey({ store, clock, ids }, request);
    if (created.kind === 'refused') throw new Error(created.message);
    return created.token;
  };

  return {
    ...{ port: http.port, store, dns, clock, ids, log, notices, file, routes: api.routes, addKey },
    call: (method, target, call = {}) => callApi(`http://127.0.0.1:${http.port}`, { method, path: target, ...call }),
    async addTenant({ status = 'active', tier = 'uncapped' } = {}) {
      const created = await createTenant({ store, clock, ids }, { name: 'test', status });
      if (created.kind === 'refused') throw new Error(created.message);
      const { id } = created.tenant;
      await store.tenants.updateTenant(id, { tier, tierPinned: true });
      return { id, key: await addKey(id) };
    },
    async addVerifiedDomain(tenantId, name) {
      const id = ids.next();
      const privateKey = { masterKeyId: 'none', sealed: Buffer.from('not opened in these tests') };
      const { publicKeyB64 } = keyPair;
      const createdAt = clock.now();
      const domain = { id, tenantId, name, selector: 'seed', publicKeyB64, privateKey, createdAt };
      if ((await store.domains.createDomain(domain)) === 'exists') throw new Error(`${name} exists`);
      await store.domains.recordVerdict(tenantId, id, { state: 'verified', failureReason: null, checkedAt: createdAt });
      return id;
    },
    async close() {
      await http.close(0);
      await Promise.all([renderer.close(), bodies.close(), reading.close(), dns.close()]);
      await store.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

interface Parts {
  bodies: BodyPool;
  store: Store;
  renderer: Renderer;
  dns: TestDnsServer;
  clock: Clock;
  ids: IdSource;
  keyPair: DkimKeyPair;
  log: Logger;
  notices: LaneNotice[];
  firstTier: number;
  allowPrivateWebhooks: boolean | readonly string[];
  checkTurns: NonNullable<ApiHarnessOptions['checkTurns']>;
  bodyBudget: BodyBudget;
  refuseNew(): Refusal | null;
  reads: PortalReads;
}

function services({
  bodies,
  store,
  renderer,
  dns,
  clock,
  ids,
  keyPair,
  log,
  notices,
  firstTier,
  allowPrivateWebhooks,
  checkTurns,
  bodyBudget,
  refuseNew,
  reads,
}: Parts) {
  const vault = new Vault([Buffer.alloc(MASTER_KEY_BYTES, 1)]);
  const resolver = createResolver({ servers: [dns.endpoint], clock: systemClock, attemptTimeoutMs: patience(300) });
  const policy = targetPolicy(allowPrivateWebhooks);
  const authority = { resolver, authorityPort: dns.port, allowPrivate: true, staggerMs: 20 };
  const templates = createTemplates({ store, renderer, clock, ids });
  return {
    ...{ bodies, bodyBudget, store, templates, clock, ids, log, recordsDays: RECORDS_DAYS },
    submission: createSubmission({
      ...{ store, templates, clock, ids, log },
      lifetimeMs: 72 * 3_600_000,
      refuseNew,
      passages: { mayFind: () => false, find: () => null },
      onAccepted: (lanes) => void notices.push(...lanes),
      onScheduled: () => {},
    }),
    scheduling: createScheduling({
      store,
      clock,
      ids,
      log,
      lifetimeMs: 72 * 3_600_000,
      onScheduled: () => {},
      endBegun: NOTHING_BEGUN,
    }),
    webhooks: createWebhooks({ store, clock, ids, vault, policy }),
    reads,
    webhookTests: new TestSender({
      ...{ store, vault, clock: systemClock, ids, policy, resolver },
      connections: new Connections({ clock: systemClock }),
    }),
    domains: createDomains({
      ...{ store, clock, ids, service: SERVICE },
      vault,
      turns: new CheckTurns({ clock, isGood: hasPassed, ...checkTurns }),
      lookups: createAuthority({ ...authority, serverTimeoutMs: patience(500), totalTimeoutMs: patience(1000) }),
      // One pair for all: making them takes most of a second.
      createKeyPair: async () => keyPair,
    }),
    requestsPerMinute: (tier: Tenant['tier']) => ({ '1k': firstTier, '10k': 10_000, uncapped: null })[tier],
  };
}

async function callApi(
  origin: string,
  { method, path, key, body, headers }: CallOptions & { method: string; path: string },
): Promise<ApiAnswer> {
  const asIs = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: asIs ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  checkAnswer({ method, path, ...answer });
  return answer;
}

export function listLogger(lines: LogLine[], base: LogLine['facts'] = {}): Logger {
  const at = (level: string) => (facts: LogLine['facts'], message: string) => {
    lines.push({ level, facts: { ...base, ...facts }, message });
  };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (facts) => listLogger(lines, { ...base, ...facts }),
  };
}
