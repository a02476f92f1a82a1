// Three daemons on one PostgreSQL under load, while they are killed, halted for longer than their leases, and cut off from
// the database. The seed names what happens to whom; SEED=… repeats it. What was answered 202 arrives, whoever reads the
// events on sees each once and in their order, and nothing arrives more often than it was tried.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SeededRandom } from '../../fuzz/seeded-random.ts';
import type { Json } from '../../support/daemon-process.ts';
import { type Nodes, startNodes, type TestNode } from '../../support/nodes.ts';
import { patience } from '../../support/patience.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { messageIdOf, registerSender, type Sender } from '../../support/world.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1e9);
const NAMES = ['a', 'b', 'c'] as const;
const CLIENTS = 4;
/** A daemon's leases last ten seconds, and another one takes them two later. */
const HALT_MS = 14_000;
const BETWEEN_MS = 1500;
/** A client gives up on an answer, and asks another daemon. */
const CALL_MS = 3000;

type Fault = 'kill' | 'halt' | 'disconnect' | 'stop';

t.test(`faults of nodes (SEED=${SEED})`, { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, NAMES);
  const { dns, sink, nodes } = world;
  const sender = await registerSender({ dns, postrider: nodes[0]!.postrider }, nodes[0]!.daemon);
  const random = new SeededRandom(SEED);
  const clients = Array.from(
    { length: CLIENTS },
    (_, at) => new Client(world, sender, `c${at}`, new SeededRandom(SEED + at)),
  );
  const reader = new FeedReader(world, sender, new SeededRandom(SEED - 1));
  const work = Promise.all([...clients.map((client) => client.work()), reader.work()]);
  const faults: Fault[] = ['kill', 'halt', 'disconnect', 'stop', 'kill', 'disconnect'];
  for (const fault of faults.sort(() => random.next() - 0.5)) {
    const node = random.pick(nodes);
    await suffer(world, node, fault);
    // A step, so that a slow machine is not taken for one that hangs.
    t.ok(node.daemon.running, `note: ${fault} of ${NAMES[nodes.indexOf(node)]}`);
    await sleep(BETWEEN_MS);
  }
  for (const client of clients) client.end();
  await until('all have their answers', () => clients.every((client) => client.hasEnded), 60_000);
  const promised = clients.flatMap((client) => client.promised);
  const arrivals = () => countOf(sink.mails.map(({ raw }) => messageIdOf(raw)));
  await until('all have arrived', () => promised.every((id) => arrivals().has(id)), 120_000);
  await until(
    'all have their end',
    async () => (await world.server.run(database(world), WAITING)).rows[0].count === '0',
    60_000,
  );
  await reader.finish();
  await work;

  t.ok(promised.length > 50, `note: SEED=${SEED}, ${promised.length} messages, ${sink.mails.length} arrivals`);
  t.equal(new Set(promised).size, promised.length, 'one answer for each');
  for (const client of clients) t.strictSame(client.oddAnswers, [], 'one submission for each idempotency key');
  await compareAttempts(t, world, arrivals());
  await compareFeed(t, world, sender, reader.seen);
});

async function suffer(world: Nodes, node: TestNode, fault: Fault): Promise<void> {
  switch (fault) {
    case 'kill':
      await node.daemon.kill();
      node.daemon = await node.postrider.serve();
      return;
    case 'stop':
      await node.daemon.stop();
      node.daemon = await node.postrider.serve();
      return;
    case 'halt':
      node.daemon.signal('SIGSTOP');
      await sleep(patience(HALT_MS));
      node.daemon.signal('SIGCONT');
      return;
    case 'disconnect':
      await world.server.run(database(world), DISCONNECT);
  }
}

/** Of all nodes: whatever is on its way is cut off. */
const DISCONNECT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'postrider-%' AND datname = current_database()`;
const WAITING = 'SELECT count(*) FROM postrider.messages WHERE finished_at IS NULL';

function database({ url }: Nodes): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Repeats each call with its key, at any daemon, until it is answered. */
class Client {
  readonly promised: string[] = [];
  readonly oddAnswers: string[] = [];
  hasEnded = false;
  #isOver = false;
  readonly #world: Nodes;
  readonly #sender: Sender;
  readonly #name: string;
  readonly #random: SeededRandom;

  constructor(world: Nodes, sender: Sender, name: string, random: SeededRandom) {
    this.#world = world;
    this.#sender = sender;
    this.#name = name;
    this.#random = random;
  }

  end(): void {
    this.#isOver = true;
  }

  async work(): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      await this.#order(`${this.#name}-${number}`);
      await sleep(this.#random.below(100));
    }
    this.hasEnded = true;
  }

  async #order(key: string): Promise<void> {
    const body = { from: `app@${this.#sender.domain}`, to: `${key}@receiver.test`, subject: key, text: key };
    for (;;) {
      const { daemon } = this.#random.pick(this.#world.nodes);
      const answer = await call(daemon.httpPort, this.#sender.key, { route: 'POST /emails', body, key });
      if (answer === null || answer.status >= 500 || answer.status === 429) {
        await sleep(50);
        continue;
      }
      const ids = (answer.body.message_ids ?? []) as string[];
      if (answer.status !== 202 || ids.length !== 1) this.oddAnswers.push(`${key}: ${JSON.stringify(answer)}`);
      this.promised.push(...ids);
      return;
    }
  }
}

/** Reads the events on at any daemon, as a tenant's program does. */
class FeedReader {
  readonly seen: string[] = [];
  #after: string | null = null;
  #isOver = false;
  readonly #world: Nodes;
  readonly #sender: Sender;
  readonly #random: SeededRandom;

  constructor(world: Nodes, sender: Sender, random: SeededRandom) {
    this.#world = world;
    this.#sender = sender;
    this.#random = random;
  }

  async work(): Promise<void> {
    while (!this.#isOver) {
      await this.#read();
      await sleep(20);
    }
  }

  /** Up to its end. */
  async finish(): Promise<void> {
    this.#isOver = true;
    while ((await this.#read()) !== 0);
  }

  /** How many there were; null: no answer. */
  async #read(): Promise<number | null> {
    const { daemon } = this.#random.pick(this.#world.nodes);
    const after = this.#after === null ? '' : `&after=${this.#after}`;
    const answer = await call(daemon.httpPort, this.#sender.key, { route: `GET /events?limit=100${after}` });
    if (answer?.status !== 200) return null;
    const events = answer.body.events as { id: string }[];
    this.seen.push(...events.map(({ id }) => id));
    this.#after = events.at(-1)?.id ?? this.#after;
    return events.length;
  }
}

interface Asked {
  route: string;
  body?: unknown;
  key?: string;
}

/** Null: no answer. */
async function call(
  port: number,
  apiKey: string,
  { route, body, key }: Asked,
): Promise<{ status: number; body: Json } | null> {
  const [method, target] = route.split(' ') as [string, string];
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  try {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method,
      headers: { ...headers, ...(key !== undefined && { 'Idempotency-Key': key }) },
      signal: AbortSignal.timeout(patience(CALL_MS)),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  } catch {
    return null;
  }
}

/** Each arrival was an attempt of its own. */
async function compareAttempts(t: Test, world: Nodes, arrivals: ReadonlyMap<string, number>): Promise<void> {
  const { rows } = await world.server.run(
    database(world),
    'SELECT encode(id, $$hex$$) AS id, state, attempts FROM postrider.messages',
  );
  const odd = (rows as { id: string; state: string; attempts: string }[]).filter(({ id, state, attempts }) => {
    const times = arrivals.get(uuidOf(id)) ?? 0;
    return state !== 'delivered' || times === 0 || times > Number(attempts);
  });
  t.strictSame(odd, [], 'each message has arrived, and no more often than it was tried');
}

async function compareFeed(t: Test, world: Nodes, { tenantId }: Sender, seen: readonly string[]): Promise<void> {
  const sql = `SELECT encode(id, $$hex$$) AS id, type, encode(message_id, $$hex$$) AS message FROM postrider.events
    WHERE tenant_id = decode('${tenantId.replaceAll('-', '')}', 'hex') ORDER BY seq`;
  const { rows } = await world.server.run(database(world), sql);
  const events = rows as { id: string; type: string; message: string }[];
  t.strictSame(
    seen,
    events.map(({ id }) => uuidOf(id)),
    'whoever reads on has seen all events, in their order',
  );
  const delivered = countOf(events.filter(({ type }) => type === 'email.delivered').map(({ message }) => message));
  t.strictSame(
    [...delivered].filter(([, times]) => times > 1),
    [],
    'one end for each',
  );
}

function countOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
