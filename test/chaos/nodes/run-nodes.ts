// Three daemons on a primary with a synchronous standby. Clients order at any of them, the receiver defers, refuses, bounces
// later and complains, and webhook endpoints fail, while machines, servers and the network between them suffer what a seed has
// drawn (faults.ts). In the end all comes to rest, and the checks compare what was promised outside with what the store says.
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { countFigures } from '../../../src/upkeep/count-figures.ts';
import type { Owner } from '../../support/daemon-process.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { startMailSink } from '../../support/mail-sink.ts';
import { addReceiver, RECEIVER, registerSender, type Sender } from '../../support/world.ts';
import { check, type Findings } from '../check.ts';
import { Client } from '../clients.ts';
import type { FlakyEndpoint } from '../endpoints.ts';
import { Receiver } from '../receiver.ts';
import { Reporter } from '../reporter.ts';
import { randomFor } from '../schedule.ts';
import { addEndpoints, announceService, SETTINGS } from '../setting.ts';
import { settle, stopped, sweepLeftovers } from '../settle.ts';
import type { Facts } from '../store-under-test.ts';
import { oddFeed, overLimit } from './check-nodes.ts';
import { ClosedDoors } from './closed-doors.ts';
import { Cluster } from './cluster.ts';
import { carryOut, cutsOff, describeFault, type Fault, faultsOf } from './faults.ts';
import { FeedReader } from './feed-reader.ts';
import type { History } from './history.ts';
import { type Machine, Machines, startMachine } from './machine.ts';
import { countOpenWork, describeWaiting, eventsInOrder, hastenWebhooks, oddSums, readFacts } from './postgres-facts.ts';
import { Watch } from './watch.ts';

export interface NodesOptions {
  seed: number;
  /** As many faults, or for so long. */
  faults: number;
  minutes?: number;
  history: History;
  /** Told of each fault, after it. */
  onFault?(fault: Fault, what: string, soFar: NodesFigures): void;
}

export interface NodesFigures {
  promised: number;
  queued: number;
  arrived: number;
  twice: number;
  /** Messages in hand at a fault, summed over all. */
  hit: number;
  faults: Record<string, number>;
  promotions: number;
  reports: number;
  repeats: number;
  replays: number;
  /** Events that were read on. */
  events: number;
  closedDoors: number;
  takeovers: { longestMs: number; count: number };
  /** Of one machine's address to the one receiver. */
  mostConnections: number;
}

export interface NodesResult {
  findings: Findings & NodesFindings;
  figures: NodesFigures;
  facts: Facts;
}

/** What only several machines can break. */
export interface NodesFindings {
  /** Whoever reads events on has missed some, or had them in another order. */
  feed: string[];
  /** Slots and timers: an epoch that did not rise, or no other owner in time. */
  owners: string[];
  /** Closed at one machine, and open at another. */
  doors: string[];
  sums: string[];
  connections: string[];
}

const MACHINES = 3;
/** The last of them is slow. */
const CLIENTS = 6;
const PACE_MS = 500;
const LONGEST_QUIET_MS = 2500;
const LINES_SAID = 6;
const STILLNESS_MS = 130_000;
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

interface Stage {
  cluster: Cluster;
  machines: Machines;
  sender: Sender;
  /** Of the tenant that is suspended again and again. */
  other: Sender;
  receiver: Receiver;
  reporter: Reporter;
  endpoints: FlakyEndpoint[];
  connections: ReadonlyMap<string, number>;
}

export async function runNodes(owner: Owner, options: NodesOptions): Promise<NodesResult> {
  const { seed, history } = options;
  const on = await setUp(owner, options);
  const { machines, sender, reporter, cluster, receiver } = on;
  const clients = Array.from({ length: CLIENTS }, (_, index) => {
    const name = `client${index}`;
    const isSlow = index === CLIENTS - 1;
    const doorOf = machines.doorOf.bind(machines);
    const note = history.note.bind(history);
    return new Client(machines, sender, { name, random: randomFor(seed, name), doorOf, isSlow, paceMs: PACE_MS, note });
  });
  const feed = new FeedReader(machines, sender);
  const doors = new ClosedDoors(machines, on.other, randomFor(seed, 'doors'));
  const watch = new Watch(cluster, receiver, machines.all);
  const ordering = Promise.all(clients.map((client) => client.work()));
  const others = [feed, doors, watch, reporter].map((one) => one.work());
  for (const work of [ordering, ...others]) work.catch(() => {}); // is looked at below
  const faults: Record<string, number> = {};
  const figures = () => figuresOf(on, { clients, feed, doors, watch, faults });
  await suffer(on, options, watch, (fault, what) => {
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    options.onFault?.(fault, what, figures());
  });
  machines.end();
  doors.end();
  watch.end();
  await Promise.all([ordering, others[1], others[2]]);
  const problems = await settleAll(on, () => feed.finish());
  await Promise.all(others);
  const facts = await sweptFacts(on);
  const witness = {
    promised: new Set(clients.flatMap(({ promised }) => promised)),
    queued: new Map(clients.flatMap(({ queued }) => [...queued])),
    submissions: new Map(clients.flatMap(({ submissions }) => [...submissions])),
    ...{ receiver, inFlight: watch.inFlight, endpoints: on.endpoints, reports: reporter.accepted },
  };
  const findings = {
    ...check(witness, facts),
    feed: oddFeed(feed.seen, await eventsInOrder(cluster, sender.tenantId)),
    owners: [...watch.holdings.problems, ...watch.problems],
    doors: doors.problems,
    sums: await oddSums(cluster, sender.tenantId),
    connections: overLimit(on.connections, SETTINGS.delivery.connections_per_destination),
  };
  const refusals = [...clients.flatMap((client) => client.refusals), ...reporter.refusals];
  findings.other.push(...problems, ...refusals.map((text) => `refused: ${text}`));
  for (const [name, list] of Object.entries(findings))
    for (const problem of list) history.note('problem', { name, problem });
  return { findings, figures: figures(), facts };
}

async function suffer(
  { machines, cluster, receiver }: Stage,
  { seed, faults, minutes = Infinity, history }: NodesOptions,
  watch: Watch,
  onFault: (fault: Fault, what: string) => void,
): Promise<void> {
  const endAt = Date.now() + minutes * 60_000;
  const untilTakenOver = watch.untilTakenOver.bind(watch);
  for (const fault of faultsOf(seed, MACHINES)) {
    if (fault.number > faults || Date.now() > endAt) return;
    const machine = machines.all[fault.machine]!;
    const what = describeFault(fault, machine);
    history.note('fault', { number: fault.number, fault: what });
    const carry = () => carryOut(fault, machine, { cluster, receiver, untilTakenOver });
    await (cutsOff(fault) ? watch.during(carry) : carry());
    history.note('healed', { number: fault.number });
    const died = machines.all.find(({ daemon }) => !daemon.running);
    if (died) throw new Error(`after ${what}, ${died.name} has ended: ${died.daemon.output.slice(-1500)}`);
    onFault(fault, what);
    await pause(fault.quiet * LONGEST_QUIET_MS);
  }
}

async function settleAll(
  { machines, cluster, reporter, endpoints }: Stage,
  readOn: () => Promise<void>,
): Promise<string[]> {
  let lives = 0;
  return settle({
    ...{ reporter, endpoints, stillnessMs: STILLNESS_MS },
    openWork: () => countOpenWork(cluster),
    hastenWebhooks: () => hastenWebhooks(cluster),
    async stop() {
      if (++lives === 2) await readOn();
      const waiting = await describeWaiting(cluster, (messageId) =>
        machines.all.flatMap((one) => saidBy(one, messageId)),
      );
      return [...waiting, ...(await Promise.all(machines.all.map(({ daemon }) => stopped(daemon)))).flat()];
    },
    async start() {
      for (const machine of machines.all) machine.daemon = await machine.postrider.serve();
    },
  });
}

/** The last that a machine's daemons have logged about a message. */
function saidBy({ name, postrider }: Machine, messageId: string): string[] {
  const lines = postrider.everythingLogged.split('\n').filter((line) => line.includes(messageId));
  return lines.slice(-LINES_SAID).map((line) => `  ${name} logged: ${line}`);
}

async function sweptFacts({ cluster, sender }: Stage): Promise<Facts> {
  const store = await openPostgresStore({ url: cluster.url });
  await sweepLeftovers(store);
  await countFigures({ store, clock: { now: Date.now }, pause }, new AbortController().signal);
  await store.close();
  return readFacts(cluster, sender.tenantId);
}

function figuresOf(
  { receiver, reporter, cluster, connections }: Stage,
  parts: { clients: Client[]; feed: FeedReader; doors: ClosedDoors; watch: Watch; faults: Record<string, number> },
): NodesFigures {
  const { clients, feed, doors, watch, faults } = parts;
  const sum = (of: (client: Client) => number) => clients.reduce((total, client) => total + of(client), 0);
  return {
    promised: sum(({ promised }) => promised.length),
    queued: sum(({ queued }) => [...queued.values()].flat().length),
    arrived: receiver.times.size,
    twice: receiver.deliveredTwice,
    hit: [...watch.inFlight.values()].reduce((total, count) => total + count, 0),
    faults,
    promotions: cluster.promotions,
    reports: reporter.accepted.size,
    repeats: sum(({ repeats }) => repeats),
    replays: sum(({ replays }) => replays),
    events: feed.seen.length,
    closedDoors: doors.rounds,
    takeovers: watch.takeovers,
    mostConnections: Math.max(0, ...connections.values()),
  };
}

async function setUp(owner: Owner, { seed, history }: NodesOptions): Promise<Stage> {
  // The receiver hears of mail before there is a reporter to tell: none is sent by then.
  let reporter: Reporter | null = null;
  const receiver = new Receiver((report) => reporter?.add(report));
  const sink = await startMailSink(receiver.options);
  const dns = await startDnsServer();
  owner.teardown(() => Promise.all([sink.close(), dns.close()]));
  addReceiver(dns, RECEIVER);
  const cluster = await Cluster.start(owner);
  const settings = { ...SETTINGS, secrets: { master_key: MASTER_KEY } };
  const all = [];
  for (let number = 1; number <= MACHINES; number++) {
    const machine = await startMachine(owner, { cluster, dns, smtpPort: sink.port, settings }, number);
    owner.teardown(() => owner.passing() || history.keep(`${machine.name}.log`, machine.postrider.everythingLogged));
    all.push(machine);
  }
  const [{ postrider, daemon }] = all as [(typeof all)[0]];
  await announceService(dns, daemon);
  const sender = await registerSender({ dns, postrider }, daemon);
  const other = await registerSender({ dns, postrider }, daemon, { name: 'Other', domain: 'other.test' });
  const endpoints = await addEndpoints(owner, { postrider, daemon, sender, seed });
  const machines = new Machines(all, randomFor(seed, 'machines'));
  reporter = new Reporter(machines, randomFor(seed, 'reports'));
  return { cluster, machines, sender, other, receiver, reporter, endpoints, connections: sink.mostBySource };
}
