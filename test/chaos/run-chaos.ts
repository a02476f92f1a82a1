// A thousand kills. The real daemon lives and dies while clients order, the receiver defers, refuses, bounces later
// and complains, and webhook endpoints fail. Kills come by a schedule drawn from a seed: in the start, under load, in
// a checkpoint, in a shutdown, as SIGKILL or as a power cut (power-cut.ts says what that simulates). In the end all
// comes to rest, and the checks (check.ts) compare what was promised outside with what the store says.

import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Launch, Owner } from '../support/daemon-process.ts';
import { type DoorAddress, findDoorAddress } from '../support/door-client.ts';
import { registerSender, type Sender, startWorld, type World } from '../support/world.ts';
import { check, type Findings } from './check.ts';
import { Client } from './clients.ts';
import type { FlakyEndpoint } from './endpoints.ts';
import { executeKill } from './execute-kill.ts';
import { Receiver } from './receiver.ts';
import { Reporter } from './reporter.ts';
import { Scene } from './scene.ts';
import { type Kill, randomFor, scheduleOf } from './schedule.ts';
import { addEndpoints, announceService, SETTINGS } from './setting.ts';
import { settle, stopped, sweepLeftovers } from './settle.ts';
import { sqliteUnderTest } from './sqlite-under-test.ts';
import type { Facts, StoreUnderTest } from './store-under-test.ts';
import { type Losses, Tally } from './tally.ts';

export interface ChaosOptions {
  seed: number;
  kills: number;
  /** The run ends after so many minutes, whether or not it has come to all kills. */
  minutes?: number;
  /** Told of each kill, after it. */
  onKill?(kill: Kill, losses: Losses): void;
}

export interface ChaosResult {
  findings: Findings;
  losses: Losses;
  facts: Facts;
  powerCutsSimulated: boolean;
}

/** The last of them is slow. */
const CLIENTS = 5;
/** Daemons that died by themselves. */
const MAX_PROBLEMS = 5;
/** Looking through the whole database takes longer than the kill as soon as it is large. */
const THOROUGH_EVERY = 10;
interface Stage extends World {
  store: StoreUnderTest;
  scene: Scene;
  sender: Sender;
  receiver: Receiver;
  reporter: Reporter;
  door: DoorAddress;
  endpoints: FlakyEndpoint[];
  startMs: number;
}

export async function runChaos(
  owner: Owner,
  { seed, kills, minutes = Infinity, onKill }: ChaosOptions,
): Promise<ChaosResult> {
  const on = await setUp(owner, seed);
  try {
    return await run(on, { seed, kills, minutes, ...(onKill && { onKill }) });
  } finally {
    on.scene.abandon();
    on.reporter.end();
  }
}

async function run(
  on: Stage,
  { seed, kills, minutes, onKill }: ChaosOptions & { minutes: number },
): Promise<ChaosResult> {
  const endAt = Date.now() + minutes * 60_000;
  const { scene, sender, receiver, reporter, store } = on;
  const clients = Array.from({ length: CLIENTS }, (_, index) => {
    const name = `client${index}`;
    return new Client(scene, sender, {
      name,
      random: randomFor(seed, name),
      doorOf: () => on.door,
      isSlow: index === CLIENTS - 1,
    });
  });
  const ordering = Promise.all(clients.map((client) => client.work()));
  const reporting = reporter.work();
  for (const work of [ordering, reporting]) work.catch(() => {}); // is looked at below
  const tally = new Tally(on, clients);
  const random = randomFor(seed, 'power cuts');
  for (const kill of scheduleOf(seed, kills)) {
    const dead = scene.daemon;
    const executed = await executeKill(kill, { scene, checkpointBegins: store.checkpointBegins, startMs: on.startMs });
    const cut = kill.powerCut && store.cutsPower ? store.cutPower(kill.survives, random) : null;
    tally.note({ kill, executed, cut }, store.lookAfterKill(receiver.sinceKill, kill.number % THOROUGH_EVERY === 0));
    // A store that cannot be read, or no daemon that starts: nothing further would be learned.
    const { problems } = tally.losses;
    if (problems.length > MAX_PROBLEMS || tally.isDamaged) throw new Error(`kill ${kill.number}: ${problems.at(-1)}`);
    tally.readLog(dead);
    receiver.sinceKill.clear();
    on.sink.mails.length = 0;
    store.prepareStart();
    scene.replace(on.postrider.spawn());
    onKill?.(kill, tally.losses);
    if (Date.now() > endAt) break;
  }
  scene.end();
  await ordering;
  tally.losses.problems.push(...(await settleOne(on)));
  await reporting;
  tally.losses.leftovers = store.facts(sender.tenantId).leftovers;
  const swept = await openSqliteStore({ file: on.postrider.databaseFile });
  await sweepLeftovers(swept);
  await swept.close();
  return conclude(on, tally, clients);
}

async function settleOne({ store, scene, postrider, reporter, endpoints }: Stage): Promise<string[]> {
  await scene.daemon.ready;
  return settle({
    ...{ reporter, endpoints },
    openWork: () => store.openWork(),
    hastenWebhooks: () => store.hastenWebhooks(),
    stop: () => stopped(scene.daemon),
    async start() {
      store.prepareStart();
      scene.replace(await postrider.serve());
    },
  });
}

function conclude(on: Stage, { losses, inFlight }: Tally, clients: Client[]): ChaosResult {
  const { store, sender, receiver, reporter, endpoints } = on;
  const facts = store.facts(sender.tenantId);
  const witness = {
    promised: new Set(clients.flatMap(({ promised }) => promised)),
    queued: new Map(clients.flatMap(({ queued }) => [...queued])),
    submissions: new Map(clients.flatMap(({ submissions }) => [...submissions])),
    ...{ receiver, inFlight, endpoints, reports: reporter.accepted },
  };
  const findings = check(witness, facts);
  const refusals = [...clients.flatMap((client) => client.refusals), ...reporter.refusals];
  findings.other.push(...losses.problems, ...refusals.map((text) => `refused: ${text}`));
  return { findings, losses, facts, powerCutsSimulated: store.cutsPower };
}

async function setUp(owner: Owner, seed: number): Promise<Stage> {
  // The receiver hears of mail before there is a reporter to tell: none is sent by then.
  let reporter: Reporter | null = null;
  const receiver = new Receiver((report) => reporter?.add(report));
  const launch: Launch = {};
  const address = await findDoorAddress();
  const world = await startWorld(owner, { sink: receiver.options, settings: { ...SETTINGS, ...address }, launch });
  const store = sqliteUnderTest(world.postrider.folder, launch);
  const startedAt = Date.now();
  const daemon = await world.postrider.serve();
  const startMs = Date.now() - startedAt;
  await announceService(world.dns, daemon);
  const sender = await registerSender(world, daemon);
  const endpoints = await addEndpoints(owner, { postrider: world.postrider, daemon, sender, seed });
  const scene = new Scene(daemon);
  reporter = new Reporter(scene, randomFor(seed, 'reports'));
  return { ...world, store, scene, sender, receiver, reporter, endpoints, startMs, door: address.submission };
}
