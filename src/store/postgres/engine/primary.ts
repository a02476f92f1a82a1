// Which server of store.url is the one to work on. A primary that died can come back as it was, after another server was
// promoted: it accepts writes, and knows nothing of what its successor has. So all hosts are asked at the same time, and of
// those that accept writes the one that was promoted last is taken: its timeline is the newest.
import { performance } from 'node:perf_hooks';
import { SECOND_MS } from '../../../base/clock.ts';
import { Fault, Unavailable } from '../../../base/errors.ts';
import { systemWords } from '../../../base/text/system-words.ts';
import { type ConnectionTerms, connectTo, type PostgresConnection } from './connection.ts';
import { isAway, sentenceOf } from './database-fault.ts';
import { describeHost, type HostAddress, type ServerAddress } from './server-address.ts';
import { readServerNote, type ServerNote, writeServerNote } from './server-note.ts';

/** What the log says of the database. */
export type Tell = (text: string, isWarning: boolean) => void;

export interface PrimaryOptions {
  tell?: Tell | undefined;
  /** Notes which server it is, where the address says. */
  isNoted?: boolean;
}

/** Once one accepts writes. A host that has not answered by then is asked again, and not waited for, for a while. */
const OTHERS_MS = SECOND_MS;
const SILENT_FOR_MS = 30 * SECOND_MS;

type Answer = { host: HostAddress } & ({ connection: PostgresConnection } | { error: unknown });
type Accepted = Extract<Answer, { connection: PostgresConnection }>;

export class Primary {
  readonly #address: ServerAddress;
  readonly #tell: Tell;
  readonly #isNoted: boolean;
  /** The newest that was seen, by this process or before it. */
  #newest: ServerNote | null;
  /** Of the server that is used. */
  #usedTimeline = '';
  #host = '';
  #outdated: readonly string[] = [];
  readonly #silentUntil = new Map<HostAddress, number>();

  constructor(address: ServerAddress, { tell = () => {}, isNoted = false }: PrimaryOptions = {}) {
    this.#address = address;
    this.#tell = tell;
    this.#isNoted = isNoted;
    this.#newest = address.noteFile === null ? null : readServerNote(address.noteFile);
  }

  /** Where it was found last. */
  get host(): string {
    return this.#host;
  }

  /** Hosts that accepted writes then, although another server was promoted after them. */
  get outdated(): readonly string[] {
    return this.#outdated;
  }

  /** Whether a server was promoted since: what it has, the one behind this connection does not know. */
  isOutdated({ server: { system, timeline } }: PostgresConnection): boolean {
    return this.#newest !== null && system === this.#newest.system && timeline < this.#newest.timeline;
  }

  async connect(terms: ConnectionTerms): Promise<PostgresConnection> {
    const answers = await this.#askAll(terms);
    const accepted = answers.filter((answer): answer is Accepted => 'connection' in answer);
    const newest = this.#newestOf(accepted);
    for (const { connection } of accepted) if (connection !== newest?.connection) void connection.end();
    if (!newest || this.isOutdated(newest.connection)) {
      void newest?.connection.end();
      throw this.#noneOf(answers);
    }
    this.#note(newest, accepted);
    return newest.connection;
  }

  /** Timelines of different systems say nothing of each other. Of two names of one server, the first. */
  #newestOf(accepted: readonly Accepted[]): Accepted | undefined {
    const isOurs = ({ connection }: Accepted) => connection.server.system === this.#newest?.system;
    const ours = accepted.filter(isOurs);
    const candidates = ours.length > 0 ? ours : accepted;
    return candidates.toSorted((one, other) => compare(other.connection.timeline, one.connection.timeline))[0];
  }

  #askAll(terms: ConnectionTerms): Promise<Answer[]> {
    const { hosts } = this.#address;
    const answers = new Map<HostAddress, Answer>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const askedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const giveUp = () => {
      const until = performance.now() + SILENT_FOR_MS;
      for (const host of hosts) if (!answers.has(host)) this.#silentUntil.set(host, until);
      resolve();
    };
    const take = (answer: Answer) => {
      if (performance.now() - askedAt < OTHERS_MS) this.#silentUntil.delete(answer.host);
      if (isOver) return this.#learnFrom(answer);
      answers.set(answer.host, answer);
      const missing = hosts.filter((host) => !answers.has(host));
      const isFound = [...answers.values()].some((one) => 'connection' in one && !this.isOutdated(one.connection));
      if (missing.length === 0 || (isFound && missing.every((host) => this.#isSilent(host)))) resolve();
      else if (isFound) timer ??= setTimeout(giveUp, OTHERS_MS);
    };
    for (const host of hosts) {
      void connectTo(this.#address, host, terms).then(
        (connection) => take({ host, connection }),
        (error: unknown) => take({ host, error }),
      );
    }
    return promise.then(() => {
      isOver = true;
      clearTimeout(timer);
      return hosts.flatMap((host) => answers.get(host) ?? []);
    });
  }

  /** Too late for this connection; should it be the newest, the next ones go there, and those that are open are outdated. */
  #learnFrom(late: Answer): void {
    if (!('connection' in late)) return;
    const { server } = late.connection;
    if (server.system === this.#newest?.system && server.timeline > this.#newest.timeline) this.#newest = server;
    late.connection.destroy();
  }

  #isSilent(host: HostAddress): boolean {
    return performance.now() < (this.#silentUntil.get(host) ?? 0);
  }

  #note({ host, connection }: Accepted, accepted: readonly Accepted[]): void {
    const { database, hosts } = this.#address;
    const { timeline } = connection;
    const name = describeHost(host);
    const isPromoted = this.#usedTimeline !== '' && timeline > this.#usedTimeline;
    this.#newest = connection.server;
    this.#usedTimeline = timeline;
    const outdated = accepted.filter((one) => this.isOutdated(one.connection)).map((one) => describeHost(one.host));
    if (hosts.length > 1 && name !== this.#host) {
      const how = isPromoted ? ', which was promoted' : '';
      this.#tell(`the database ${database} is used at ${name}${how}`, false);
    }
    for (const one of outdated.filter((known) => !this.#outdated.includes(known)))
      this.#tell(warningOf(one, name), true);
    this.#host = name;
    this.#outdated = outdated;
    this.#keepNote(connection.server);
  }

  #keepNote(server: ServerNote): void {
    const { noteFile } = this.#address;
    // Without knowing which one it is, a new server could not be told from an old one.
    if (noteFile === null || !this.#isNoted || server.system === '') return;
    const known = readServerNote(noteFile);
    if (known?.system === server.system && known.timeline === server.timeline) return;
    try {
      writeServerNote(noteFile, server);
    } catch (error) {
      this.#tell(`which server is used could not be noted in ${noteFile}: ${systemWords(error)}`, true);
    }
  }

  #noneOf(answers: readonly Answer[]): Fault {
    const { database, noteFile } = this.#address;
    const ifLost =
      noteFile === null ? '' : `. If that one is lost for good, stop all daemons, remove ${noteFile} of each`;
    const old = `it was the primary before another one was promoted, which must be started${ifLost}`;
    const problems = answers.map((answer) => {
      const problem = 'error' in answer ? sentenceOf(answer.error) : old;
      return `${database} at ${describeHost(answer.host)}: ${problem}`;
    });
    const errors = answers.flatMap((answer) => ('error' in answer ? [answer.error] : []));
    const permanent = errors.some((error) => error instanceof Fault && error.permanence === 'permanent');
    const why = {
      detail: problems.join('; '),
      permanence: permanent ? 'permanent' : 'temporary',
      cause: errors[0],
    } as const;
    const message = 'the database could not be used';
    return errors.every(isAway) ? new Unavailable(message, why) : new Fault(message, why);
  }
}

/** For what needs one connection, once. */
export function connect(address: ServerAddress, terms: ConnectionTerms): Promise<PostgresConnection> {
  return new Primary(address).connect(terms);
}

function warningOf(outdated: string, primary: string): string {
  return (
    `${outdated} accepts writes, too, and knows nothing of what ${primary} has: it was the primary before that one was ` +
    'promoted. Stop it, and build it anew as a standby (docs/operate.md)'
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
