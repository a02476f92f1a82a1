// What `npm run bench -- …` can be told.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { SinkKind } from './sinks.ts';

export interface BenchOptions {
  /** Measured time of the end-to-end row; the accept rows take a quarter of it. */
  seconds: number;
  /** HTTP connections of the load generator. */
  connections: number;
  /** Messages on their way at once in the end-to-end row. */
  inFlight: number;
  /** Recipients' domains, each with its own MX host. */
  domains: number;
  sink: SinkKind;
  /** Where the databases of the run are made: the disk that is measured. */
  dir: string;
  /** Messages that wait in the backlog section. */
  backlog: number;
  /** How long the reader of the bloat section keeps its snapshot. */
  minutes: number;
  /** Names of sections; empty: all but those that must be named. */
  only: string[];
  /** Other checkouts, whose daemons take turns with this one's. */
  against: string[];
  /** How many turns each of them has. */
  rounds: number;
  profile: boolean;
  save: boolean;
}

export const USAGE = `npm run bench -- [options]
  --seconds N      measured time of the end-to-end row (60)
  --connections N  HTTP connections of the load generator (50)
  --in-flight N    messages on their way at once in the end-to-end row (200)
  --domains N      recipients' domains, each with an MX host of its own (4)
  --sink KIND      own, or smtp-sink: Debian's, which knows no arrival times (own)
  --dir FOLDER     where the databases are made: the disk that is measured (the system's temporary folder)
  --only A,B       limits, accept, idle, postfix, end-to-end, clicks, reports, webhooks, bodies,
                   attachments, smtp-door, backlog, slow-disk, search, nodes (all), bloat (only if named)
  --against A,B    only turns: other checkouts, with their packages installed, whose daemons take turns with
                   this one's, accepting and end to end; --seconds is the measured time of each
  --rounds N       turns that each of them has (7)
  --backlog N      messages that wait for a dead destination in the backlog row (1000000)
  --minutes N      how long a reader keeps its snapshot in the bloat rows (60)
  --profile        runs each section once more with the daemon profiled: its processor time by part
  --save           writes the table to bench/results/`;

/** Null when help is asked for; throws with a sentence for people. */
export function readOptions(argv: string[]): BenchOptions | null {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '60' },
      connections: { type: 'string', default: '50' },
      'in-flight': { type: 'string', default: '200' },
      domains: { type: 'string', default: '4' },
      sink: { type: 'string', default: 'own' },
      dir: { type: 'string', default: os.tmpdir() },
      backlog: { type: 'string', default: '1000000' },
      minutes: { type: 'string', default: '60' },
      only: { type: 'string', default: '' },
      against: { type: 'string', default: '' },
      rounds: { type: 'string', default: '7' },
      profile: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { sink, dir, profile, save } = values;
  const [only, against] = [listOf(values.only), listOf(values.against)];
  if (values.help) return null;
  if (sink !== 'own' && sink !== 'smtp-sink') throw new Error(`--sink: own or smtp-sink, not ${sink}`);
  for (const checkout of against) requireCheckout(checkout);
  return {
    seconds: wholeNumber('seconds', values.seconds),
    connections: wholeNumber('connections', values.connections),
    inFlight: wholeNumber('in-flight', values['in-flight']),
    domains: wholeNumber('domains', values.domains),
    backlog: wholeNumber('backlog', values.backlog),
    minutes: wholeNumber('minutes', values.minutes),
    rounds: wholeNumber('rounds', values.rounds),
    ...{ sink, dir, profile, save, against },
    only: only.length === 0 && against.length > 0 ? ['turns'] : only,
  };
}

function listOf(text: string): string[] {
  return text.split(',').filter((name) => name !== '');
}

function requireCheckout(dir: string): void {
  const missing = ['src/main.ts', 'node_modules'].find((name) => !fs.existsSync(path.join(dir, name)));
  if (missing === undefined) return;
  throw new Error(`--against: ${dir} has no ${missing}: name the folder of a checkout in which npm ci has run`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name}: a whole number from 1 on, not ${text}`);
  return Number(text);
}
