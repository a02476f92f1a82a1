// Messages that no server can be called for, from the look-up to the record: reads since when each of them
// has had no route, asks for a second look where one is due, and records what was decided (no-route.ts).
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { SecondLooks } from '../../protocol/dns/second-look.ts';
import type { ClaimedMessage, QueueStore } from '../../store/queue.ts';
import { NO_ROUTE } from '../../store/reputation.ts';
import type { EndWatch } from '../outcome/doubted-bounce.ts';
import type { Recorder } from '../outcome/recorder.ts';
import { dueLook, isLostInDns, judgeNoRoute, type NoRouteRules, type Unrouted, unroutedSince } from './no-route.ts';

export interface UnroutedMailKit {
  store: Pick<QueueStore, 'getMessage'>;
  recorder: Pick<Recorder, 'record'>;
  secondLooks: SecondLooks;
  rules: NoRouteRules;
  /** Counts what has no route, and knows whether that is held. */
  endWatch?: Pick<EndWatch, 'unrouted' | 'doubtOf'>;
  clock: Clock;
  log: Logger;
  /** They were not judged after all. */
  giveBack(messageIds: string[]): Promise<void>;
}

export class UnroutedMail {
  readonly #kit: UnroutedMailKit;
  readonly #ending = new AbortController();

  constructor(kit: UnroutedMailKit) {
    this.#kit = kit;
  }

  /** Ends second looks that are under way: their messages are given back. */
  stop(): void {
    this.#ending.abort();
  }

  async judge(domain: string, route: Unrouted, messages: readonly ClaimedMessage[]): Promise<void> {
    const { clock, rules, recorder, secondLooks, giveBack, endWatch } = this.#kit;
    const startedAt = clock.now();
    const asked = await Promise.all(
      messages.map(async (message) => ({
        message,
        facts: { domain, route, since: await this.#since(message), rules },
      })),
    );
    for (const { facts } of asked) if (isLostInDns(route) && facts.since.lost === null) endWatch?.unrouted();
    // Asked when this mail has been counted: what sets the brake off is held itself.
    const held = endWatch?.doubtOf(NO_ROUTE) ?? null;
    const lookOf = ({ facts }: (typeof asked)[number]) => dueLook({ ...facts, held }, startedAt);
    const isDue = (each: (typeof asked)[number]) => lookOf(each) !== null;
    // One route, so one subject for all of them.
    const subject = asked.map(lookOf).find((due) => due !== null);
    const secondLook = subject ? await secondLooks.look(domain, subject, this.#ending.signal) : null;
    const lost = secondLook === null ? asked.filter(isDue) : [];
    if (lost.length > 0) await giveBack(lost.map(({ message }) => message.id));
    await Promise.all(
      asked
        .filter((each) => !lost.includes(each))
        .map((each) => {
          const facts = { ...each.facts, held, secondLook: isDue(each) ? secondLook : null };
          const judgement = judgeNoRoute(facts, startedAt);
          return recorder.record({ message: each.message, startedAt, judgement, mxGroup: null });
        }),
    );
  }

  /** What cannot be read counts as the first look: it waits longer, and nothing final follows. */
  async #since({ id, attempt }: ClaimedMessage) {
    if (attempt === 1) return unroutedSince([]);
    try {
      return unroutedSince((await this.#kit.store.getMessage(id))?.attemptList ?? []);
    } catch (error) {
      const facts = { error, message_id: id };
      this.#kit.log.error(facts, `earlier attempts could not be read: ${describeError(error)}`);
      return unroutedSince([]);
    }
  }
}
