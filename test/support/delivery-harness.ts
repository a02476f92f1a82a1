// The delivery engine with a real store, a real DNS server and real SMTP peers, without HTTP.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Clock, HOUR_MS, MINUTE_MS, systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { Vault } from '../../src/base/vault.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { type Delivery, type DeliveryKit, startDelivery } from '../../src/delivery/delivery.ts';
import { ResultJournal } from '../../src/delivery/outcome/result-journal.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { loadServiceIdentity, type ServiceIdentity } from '../../src/domains/service-identity.ts';
import { type Logger, silentLogger } from '../../src/observe/log.ts';
import { createAddressPolicy } from '../../src/protocol/dns/addresses/address-policy.ts';
import { createAuthority } from '../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { createSecondLooks } from '../../src/protocol/dns/second-look.ts';
import { parseAddress, suppressionKey } from '../../src/protocol/mail/addresses/address.ts';
import { createDkimKeyPair } from '../../src/protocol/mail/dkim/dkim-key.ts';
import { sqliteAt } from '../../src/store/address.ts';
import type { Owner } from '../../src/store/owners.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { MessageDetail } from '../../src/store/queue.ts';
import type { StoreFaults } from '../../src/store/sqlite/engine/writing-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { NewRecipient, NewSubmission } from '../../src/store/submissions.ts';
import { acceptAndBegin } from '../../src/submission/begin-at-once.ts';
import { startDnsServer, type TestDnsServer } from './dns-server.ts';
import { newDatabase } from './new-database.ts';
import { patience } from './patience.ts';

const BOUNCE_RULES = loadBounceRules(SHIPPED_RULES);

export const FROM_DOMAIN = 'sender.test';
export const BOUNCES_DOMAIN = 'bounces.postrider.test';
export const LINKS_URL = 'https://links.postrider.test';

export interface DeliveryHarness {
  store: Store;
  dns: TestDnsServer;
  /** The one that runs now. */
  readonly delivery: Delivery;
  identity: ServiceIdentity;
  tenantId: string;
  domainId: string;
  folder: string;
  databaseFile: string;
  addSender(domain: string): Promise<Sender>;
  newId(): string;
  /** A new message to this address. */
  recipient(address: string): NewRecipient;
  /** Accepts one submission to these recipients and tells the scheduler; the message ids in order. */
  send(to: string[], content?: SendContent): Promise<string[]>;
  /** Waits until the message satisfies the condition; checked after every change that delivery records. */
  until(messageId: string, condition: (message: MessageDetail) => boolean): Promise<MessageDetail>;
  /** Waits until every one of them satisfies it. */
  untilAll(messageIds: string[], condition: (message: MessageDetail) => boolean): Promise<MessageDetail[]>;
  /** Only the delivery engine; the store can still be looked at. */
  stopDelivery(graceMs?: number): Promise<void>;
  /** A new engine on the same store. */
  restartDelivery(): Promise<void>;
  /** Another engine beside the first, with a handle of its own on the database. */
  startBeside(node: NodeRequest): Promise<HarnessNode>;
  close(): Promise<void>;
}

export interface NodeRequest {
  node: string;
  /** The time by which leases are over; now when not given. */
  takesAt?: number;
}

export interface HarnessNode {
  owner: Owner;
  store: Store;
  delivery: Delivery;
}

/** A tenant with a domain to send from. */
export interface Sender {
  tenantId: string;
  domainId: string;
  domain: string;
}

export interface SendContent {
  sender?: Sender;
  subject?: string;
  html?: string | null;
  text?: string | null;
  fromName?: string | null;
  toName?: string | null;
  headers?: [string, string][];
  lifetimeMs?: number;
  sendAt?: number;
  /** Accepted, but nobody is told: delivery finds it when it next looks at the whole queue. */
  held?: boolean;
  /** Whose owner sends it. */
  slot?: number;
  /** As calls are accepted: claimed in the same commit, where a session is ready. */
  atOnce?: boolean;
}

export interface DeliveryHarnessOptions {
  /** Where every MX is called. */
  port: number;
  retryStepsMs?: number[];
  timeoutFactor?: number;
  tls?: DeliveryKit['courier']['tls'];
  /** PEM, for the certificates of receiving servers. */
  trustedRoots?: string;
  /** Not given: policies are neither fetched nor obeyed. */
  mtaSts?: DeliveryKit['mtaSts'];
  allowPrivate?: boolean | string[];
  limits?: Partial<DeliveryKit['limits']>;
  providers?: Providers;
  /** None to speak of by default: tests knock again and again at doors that were closed a moment ago. */
  coolDownStepsMs?: number[];
  expiryPeriodMs?: number;
  /** How long the engine holds its slot without renewal; as long as it runs when not given. */
  leaseMs?: number;
  faults?: StoreFaults;
  /** Puts something between the delivery engine and the store. */
  wrapStore?(store: Store): Store;
  /** One by default: each takes a moment to start. */
  threads?: number;
  pool?: DeliveryKit['pool'];
  sources?: DeliveryKit['sources'];
  /** As in production when not given: a quarter of an hour, and four hours. */
  noRoute?: DeliveryKit['noRoute'];
  /** For the second look; the one DNS server when not given. */
  dnsServers?: string[];
  readInterfaces?: DeliveryKit['readInterfaces'];
  endWatch?: DeliveryKit['endWatch'];
  clock?: Clock;
  log?: Logger;
}

export async function startDeliveryHarness(options: DeliveryHarnessOptions): Promise<DeliveryHarness> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-delivery-'));
  const file = path.join(folder, 'postrider.db');
  const ids = new IdSource();
  const masterKey = randomBytes(32);
  const vault = new Vault([masterKey]);
  const changes = new Set<() => void>();
  await newDatabase(file);
  const inner = await openSqliteStore({ file, ...(options.faults && { faults: options.faults }) });
  const store = announcing(inner, changes);
  const clock = options.clock ?? systemClock;
  const dns = await startDnsServer();
  const addSender = async (domain: string): Promise<Sender> => {
    const tenantId = await addTenant(store, ids);
    return { tenantId, domainId: await addVerifiedDomain({ store, vault, ids, tenantId, domain }), domain };
  };
  const firstSender = await addSender(FROM_DOMAIN);
  const identity = await loadServiceIdentity({
    store,
    vault,
    clock: systemClock,
    dkim: { domain: BOUNCES_DOMAIN, selector: 'postrider' },
  });
  const dnsLimits = { timeoutMs: patience(1000), attemptTimeoutMs: patience(200) };
  const resolver = createResolver({ servers: [dns.endpoint], clock, ...dnsLimits });
  const zones = { authorityPort: dns.port, allowPrivate: true, serverTimeoutMs: patience(500) };
  const authority = createAuthority({ resolver, ...zones });
  const allowPrivate = options.allowPrivate ?? true;
  const addresses = createAddressPolicy({ key: 'delivery.allow_private', allowPrivate });
  const second = {
    ...{ servers: options.dnsServers ?? [dns.endpoint], authority, timeoutMs: patience(1000) },
    addresses,
  };
  const kit: HarnessKit = {
    store: options.wrapStore?.(store) ?? store,
    resolver,
    secondLooks: createSecondLooks(second),
    noRoute: options.noRoute ?? { secondLookAfterMs: 15 * MINUTE_MS, lifetimeMs: 4 * HOUR_MS },
    ...(options.readInterfaces && { readInterfaces: options.readInterfaces }),
    ...(options.endWatch && { endWatch: options.endWatch }),
    clock,
    ids,
    random: Math.random,
    log: options.log ?? silentLogger,
    bounceRules: BOUNCE_RULES,
    courier: {
      store: sqliteAt(file),
      masterKeys: [masterKey],
      tokenKey: identity.tokenKey,
      bouncesDomain: BOUNCES_DOMAIN,
      links: { url: LINKS_URL, key: identity.linkKey },
      serviceSigner: identity.dkim,
      ehloName: 'mail.postrider.test',
      smtpPort: options.port,
      tls: options.tls ?? 'opportunistic',
      ...(options.trustedRoots && { trustedRoots: options.trustedRoots }),
      timeoutFactor: options.timeoutFactor ?? 1,
    },
    mtaSts: options.mtaSts ?? null,
    threads: options.threads ?? 1,
    ...(options.pool && { pool: options.pool }),
    ...(options.sources && { sources: options.sources }),
    addresses,
    policy: {
      ladder: { stepsMs: options.retryStepsMs ?? [60_000], jitter: 0.2 },
      platformSuppressionMs: 90 * 86_400_000,
    },
    providers: options.providers ?? new Providers([]),
    coolDownStepsMs: options.coolDownStepsMs ?? [1],
    limits: {
      ...{ sessions: 200, sessionsPerGroup: 10, messagesPerSession: 100, lingerMs: 50 },
      ...{ messagesPerMinute: null, messagesPerHour: () => null },
      ...options.limits,
    },
    expiryPeriodMs: options.expiryPeriodMs ?? 60_000,
  };
  const journalFile = path.join(folder, 'results.journal');
  const { leaseMs = null } = options;
  let running = await begin(kit, { node: 'harness', journalFile, leaseMs });
  const beside: { close(graceMs: number): Promise<void> }[] = [];

  const send = async (to: string[], content: SendContent = {}) => {
    const now = clock.now();
    const { tenantId, domainId, domain } = content.sender ?? firstSender;
    const submission: NewSubmission = {
      id: ids.next(),
      tenantId,
      apiKeyId: ids.next(),
      domainId,
      idempotencyKey: null,
      from: { address: `hello@${domain}`, name: content.fromName ?? null },
      subject: content.subject ?? 'A test',
      html: content.html ?? null,
      text: content.text === undefined ? 'Hello there.\n' : content.text,
      headers: content.headers ?? [],
      recipients: to.map((address) => recipientOf(ids.next(), address, content.toName ?? null)),
      acceptedAt: now,
      sendAt: content.sendAt ?? null,
      ...(content.slot !== undefined && { slot: content.slot }),
      expiresAt: (content.sendAt ?? now) + (content.lifetimeMs ?? 72 * 3_600_000),
    };
    const { passages } = running.delivery;
    const result = content.atOnce
      ? await acceptAndBegin({ store, passages }, { submission, fromDomain: domain }, () => {})
      : await store.submissions.accept(submission);
    if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
    if (result.begun) return result.receipt.messageIds;
    if (content.sendAt) running.delivery.noticeScheduled(content.sendAt);
    else if (!content.held) running.delivery.notice(result.lanes);
    return result.receipt.messageIds;
  };

  const until = async (messageId: string, condition: (message: MessageDetail) => boolean) => {
    for (;;) {
      const changed = new Promise<void>((resolve) => changes.add(resolve));
      const message = await store.queue.getMessage(messageId);
      if (message && condition(message)) return message;
      await changed;
    }
  };

  const untilAll = async (messageIds: string[], condition: (message: MessageDetail) => boolean) => {
    const messages: MessageDetail[] = [];
    // One after the other: thousands that all look after every change would be the load themselves.
    for (const id of messageIds) messages.push(await until(id, condition));
    return messages;
  };

  let stopped: Promise<void> | null = null;
  const stopDelivery = (graceMs = 5000) => {
    stopped ??= running.close(graceMs);
    return stopped;
  };

  const restartDelivery = async () => {
    await stopDelivery();
    running = await begin(kit, { node: 'harness', journalFile, leaseMs });
    stopped = null;
  };

  const startBeside = async ({ node, takesAt }: NodeRequest): Promise<HarnessNode> => {
    const own = announcing(await openSqliteStore({ file }), changes);
    const of = { node, journalFile: path.join(folder, `${node}.journal`), leaseMs: null };
    const { owner, delivery, close: end } = await begin({ ...kit, store: own }, { ...of, ...(takesAt && { takesAt }) });
    beside.push({ close: (graceMs) => end(graceMs).then(() => own.close()) });
    return { owner, store: own, delivery };
  };

  const close = async () => {
    for (const node of beside) await node.close(5000);
    await stopDelivery();
    await store.close();
    await dns.close();
    fs.rmSync(folder, { recursive: true, force: true });
  };
  const { tenantId, domainId } = firstSender;
  const newId = () => ids.next();
  const recipient = (address: string) => recipientOf(ids.next(), address, null);
  const actions = {
    addSender,
    newId,
    recipient,
    send,
    until,
    untilAll,
    stopDelivery,
    restartDelivery,
    startBeside,
    close,
  };
  const parts = { store, dns, identity, tenantId, domainId, folder, databaseFile: file };
  return {
    ...parts,
    ...actions,
    get delivery() {
      return running.delivery;
    },
  };
}

type HarnessKit = Omit<DeliveryKit, 'store' | 'ownership' | 'journal'> & { store: Store };

/** As the daemon does it: takes the slot, and then sends. */
async function begin(
  kit: HarnessKit,
  { node, journalFile, leaseMs, takesAt }: NodeRequest & { journalFile: string; leaseMs: number | null },
) {
  const journal = new ResultJournal(journalFile, kit.log);
  const spare = journal.earlier.map(({ messageId }) => messageId);
  const now = takesAt ?? kit.clock.now();
  const request = { node, slots: 1, now, leaseUntil: leaseMs === null ? null : now + leaseMs, spare };
  const { owners } = await kit.store.owners.takeSlots(request);
  const delivery = await startDelivery({ ...kit, ownership: new Ownership(owners), journal });
  return {
    owner: owners[0]!,
    delivery,
    async close(graceMs: number) {
      await delivery.close(graceMs);
      journal.close();
    },
  };
}

/** Tells everybody in `changes` when the queue was written to. */
function announcing(store: Store, changes: Set<() => void>): Store {
  const announce = <T>(work: Promise<T>) =>
    work.finally(() => {
      for (const resolve of changes) resolve();
      changes.clear();
    });
  return {
    ...store,
    queue: {
      ...store.queue,
      record: (updates) => announce(store.queue.record(updates)),
      recordLate: (updates) => announce(store.queue.recordLate(updates)),
      claim: (lane, limit, times) => announce(store.queue.claim(lane, limit, times)),
      release: (...given) => announce(store.queue.release(...given)),
      endWaiting: (update) => announce(store.queue.endWaiting(update)),
      queueScheduled: (due, now) => announce(store.queue.queueScheduled(due, now)),
    },
  };
}

function recipientOf(messageId: string, address: string, name: string | null): NewRecipient {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new Error(parsed.reason);
  return {
    messageId,
    address,
    name,
    domain: parsed.address.asciiDomain,
    suppressionKey: suppressionKey(parsed.address),
  };
}

async function addTenant(store: Store, ids: IdSource): Promise<string> {
  const id = ids.next();
  await store.tenants.createTenant({
    id,
    name: 'Test',
    status: 'active',
    statusReason: null,
    tier: 'uncapped',
    tierPinned: true,
    openTracking: false,
    clickTracking: false,
    unsubscribe: false,
    bouncesDomain: null,
    createdAt: Date.now(),
  });
  return id;
}

// Made once: it costs more than everything else that a harness does.
let madeKeyPair: ReturnType<typeof createDkimKeyPair> | null = null;
function keyPair(): ReturnType<typeof createDkimKeyPair> {
  madeKeyPair ??= createDkimKeyPair();
  return madeKeyPair;
}

async function addVerifiedDomain(parts: {
  store: Store;
  vault: Vault;
  ids: IdSource;
  tenantId: string;
  domain: string;
}): Promise<string> {
  const { store, vault, ids, tenantId, domain } = parts;
  const id = ids.next();
  const pair = await keyPair();
  const privateKey = vault.seal(pair.privateKeyDer, `domain-key:${id}`);
  const facts = { id, tenantId, name: domain, selector: 'pr202611', createdAt: Date.now() };
  await store.domains.createDomain({ ...facts, publicKeyB64: pair.publicKeyB64, privateKey });
  await store.domains.recordVerdict(tenantId, id, { state: 'verified', failureReason: null, checkedAt: Date.now() });
  return id;
}
