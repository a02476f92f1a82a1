// Reads a tenant's events on, at any machine, as its program does.
import { setTimeout as pause } from 'node:timers/promises';
import type { Sender } from '../../support/world.ts';
import { answerIn } from '../clients.ts';
import type { Living } from '../scene.ts';

const LOOK_EVERY_MS = 100;
const PAGE = 500;

export class FeedReader {
  readonly seen: string[] = [];
  readonly #machines: Living;
  readonly #sender: Sender;
  #isOver = false;

  constructor(machines: Living, sender: Sender) {
    this.#machines = machines;
    this.#sender = sender;
  }

  async work(): Promise<void> {
    while (!this.#isOver) if ((await this.#read()) !== PAGE) await pause(LOOK_EVERY_MS);
  }

  /** Up to its end. */
  async finish(): Promise<void> {
    this.#isOver = true;
    while ((await this.#read()) !== 0);
  }

  /** How many there were; null: no answer. */
  async #read(): Promise<number | null> {
    const last = this.seen.at(-1);
    const daemon = await this.#machines.running();
    const route = `GET /events?limit=${PAGE}${last === undefined ? '' : `&after=${last}`}`;
    const answer = await answerIn(daemon.call(this.#sender.key, route));
    if (answer?.status !== 200) return null;
    const events = answer.body.events as { id: string }[];
    for (const { id } of events) this.seen.push(id);
    return events.length;
  }
}
