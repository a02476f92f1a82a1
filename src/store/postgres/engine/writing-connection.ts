// The one connection of a node that writes. Verbs that wait when the one before has ended are a group: they run in one
// transaction, committed at once, and none is answered before that commit. The verbs of mail run side by side in it, the
// others one after the other. A verb of the kind `write` changes what is cached, and is a transaction alone, in its place
// in the queue.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../../../base/errors.ts';
import { GroupSums } from '../../sql/group-sums.ts';
import type { Steps } from '../../sql/steps.ts';
import type { GroupStats, WritingKind } from '../../verb-kinds.ts';
import { type CacheView, type ConfigCache, NO_CACHE } from './config-cache.ts';
import {
  isConflict,
  isConnectionLost,
  isDuplicate,
  isOutage,
  isOutdatedPlan,
  outageFault,
  storeFault,
} from './database-fault.ts';
import type { Session } from './session.ts';
import { type Beside, inRounds } from './side-by-side.ts';
import { newScope, type Scope, type VerbRunner } from './verb-runner.ts';
import { WriteTransaction } from './write-transaction.ts';

export interface WritingOptions {
  onGroup?(stats: GroupStats): void;
  /** A group could not be committed, and none of its verbs on its own either, for a reason of the server or the way to it. */
  onFailedCommit?(error: unknown): void;
  /** Only that of tests is not by chance. */
  random?(): number;
}

interface WritingParts extends WritingOptions {
  session: Session;
  runner: VerbRunner;
  cache: ConfigCache;
  onCommitted(facts: { webhooksDue: ReadonlySet<string>; configChanged: boolean }): void;
}

interface Verb {
  work: () => Steps<unknown>;
  kind: WritingKind;
  /** Null: it runs alone. */
  beside: Beside | null;
  takesTurn: boolean;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

interface Failure {
  error: unknown;
  /** Whose statement or code failed; undefined: it was the transaction, or a statement of many verbs. */
  verb?: Verb;
}

type Sent = NonNullable<GroupStats['sent']>;

type Outcome = { answers: ReadonlyMap<Verb, unknown>; sent: Sent } | Failure;

/** How verbs are run. */
interface Way {
  sideBySide: boolean;
  /** In turn with the groups of mail of all nodes. */
  inTurn: boolean;
}

interface Tried {
  committed: number;
  /** Who has no answer yet. */
  left: Verb[];
  error: unknown;
  sent: Sent;
}

const NOTHING_SENT: Sent = { statements: 0, roundTrips: 0, tries: 0 };

const GROUP_MAX_VERBS = 1000;
/** With conflicts, lost connections, or a verb less. */
const GROUP_TRIES = 4;
const VERB_TRIES = 12;
const RETRY_FIRST_MS = 4;
const RETRY_LONGEST_MS = 250;

/** Of BEGIN with the number and the version, and of COMMIT. */
const ROUND_TRIPS_AROUND = 2;

/**
 * A group that fails is rolled back. Conflicts with other nodes and lost connections try it again as a whole; a verb that
 * itself fails leaves it. What was in the way of others once takes turns with them from then on: beside nodes with much to
 * do, a long verb would lose each time. If nobody can tell which one it was, they run one after the other, which tells. What does not get
 * anywhere that way runs verb by verb, each with tries of its own.
 */
export class WritingConnection {
  readonly #parts: WritingParts;
  readonly #random: () => number;
  #waiting: Verb[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(parts: WritingParts) {
    this.#parts = parts;
    this.#random = parts.random ?? Math.random;
  }

  write<T>(kind: WritingKind, work: () => Steps<T>, beside: Beside | null = null, takesTurn = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(new Fault('the store is closed'));
      this.#waiting.push({ work, kind, beside, takesTurn, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Rejects new verbs, commits those that wait, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#parts.session.close();
  }

  async #runAll(): Promise<void> {
    // What comes in the same turn of the event loop belongs together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#runGroup(this.#takeGroup());
    this.#running = null;
  }

  #takeGroup(): Verb[] {
    const max = Math.min(this.#waiting.length, GROUP_MAX_VERBS);
    let size = 0;
    while (size < max && this.#waiting[size]!.kind !== 'write') size++;
    return this.#waiting.splice(0, Math.max(1, size));
  }

  async #runGroup(group: Verb[]): Promise<void> {
    const started = performance.now();
    const tried = await this.#tryTogether(group);
    let { committed, sent, error } = tried;
    for (const [at, verb] of tried.left.entries()) {
      const alone = await this.#runAlone(verb);
      if ('error' in alone) {
        error = alone.error;
        if (!isHopeless(alone)) continue;
        // They have not begun, whatever became of this one.
        for (const behind of tried.left.slice(at + 1)) behind.reject(outageFault(error));
        break;
      }
      committed++;
      sent = added(sent, alone);
    }
    const elapsedMs = performance.now() - started;
    if (committed > 0) this.#parts.onGroup?.({ verbs: group.length, elapsedMs, sent });
    else if (isOutage(error)) this.#parts.onFailedCommit?.(storeFault(error));
  }

  async #tryTogether(group: Verb[]): Promise<Tried> {
    const failed: Verb[] = [];
    let verbs = group;
    let [sideBySide, inTurn] = [true, false];
    let error: unknown = null;
    for (let tries = 1; verbs.length > 1 && tries <= GROUP_TRIES; tries++) {
      const outcome = await this.#attempt(verbs, { sideBySide, inTurn });
      if ('answers' in outcome) {
        return { committed: verbs.length, left: failed, error, sent: { ...outcome.sent, tries } };
      }
      error = outcome.error;
      if (isHopeless(outcome)) {
        for (const verb of group) verb.reject(storeFault(error));
        return { committed: 0, left: [], error, sent: NOTHING_SENT };
      }
      inTurn ||= isConflict(error);
      if (isConflict(error) || isConnectionLost(error)) await this.#waitBefore(tries);
      else if (outcome.verb) {
        failed.push(outcome.verb);
        verbs = verbs.filter((verb) => verb !== outcome.verb);
        sideBySide = true;
      } else if (sideBySide) sideBySide = false;
      else break;
    }
    return { committed: 0, left: group, error, sent: NOTHING_SENT };
  }

  async #runAlone(verb: Verb): Promise<Sent | Failure> {
    let inTurn = false;
    for (let tries = 1; ; tries++) {
      const outcome = await this.#attempt([verb], { sideBySide: false, inTurn });
      if ('answers' in outcome) return { ...outcome.sent, tries };
      const { error } = outcome;
      if (!isWorthRetrying(error) || tries === VERB_TRIES) {
        verb.reject(storeFault(error));
        return outcome;
      }
      inTurn ||= isConflict(error);
      await this.#waitBefore(tries);
    }
  }

  /** Runs and commits them, and answers them when that succeeded. */
  async #attempt(verbs: Verb[], { sideBySide, inTurn }: Way): Promise<Outcome> {
    const { session } = this.#parts;
    let transaction: WriteTransaction;
    try {
      transaction = await this.#begin(inTurn || verbs.some(({ takesTurn }) => takesTurn));
    } catch (error) {
      if (error instanceof Fault) this.#rejectWaiting(error);
      return { error };
    }
    const outcome = await this.#runIn(transaction, sideBySide ? inRounds(verbs) : verbs.map((verb) => [verb]));
    if ('answers' in outcome) {
      for (const verb of verbs) verb.resolve(outcome.answers.get(verb));
      return outcome;
    }
    if (isOutdatedPlan(outcome.error)) session.drop();
    else transaction.rollBack();
    return outcome;
  }

  /** Whose turn does not come would not get any further alone, and nobody behind it either. */
  async #begin(takesTurn: boolean): Promise<WriteTransaction> {
    const { session, cache } = this.#parts;
    try {
      return await WriteTransaction.begin(session, cache, takesTurn ? 'in turn' : 'without a turn');
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    try {
      return await WriteTransaction.begin(session, cache, 'in turn, patiently');
    } catch (error) {
      throw isConflict(error) ? outageFault(error) : error;
    }
  }

  async #runIn(transaction: WriteTransaction, rounds: Verb[][]): Promise<Outcome> {
    const { runner, cache, onCommitted } = this.#parts;
    const changesConfig = rounds[0]![0]!.kind === 'write';
    const group = changesConfig ? null : cache.groupView(transaction.version);
    const view: CacheView = group ?? NO_CACHE;
    const sums = new GroupSums();
    const scope = newScope({ send: transaction.send.bind(transaction), cache: view, sums });
    const answers = new Map<Verb, unknown>();
    for (const round of rounds) {
      const failure = await this.#runRound(round, scope, answers);
      if (failure) return failure;
    }
    try {
      await runner.run(() => sums.write(runner), scope);
      const raisedAt = performance.now();
      const version = changesConfig ? await transaction.raiseVersion() : null;
      await transaction.commit();
      if (version !== null) cache.see(version, raisedAt);
    } catch (error) {
      return { error };
    }
    group?.committed();
    onCommitted({ webhooksDue: scope.webhooksDue, configChanged: changesConfig });
    return {
      answers,
      sent: { statements: transaction.statements, roundTrips: scope.waves + ROUND_TRIPS_AROUND, tries: 1 },
    };
  }

  async #runRound(round: Verb[], scope: Scope, answers: Map<Verb, unknown>): Promise<Failure | null> {
    const works = round.map(({ work }) => work);
    const outcome = await this.#parts.runner.runTogether(works, scope);
    if ('error' in outcome) {
      const { error, verb } = outcome;
      return verb === null ? { error } : { error, verb: round[verb]! };
    }
    for (const [at, verb] of round.entries()) answers.set(verb, outcome.answers[at]);
    return null;
  }

  /** No server to work with was found, or no turn came: whoever waited meanwhile would only wait again, one after the other. */
  #rejectWaiting(fault: Fault): void {
    for (const verb of this.#waiting.splice(0)) verb.reject(storeFault(fault));
  }

  /** Longer with each try, and by chance: two nodes in each other's way must not meet again. */
  async #waitBefore(tries: number): Promise<void> {
    const longest = Math.min(RETRY_FIRST_MS * 2 ** tries, RETRY_LONGEST_MS);
    await pause(longest * this.#random());
  }
}

function added(one: Sent, other: Sent): Sent {
  return {
    statements: one.statements + other.statements,
    roundTrips: one.roundTrips + other.roundTrips,
    tries: one.tries + other.tries,
  };
}

function isWorthRetrying(error: unknown): boolean {
  return isConflict(error) || isDuplicate(error) || isConnectionLost(error) || isOutdatedPlan(error);
}

/** No server was found, or nobody knows what became of a COMMIT. A verb's own fault is no reason to give up the others. */
function isHopeless({ error, verb }: { error: unknown; verb?: Verb }): boolean {
  return error instanceof Fault && verb === undefined;
}
