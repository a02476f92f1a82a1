// A primary and its synchronous standby, which change roles: the two seats keep their place in the daemons' list of hosts, and
// whoever is promoted gets a new standby in the seat of the dead. Nothing is committed that only one of them has.
import fs from 'node:fs';
import os from 'node:os';
import type pg from 'pg';
import { type BadDisk, prepareBadDisk } from '../../support/bad-disk.ts';
import type { Owner } from '../../support/daemon-process.ts';
import {
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
  startStandby,
} from '../../support/postgres-server.ts';
import { makeServerFolder } from '../../support/server-program.ts';
import { until } from '../../support/until.ts';

const STANDBY = 'second';
const FOLLOWS = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${STANDBY}' AND sync_state = 'sync'`;

/** Where a server is reached. */
export interface Seat {
  port: number;
}

export class Cluster {
  readonly seats: [Seat, Seat] = [{ port: 0 }, { port: 0 }];
  database = '';
  promotions = 0;
  readonly #owner: Owner;
  /** All of its servers lie on it. */
  readonly #disk: BadDisk;
  #primary!: PostgresServer;
  #standby!: PostgresServer;
  #seatOfPrimary: 0 | 1 = 0;

  private constructor(owner: Owner) {
    const folder = makeServerFolder('disk');
    owner.teardown(() => fs.rmSync(folder, { recursive: true }));
    this.#owner = owner;
    this.#disk = prepareBadDisk(os.tmpdir(), folder);
  }

  static async start(owner: Owner): Promise<Cluster> {
    const cluster = new Cluster(owner);
    cluster.#primary = await startPostgres(owner, cluster.#how);
    cluster.seats[0].port = cluster.#primary.port;
    cluster.database = await cluster.#primary.createDatabase();
    await cluster.#run('postgres', `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await cluster.#run('postgres', 'SELECT pg_reload_conf()');
    await cluster.#addStandby();
    return cluster;
  }

  /** Of the primary, without the network that daemons have. */
  get url(): string {
    return this.#primary.url(this.database);
  }

  async run(sql: string): Promise<pg.QueryResult> {
    return this.#run(this.database, sql);
  }

  /** The primary dies with all its processes, and the standby takes its place. */
  async promote(): Promise<void> {
    await this.#primary.die();
    this.#primary = this.#standby;
    this.#seatOfPrimary = this.#seatOfPrimary === 0 ? 1 : 0;
    await this.#run('postgres', 'SELECT pg_promote()');
    this.promotions++;
    await this.#addStandby();
  }

  /** While there is none, no commit is answered. */
  async replaceStandby(between: () => Promise<void>): Promise<void> {
    await this.#standby.die();
    await between();
    await this.#addStandby();
  }

  /** Whatever must be durable takes that long on each server. */
  async slowDisks(ms: number, during: () => Promise<void>): Promise<void> {
    this.#disk.delay(ms);
    const since = performance.now();
    await this.run(`SELECT pg_logical_emit_message(true, 'chaos', 'slow')`);
    const elapsedMs = performance.now() - since;
    if (elapsedMs < ms) throw new Error(`a commit on a slow disk took ${elapsedMs} ms`);
    await during();
    this.#disk.heal();
  }

  get #how(): Pick<PostgresOptions, 'env' | 'settings'> {
    return { env: this.#disk.env, settings: { fsync: 'on' } };
  }

  async #addStandby(): Promise<void> {
    this.#standby = await startStandby(this.#owner, this.#primary, STANDBY, this.#how);
    this.seats[this.#seatOfPrimary === 0 ? 1 : 0].port = this.#standby.port;
    await until('the standby follows', async () => (await this.#run('postgres', FOLLOWS)).rowCount === 1);
  }

  #run(database: string, sql: string): Promise<pg.QueryResult> {
    return this.#primary.run(database, sql);
  }
}
