// `node bench/store-cost.ts`: what the store alone costs for each message that is accepted, claimed and delivered at its
// first attempt: processor time and bytes of the write-ahead log, step by step. In memory (/dev/shm) no fsync is
// measured. `--store postgres` starts a server of its own, also without fsync, and shows its processor time apart, and
// what groups sent to it. Compare two states of the product in turns: other programs on the machine affect single runs.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { IdSource } from '../src/base/ids.ts';
import { NO_TLS_POLICY, type PeerFacts } from '../src/base/outcome.ts';
import { deliveredEvent } from '../src/events/delivery-events.ts';
import type { Owner } from '../src/store/owners.ts';
import { type ClaimedMessage, type ClaimedUpdate, claimOf } from '../src/store/queue.ts';
import { CHECKPOINT_LIMITS } from '../src/store/sqlite/engine/checkpoint-plan.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import type { AcceptResult, NewSubmission } from '../src/store/submissions.ts';
import { SAMPLE } from './sample-mail.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    folder: { type: 'string', default: '/dev/shm' },
    messages: { type: 'string', default: '20000' },
    recipients: { type: 'string', default: '1' },
    group: { type: 'string', default: '100' },
  },
});
const [messages, recipientsEach, group] = [values.messages, values.recipients, values.group].map(Number) as [
  number,
  number,
  number,
];
const LANES = 20;
const WARM_UP_MESSAGES = 4000;
const DAY_MS = 86_400_000;
const PEER: PeerFacts = {
  ...{ mx: 'mx1.in1.test', remoteIp: '192.0.2.25', stage: 'dot', smtpCode: 250, enhancedCode: '2.0.0', elapsedMs: 123 },
  response: '250 2.0.0 Ok: queued as 4bXyZ01zQkz2xJ',
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  tlsPolicy: NO_TLS_POLICY,
};

const STEPS = ['accept', 'claim', 'record'] as const;
type Step = (typeof STEPS)[number];

interface Used {
  us: number;
  /** Of the server, which SQLite does not have. */
  serverUs: number;
  bytes: number;
}

/** Adds up what each step has used. */
class Meter {
  readonly used: Record<Step, Used> = { accept: noneUsed(), claim: noneUsed(), record: noneUsed() };
  readonly #serverNs: () => number;

  constructor(serverNs: () => number) {
    this.#serverNs = serverNs;
  }

  async measure<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const [cpu, bytes, serverNs] = [process.cpuUsage(), writtenByThisThread(), this.#serverNs()];
    const result = await work();
    const { user, system } = process.cpuUsage(cpu);
    const used = this.used[step];
    used.us += user + system;
    used.bytes += writtenByThisThread() - bytes;
    used.serverUs += (this.#serverNs() - serverNs) / 1000;
    return result;
  }
}

function noneUsed(): Used {
  return { us: 0, serverUs: 0, bytes: 0 };
}

/** The write-ahead log's: it is copied into the database by another thread. */
function writtenByThisThread(): number {
  return Number(/^wchar: (\d+)$/m.exec(fs.readFileSync('/proc/thread-self/io', 'latin1'))![1]);
}

/** Processor time of a server's processes: each connection has one. */
function nsOfChildren(pid: number): number {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
  return children.reduce((sum, child) => sum + nsOf(child), 0);
}

function nsOf(pid: string): number {
  try {
    return Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]);
  } catch {
    return 0; // it has ended
  }
}

interface Sender {
  tenantId: string;
  domainId: string;
  apiKeyId: string;
}

const ids = new IdSource();

async function makeSender(store: Store): Promise<Sender> {
  const [tenantId, domainId] = [ids.next(), ids.next()];
  await store.tenants.createTenant({
    ...{ id: tenantId, name: 'Bench', status: 'active', statusReason: null, tier: '1k', tierPinned: false },
    ...{ openTracking: false, clickTracking: false, unsubscribe: false, bouncesDomain: null, createdAt: Date.now() },
  });
  const key = { publicKeyB64: '', privateKey: { masterKeyId: 'm', sealed: Buffer.alloc(32) } };
  await store.domains.createDomain({
    ...{ id: domainId, tenantId, name: `${domainId}.test`, selector: 'pr1', createdAt: Date.now(), ...key },
  });
  const verdict = { state: 'verified', failureReason: null, checkedAt: Date.now() } as const;
  await store.domains.recordVerdict(tenantId, domainId, verdict);
  return { tenantId, domainId, apiKeyId: ids.next() };
}

let made = 0;

function newSubmission(sender: Sender): NewSubmission {
  const now = Date.now();
  const id = ids.next();
  const recipients = Array.from({ length: recipientsEach }, () => {
    const number = made++;
    const domain = `in${number % LANES}.test`;
    const address = `customer-${number}@${domain}`;
    return { messageId: ids.next(), address, name: 'Customer', domain, suppressionKey: address };
  });
  return {
    ...{ id, ...sender, idempotencyKey: `bench-${made}`, from: { address: 'orders@sender.test', name: 'Shop' } },
    ...{ ...SAMPLE, headers: [], recipients, acceptedAt: now, expiresAt: now + 3 * DAY_MS },
  };
}

interface Scene {
  store: Store;
  owner: Owner;
}

async function send({ store, owner }: Scene, senders: Sender[], meter: Meter): Promise<void> {
  const submissions = Array.from({ length: group / recipientsEach }, (_, index) =>
    newSubmission(senders[index % senders.length]!),
  );
  const accepted = await meter.measure('accept', () => Promise.all(submissions.map(store.submissions.accept)));
  const lanes = new Set(accepted.flatMap(lanesOf));
  const now = Date.now();
  const times = { owner, now, dueAgainAt: [now + 300_000] };
  const claims = await meter.measure('claim', () =>
    Promise.all([...lanes].map((lane) => store.queue.claim(lane, group, times))),
  );
  const updates = claims.map((claim) => claim.messages.map((message) => delivered(message, now)));
  await meter.measure('record', () => Promise.all(updates.map(store.queue.record)));
}

function lanesOf(result: AcceptResult): number[] {
  if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
  return result.lanes.map(({ lane }) => lane);
}

function delivered(message: ClaimedMessage, now: number): ClaimedUpdate {
  const { id: messageId, tenantId, attempt } = message;
  return {
    claim: claimOf(message),
    ...{ messageId, tenantId, at: now + 123, transition: { to: 'delivered' } },
    attempt: { messageId, tenantId, attempt, startedAt: now, outcome: 'delivered', peer: PEER },
    event: deliveredEvent({ id: ids.next(), at: now + 123 }, message, { peer: PEER, attempt }),
  };
}

interface Opened {
  store: Store;
  serverNs(): number;
  close(): Promise<void>;
}

/** What groups sent to the server, and how often they waited for it. */
const groups = { count: 0, statements: 0, roundTrips: 0 };

async function openSqlite(): Promise<Opened> {
  const folder = fs.mkdtempSync(path.join(values.folder, 'postrider-store-'));
  const store = await openSqliteStore({
    file: path.join(folder, 'postrider.db'),
    groupMaxMs: 1000, // on a busy machine a group would be cut here and there, and each commit writes its pages
    checkpointThread: {
      limits: CHECKPOINT_LIMITS,
      onFault: (error) => {
        throw error;
      },
    },
  });
  const close = async () => {
    await store.close();
    fs.rmSync(folder, { recursive: true, force: true });
  };
  return { store, serverNs: () => 0, close };
}

/** Loaded only here: with its modules in memory, SQLite costs up to a tenth more. */
async function openPostgres(): Promise<Opened> {
  const { openPostgresStore } = await import('../src/store/postgres/open.ts');
  const { startPostgres } = await import('../test/support/postgres-server.ts');
  const endings: (() => unknown)[] = [];
  const settings = { autovacuum: 'on', shared_buffers: '256MB', max_wal_size: '4GB' };
  const server = await startPostgres({ teardown: (end) => void endings.unshift(end) }, { settings });
  const store = await openPostgresStore({
    url: server.url(await server.createDatabase()),
    onGroup: ({ sent }) => {
      groups.count++;
      groups.statements += sent!.statements;
      groups.roundTrips += sent!.roundTrips;
    },
  });
  const close = async () => {
    await store.close();
    for (const end of endings) await end();
  };
  return { store, serverNs: () => nsOfChildren(server.program.child.pid!), close };
}

async function measure(): Promise<void> {
  const { store, serverNs, close } = await (values.store === 'postgres' ? openPostgres() : openSqlite());
  try {
    const senders = await Promise.all(Array.from({ length: 5 }, () => makeSender(store)));
    const { owners } = await store.owners.takeSlots({ node: 'bench', slots: 1, now: Date.now(), leaseUntil: null });
    const scene = { store, owner: owners[0]! };
    const [warmUp, meter] = [new Meter(serverNs), new Meter(serverNs)];
    for (let done = 0; done < WARM_UP_MESSAGES; done += group) await send(scene, senders, warmUp);
    Object.assign(groups, { count: 0, statements: 0, roundTrips: 0 });
    for (let done = 0; done < messages; done += group) await send(scene, senders, meter);
    report(meter);
  } finally {
    await close();
  }
}

function report({ used }: Meter): void {
  const sum = STEPS.reduce((all, step) => added(all, used[step]), noneUsed());
  for (const [name, of] of [...STEPS.map((step) => [step, used[step]] as const), ['together', sum] as const]) {
    process.stdout.write(`${lineOf(name, of)}\n`);
  }
  if (values.store !== 'postgres') return;
  const each = (sum: number) => (sum / groups.count).toFixed(1);
  const { count, statements, roundTrips } = groups;
  process.stdout.write(`${count} groups of ${each(statements)} statements and ${each(roundTrips)} round trips\n`);
}

function added(one: Used, other: Used): Used {
  return { us: one.us + other.us, serverUs: one.serverUs + other.serverUs, bytes: one.bytes + other.bytes };
}

function lineOf(name: string, { us, serverUs, bytes }: Used): string {
  const each = (value: number) => (value / messages).toFixed(1).padStart(8);
  const rest =
    values.store === 'postgres'
      ? `${each(serverUs)} µs of the server`
      : `${(bytes / messages).toFixed(0).padStart(8)} bytes`;
  return `${name.padEnd(8)}${each(us)} µs${rest}`;
}

await measure();
