// One of the machines of a run: a daemon with its own way to both servers of the database, its own door and its own address.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Daemon, type Installation, install, type Owner, type Settings } from '../../support/daemon-process.ts';
import type { TestDnsServer } from '../../support/dns-server.ts';
import { type DoorAddress, findDoorAddress } from '../../support/door-client.ts';
import { prepareSteppingClock, type SteppingClock } from '../../support/stepping-clock.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import type { Ordering } from '../scene.ts';
import type { Cluster } from './cluster.ts';

export interface Machine {
  name: string;
  postrider: Installation;
  /** The one that was started last. */
  daemon: Daemon;
  door: DoorAddress;
  toDatabase: readonly TcpProxy[];
  clock: SteppingClock;
  /** Where its mail comes from. */
  address: string;
  /** It does not answer, and nobody should wait for it. */
  isHalted: boolean;
}

export interface MachineKit {
  cluster: Cluster;
  dns: TestDnsServer;
  smtpPort: number;
  settings: Settings;
}

export async function startMachine(
  owner: Owner,
  { cluster, dns, smtpPort, settings }: MachineKit,
  number: number,
): Promise<Machine> {
  const name = `node${number}`;
  const address = `127.0.0.${20 + number}`;
  const toDatabase = await Promise.all(cluster.seats.map((seat) => startTcpProxy(owner, seat)));
  const hosts = toDatabase.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const { submission } = await findDoorAddress();
  const own: Settings = {
    ...{ ...settings, submission },
    store: { url: `postgres://owner@${hosts}/${cluster.database}`, node: name },
    delivery: { ...settings.delivery, source_addresses: [`${address} ${name}.postrider.test warm`] },
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-clock-'));
  owner.teardown(() => fs.rmSync(folder, { recursive: true }));
  const clock = prepareSteppingClock(folder);
  const postrider = install(owner, { dns, smtpPort, launch: { env: clock.env }, settings: own });
  const daemon = await postrider.serve();
  return { name, postrider, daemon, door: submission, toDatabase, clock, address, isHalted: false };
}

const LOOK_EVERY_MS = 20;

/** Whoever calls takes any machine that lives. */
export class Machines implements Ordering {
  readonly all: readonly Machine[];
  readonly #random: () => number;
  #isOver = false;

  constructor(all: readonly Machine[], random: () => number) {
    this.all = all;
    this.#random = random;
  }

  end(): void {
    this.#isOver = true;
  }

  async mayOrder(): Promise<boolean> {
    return !this.#isOver;
  }

  async running(): Promise<Daemon> {
    for (;;) {
      const { daemon, isHalted } = this.all[Math.floor(this.#random() * this.all.length)]!;
      if (!isHalted && daemon.running && daemon.httpPort !== 0) return daemon;
      await pause(LOOK_EVERY_MS);
    }
  }

  doorOf(daemon: Daemon): DoorAddress {
    return this.all.find((machine) => machine.daemon === daemon)?.door ?? this.all[0]!.door;
  }
}
