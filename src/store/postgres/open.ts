// The PostgreSQL driver, for every process of every node.
import { randomBytes } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { bindVerbs, type DeclaredVerb, type Run } from '../sql/bind-verbs.ts';
import { driverVerbs, lookVerbs } from '../sql/driver-verbs.ts';
import type { Steps } from '../sql/steps.ts';
import type { Store } from '../store.ts';
import { ConfigCache } from './engine/config-cache.ts';
import type { ConnectionTerms } from './engine/connection.ts';
import { wasStopped } from './engine/database-fault.ts';
import { migrate } from './engine/migrations.ts';
import { PostgresNotices } from './engine/notices.ts';
import { Primary, type Tell } from './engine/primary.ts';
import { ReadPool } from './engine/read-pool.ts';
import { parseServerAddress } from './engine/server-address.ts';
import { Session } from './engine/session.ts';
import { besideOf, takesTurn } from './engine/side-by-side.ts';
import { VerbRunner } from './engine/verb-runner.ts';
import type { WaveOptions } from './engine/wave-statements.ts';
import { WritingConnection, type WritingOptions } from './engine/writing-connection.ts';

export interface PostgresOptions extends WritingOptions, WaveOptions {
  url: string;
  /** Notices to or from other nodes do not get through, and are tried again. */
  onNoticeFault?(error: unknown): void;
  tell?: Tell;
  /** How long the server may not answer what writes; tests are less patient. */
  silenceMs?: number;
  /** The same for what a read asks. */
  statementMs?: number;
}

/**
 * Like `queue.dueLanes`, which reads in slices, they look for little among the rows of all that was sent since the last vacuum:
 * beside a transaction that is open for hours that can take longer than other statements may, and must not fail at each try.
 */
const LOOKS: ReadonlySet<string> = new Set(['queue.findOrphanLanes', 'queue.listSending']);
const LOOK_MS = MINUTE_MS;

interface Running {
  pool: ReadPool;
  /** What takes too long in the pool is tried once more, with more time. */
  look<T>(work: () => Steps<T>): Promise<T>;
  runner: VerbRunner;
  writing: WritingConnection;
}

/** Brings an older schema up to date. */
export async function openPostgresStore({
  url,
  onNoticeFault,
  tell,
  silenceMs,
  statementMs,
  ...options
}: PostgresOptions): Promise<Store> {
  const address = parseServerAddress(url);
  await migrate(address, tell);
  const primary = new Primary(address, { tell, isNoted: true });
  const terms = (what: string): ConnectionTerms => ({ applicationName: `postrider-${what}` });
  const cache = new ConfigCache();
  const pool = new ReadPool({ primary, terms: { ...terms('reads'), ...(statementMs && { statementMs }) }, cache });
  const patience = { statementMs: LOOK_MS, silenceMs: LOOK_MS + SECOND_MS };
  const patientPool = new ReadPool({ primary, terms: { ...terms('looks'), ...patience }, cache, maxConnections: 1 });
  const look = <T>(work: () => Steps<T>): Promise<T> =>
    pool.read(runner, work).catch((error: unknown) => {
      if (!wasStopped(error)) throw error;
      return patientPool.read(runner, work);
    });
  const runner: VerbRunner = new VerbRunner((work) => pool.read(runner, work), options);
  const notices = new PostgresNotices({
    session: new Session(primary, terms('notices')),
    cache,
    ...(onNoticeFault && { onFault: onNoticeFault }),
  });
  const session = new Session(primary, { ...terms('writes'), ...(silenceMs && { silenceMs }) });
  const onCommitted = notices.tell.bind(notices);
  const writing = new WritingConnection({ session, runner, cache, onCommitted, ...options });
  const running: Running = { pool, look, runner, writing };
  const verbs = bindVerbs(driverVerbs(runner), (verb) => runOn(running, verb));
  return {
    ...verbs,
    queue: { ...verbs.queue, ...lookVerbs(new VerbRunner(look, options)) },
    notices,
    ping: () => ping(running),
    proveWritable: (at) => writing.write('mail', () => noteProof(runner, at)),
    async close() {
      // Nobody waits for a look any more.
      patientPool.abandon();
      await Promise.all([writing.close(), pool.close(), patientPool.close()]);
      await notices.close();
    },
  };
}

function runOn({ pool, look, runner, writing }: Running, verb: DeclaredVerb): Run {
  if (verb.kind === 'slices') return verb.work;
  const { name, kind, work } = verb;
  if (LOOKS.has(name)) return (...args) => look(() => work(...args));
  if (kind === 'read') return (...args) => pool.read(runner, () => work(...args));
  return (...args) => writing.write(kind, () => work(...args), besideOf(name, args), takesTurn(name));
}

async function ping({ pool, runner }: Running): Promise<boolean> {
  try {
    await pool.read(runner, () => runner.sql('SELECT count(*) FROM config_version').get());
    return true;
  } catch {
    return false;
  }
}

/** Its value needs a new page: without room on the disk a row of a few bytes can still be written, and mail can not. */
const PROOF_BYTES = 16 * 1024;

/** Always the same row: what matters is that a commit reaches the disk. */
function* noteProof(runner: VerbRunner, at: number): Steps<void> {
  const note = `INSERT INTO meta (name, value) VALUES ('last_proof_of_writing', +?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  yield* runner.sql(note).run(`${at} ${randomBytes(PROOF_BYTES).toString('base64')}`);
}
