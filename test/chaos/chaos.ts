// `npm run chaos -- --store sqlite --kills 1000`: kills the daemon that often and checks all its promises
// (run-chaos.ts). `npm run chaos -- --store postgres --minutes 60`: three daemons on a database with a standby suffer for so
// long (nodes/run-nodes.ts). `--seed` repeats a schedule; `--minutes` ends the run, `--keep` leaves its folders for a look.
// Ends with 1 when a promise was broken, with 2 for a wrong call.
import { parseArgs } from 'node:util';
import { hasFailed } from './check.ts';
import { missingForFaults } from './nodes/faults.ts';
import { tellNodes } from './nodes/tell-nodes.ts';
import { runChaos } from './run-chaos.ts';
import type { Losses } from './tally.ts';

const LINE_EVERY_KILLS = 25;
const MAX_EXAMPLES = 10;

// Not exitCode: a client that dials the port of a dead daemon can be connected to itself, and that never ends.
process.exit(await main());

interface Call {
  store: 'sqlite' | 'postgres';
  seed: number;
  kills: number;
  faults: number;
  minutes: number;
  keep: boolean;
}

async function main(): Promise<number> {
  const call = readCall();
  if (typeof call === 'string') {
    console.error(`chaos: ${call}`);
    return 2;
  }
  if (call.store === 'postgres') return (await tellNodes(call)) ? 0 : 1;
  return killOften(call);
}

async function killOften({ seed, kills, minutes: limit, keep }: Call): Promise<number> {
  console.log(`seed ${seed}, ${kills} kills`);
  const startedAt = Date.now();
  const minutes = () => ((Date.now() - startedAt) / 60_000).toFixed(1);
  const endings: (() => unknown)[] = [];
  let isFine = false;
  const owner = {
    teardown: (ending: () => unknown) => void endings.unshift(ending),
    passing: () => isFine && !keep,
    comment: (...text: unknown[]) => console.log(...text),
  };
  try {
    const { findings, losses, facts, powerCutsSimulated } = await runChaos(owner, {
      ...{ seed, kills, minutes: limit },
      onKill({ number }, soFar) {
        if (number % LINE_EVERY_KILLS === 0) console.log(`${number} kills, ${minutes()} min: ${describe(soFar)}`);
      },
    });
    isFine = !hasFailed(findings);
    if (!powerCutsSimulated) console.log('There is no C compiler here: power cuts were plain kills.');
    console.log(`moments: ${JSON.stringify(losses.byMoment)}, ${losses.blocksLost} blocks lost in power cuts`);
    tell('logged', losses.logged);
    tell('inbound mail without effect', facts.inboundKept);
    for (const [name, problems] of Object.entries(findings) as [string, string[]][]) {
      if (problems.length > 0) console.log(`\n${name}: ${problems.length}`);
      for (const problem of problems.slice(0, MAX_EXAMPLES)) console.log(`  ${problem}`);
    }
    const { lost, altered, withoutEffect, twice, submittedTwice, events, attempts, other } = findings;
    console.log(`\nseed ${seed}: ${losses.kills} kills (${losses.powerCuts} power cuts) in ${minutes()} minutes`);
    console.log(describe(losses));
    console.log(
      `lost ${lost.length}, altered ${altered.length}, reports without effect ${withoutEffect.length} of ${losses.reports}, ` +
        `twice without a reason ${twice.length}, submitted twice ${submittedTwice.length}, ` +
        `events ${events.length}, attempts ${attempts.length}, other ${other.length}`,
    );
    return isFine ? 0 : 1;
  } catch (error) {
    console.log(`seed ${seed}: given up after ${minutes()} minutes: ${(error as Error).message}`);
    return 1;
  } finally {
    for (const ending of endings) await ending();
  }
}

function readCall(): Call | string {
  try {
    const { values } = parseArgs({
      options: {
        store: { type: 'string', default: 'sqlite' },
        kills: { type: 'string', default: '100' },
        faults: { type: 'string', default: 'Infinity' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        minutes: { type: 'string', default: '' },
        keep: { type: 'boolean', default: false },
      },
    });
    const { store } = values;
    const [kills, faults, seed] = [Number(values.kills), Number(values.faults), Number(values.seed)];
    const minutes = Number(values.minutes || (store === 'postgres' && faults === Infinity ? 60 : Infinity));
    if (store !== 'sqlite' && store !== 'postgres') return `--store must be sqlite or postgres, not ${store}`;
    const missing = store === 'postgres' && missingForFaults();
    if (missing) return missing;
    if (!Number.isInteger(kills) || kills < 1) return '--kills must be an integer from 1';
    if (!(faults >= 1)) return '--faults must be a number from 1';
    if (!Number.isInteger(seed)) return '--seed must be an integer';
    if (!(minutes > 0)) return '--minutes must be a number above 0';
    return { store, kills, faults, seed, minutes, keep: values.keep };
  } catch (error) {
    return (error as Error).message;
  }
}

function describe({
  promised,
  queued,
  leftovers,
  arrived,
  twice,
  inFlight,
  kills,
  repeats,
  replays,
  reports,
}: Losses): string {
  const perKill = kills === 0 ? 0 : inFlight / kills;
  return (
    `${promised} messages promised over HTTP and ${queued} over SMTP (${leftovers} pieces cut off), ${arrived} arrived, twice ${twice} of ${inFlight} in flight ` +
    `(${perKill.toFixed(1)} per kill); ${repeats} repeated calls, ${replays} of them replays; ${reports} reports taken`
  );
}

function tell(what: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size > 0) console.log(`\n${what}:`);
  for (const [text, count] of counts) console.log(`  ${count} × ${text}`);
}
