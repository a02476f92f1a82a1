// What the parts of a chaos run share: the daemon that lives now, and how many orders clients may still make.
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Daemon } from '../support/daemon-process.ts';

/** Where the daemon is that can be called. */
export interface Living {
  running(): Promise<Daemon>;
}

export interface Ordering extends Living {
  /** Settles with false when the run is over. */
  mayOrder(): Promise<boolean>;
}

export class Scene implements Ordering {
  daemon: Daemon;
  /** Orders that clients may make before the next kill: without it a slow kill would grow the database most. */
  #credit = 0;
  #over = false;
  #abandoned = false;
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(daemon: Daemon) {
    this.daemon = daemon;
  }

  replace(daemon: Daemon): void {
    this.daemon = daemon;
  }

  allowOrders(orders: number): void {
    this.#credit = orders;
    this.#changes.emit('change');
  }

  /** Clients finish what they have begun. */
  end(): void {
    this.#over = true;
    this.#changes.emit('change');
  }

  /** There will be no further daemon: whoever waits for one gets an error. */
  abandon(): void {
    this.#abandoned = true;
    this.end();
  }

  async mayOrder(): Promise<boolean> {
    while (!this.#over && this.#credit === 0) await once(this.#changes, 'change');
    if (this.#over) return false;
    this.#credit--;
    return true;
  }

  /** A daemon that has said that it is ready, and perhaps has been killed since. */
  async running(): Promise<Daemon> {
    for (;;) {
      const { daemon } = this;
      const isReady = await daemon.ready.then(
        () => true,
        () => false,
      );
      if (isReady && daemon.running) return daemon;
      await daemon.ended;
      // The next one is put in place by whoever killed this one.
      while (this.daemon === daemon) {
        if (this.#abandoned) throw new Error('the run was given up');
        await pause(5);
      }
    }
  }
}
