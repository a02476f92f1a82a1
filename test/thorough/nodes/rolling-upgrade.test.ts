// Daemons on one PostgreSQL get a newer version, one after the other, under load. The newer version has a migration, made
// here, that adds to tables whose statements the older daemons have prepared. Clients see nothing that the retries of our
// library don't hide, each message that was answered 202 arrives, and the events are complete.
import path from 'node:path';
import t, { type Test } from 'tap';
import { connect } from '../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../src/store/postgres/engine/server-address.ts';
import { startBalancer } from '../../support/balancer.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { type Nodes, startNodes, type TestNode } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { copyProgram } from '../../support/program-copy.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { startEndpoint, type TestEndpoint } from '../../support/webhook-endpoint.ts';
import { messageIdOf, registerSender } from '../../support/world.ts';
import { TenantProgram, watchRetries } from './tenant-program.ts';

const [OLD, NEW] = ['1.0.0', '1.1.0'];
const SETTINGS = {
  webhooks: { allow_private: ['127.0.0.0/8'] },
  doctor: { time_sources: [], blocklists: [], mail_domains: ['receiver.test'], known_domains: ['receiver.test'] },
};
/** All that a migration may do. Of these tables the daemons select all columns, so what they have prepared is outdated. */
const MIGRATION = `
CREATE TABLE upgrade_notes (id bigint PRIMARY KEY, note text NOT NULL);
CREATE INDEX upgrade_notes_note ON upgrade_notes (note);
ALTER TABLE nodes ADD COLUMN region text;
ALTER TABLE tenants ADD COLUMN region text NOT NULL DEFAULT 'eu';
ALTER TABLE api_keys ADD COLUMN region text;
ALTER TABLE webhooks ADD COLUMN region text NOT NULL DEFAULT 'eu';
ALTER TABLE events ADD COLUMN region bigint NOT NULL DEFAULT 7;
ALTER TABLE messages ADD COLUMN region bigint NOT NULL DEFAULT 7;
`;
const NEWEST = 9001;
const IS_NEWER = `the database has the newer schema ${NEWEST} (of Postrider ${NEW}), and this version works on it: upgrade this daemon, too`;
const WHY = ['--reason', 'an upgrade'];

interface Upgrade extends Nodes {
  newRoot: string;
  endpoint: TestEndpoint;
  program: TenantProgram;
  retries: ReadonlyMap<string, number>;
}

t.test('two daemons, one after the other', { skip: postgresMissing() }, async (t) => {
  const world = await startOldNodes(t, ['a', 'b']);
  const [a, b] = [world.nodes[0]!, world.nodes[1]!];

  await t.test('the first one is drained before', async (t) => {
    await b.postrider.json('nodes', 'drain', 'a', ...WHY);
    await until('a has no slot', async () => (await listNodes(b))[0]!.slots.length === 0, 60_000);
    await replace(a, world.newRoot);
    t.match(a.daemon.output, `the database was migrated to schema ${NEWEST}`);
    await b.postrider.json('nodes', 'resume', 'a', ...WHY);
    await until('a has its share', async () => (await listNodes(b))[0]!.slots.length === 8);
  });

  await t.test('both versions are seen, and go on side by side', async (t) => {
    t.match(await listNodes(b), [
      { node: 'a', version: NEW, state: 'alive' },
      { node: 'b', version: OLD, state: 'alive' },
    ]);
    const { stdout } = await b.postrider.run('doctor', '--json');
    const found = JSON.parse(stdout).findings as { check: string }[];
    t.match(
      found.find(({ check }) => check === 'versions'),
      { subject: `a ${NEW}, b ${OLD}`, health: 'warn', message: /upgrade the others/ },
    );
    await allSend(world, a, b);
  });

  await t.test('the other one is only stopped', async (t) => {
    const takenBefore = takeovers(a.daemon).length;
    await replace(b, world.newRoot, async (stopped) => {
      await until('a has all slots', () => takeovers(a.daemon).length > takenBefore);
      const after = takeovers(a.daemon)[takenBefore]! - timeOf(stopped.lines.at(-1)!);
      t.ok(stopped.running === false, `note: taken over ${after} ms after the end of the other`);
    });
    await until('b has its share', async () => (await listNodes(a))[1]!.slots.length === 8);
    t.match(await listNodes(a), [{ version: NEW }, { version: NEW }]);
    await allSend(world, a, b);
  });

  await t.test('nothing was lost, and nothing is twice', async (t) => {
    await finish(t, world);
    const arrived = world.sink.mails.map(({ raw }) => messageIdOf(raw)).sort();
    t.strictSame(arrived, world.program.sent.map(({ messageId }) => messageId).sort(), 'each 202 has arrived once');
  });
});

t.test('an old one is killed while the new one migrates', { skip: postgresMissing() }, async (t) => {
  const world = await startOldNodes(t, ['a', 'b', 'c']);
  const [a, b, c] = [world.nodes[0]!, world.nodes[1]!, world.nodes[2]!];
  const dump = await connect(parseServerAddress(world.url), { applicationName: 'a dump', patient: true });
  t.teardown(() => dump.end());

  await t.test('while a dump is in the way of the migration, mail flows', async (t) => {
    await dump.sendText('BEGIN; LOCK TABLE postrider.messages IN ACCESS SHARE MODE');
    await a.daemon.stop();
    a.postrider.upgrade(world.newRoot);
    a.daemon = a.postrider.spawn();
    const waits = () => a.daemon.lines.some(({ msg }) => msg.startsWith('other transactions use the tables'));
    await a.daemon.until(waits, 'wait for the dump');
    await allSend(world, b, c);
    t.equal(a.daemon.find({ msg: 'ready' }).length, 0);
  });

  await t.test('the one that was killed starts again beside the newer schema', async (t) => {
    await b.daemon.kill();
    await dump.sendText('COMMIT');
    await a.daemon.ready;
    b.daemon = await b.postrider.serve();
    t.match(b.daemon.find({ msg: IS_NEWER }), [{ level: 'warn' }]);
    t.match(await listNodes(c), [{ version: NEW }, { version: OLD }, { version: OLD }]);
    await until('all have slots', async () => (await listNodes(c)).every(({ slots }) => slots.length === 8), 30_000);
    await allSend(world, a, b, c);
  });

  await t.test('nothing was lost', async (t) => {
    await finish(t, world);
    const odd = await world.server.run(
      databaseOf(world),
      `SELECT encode(id, 'hex') AS id, attempts FROM postrider.messages`,
    );
    const arrivals = Map.groupBy(world.sink.mails, ({ raw }) => messageIdOf(raw).replaceAll('-', ''));
    const times = (id: string) => arrivals.get(id)?.length ?? 0;
    const wrong = (odd.rows as { id: string; attempts: string }[]).filter(({ id, attempts }) => {
      return times(id) === 0 || times(id) > Number(attempts);
    });
    t.strictSame(wrong, [], 'each 202 has arrived, and no more often than it was tried');
  });
});

async function startOldNodes(t: Test, names: [string, ...string[]]): Promise<Upgrade> {
  const folder = testFolder(t);
  const oldRoot = copyProgram(path.join(folder, 'old'), { version: OLD });
  const newRoot = copyProgram(path.join(folder, 'new'), {
    version: NEW,
    migrations: { [`${NEWEST}-upgrade.sql`]: MIGRATION },
  });
  const world = await startNodes(t, names, SETTINGS, { launch: { root: oldRoot } });
  const { dns, nodes } = world;
  const { postrider, daemon } = nodes[0]!;
  const sender = await registerSender({ dns, postrider }, daemon);
  const endpoint = await startEndpoint(t);
  const scopes = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  await daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
  const balancer = await startBalancer(t, () => nodes.map(({ daemon: { httpPort } }) => httpPort));
  const retries = watchRetries(t);
  const program = new TenantProgram(sender, balancer.url);
  program.start();
  t.teardown(() => program.end());
  await until('mail flows', () => program.sent.length > 20);
  return Object.assign(world, { newRoot, endpoint, program, retries });
}

/** As systemd does it. */
async function replace(node: TestNode, root: string, between = async (_stopped: Daemon) => {}): Promise<void> {
  await node.daemon.stop();
  await between(node.daemon);
  node.postrider.upgrade(root);
  node.daemon = await node.postrider.serve();
}

/** When it took slots. */
function takeovers(daemon: Daemon): number[] {
  return daemon.find({ msg: 'slots taken' }).map(timeOf);
}

function timeOf({ time }: Record<string, unknown>): number {
  return Date.parse(String(time));
}

interface Shown {
  node: string;
  state: string;
  version: string;
  slots: number[];
}

async function listNodes({ postrider }: TestNode): Promise<Shown[]> {
  return (await postrider.json('nodes', 'list')).nodes as Shown[];
}

/** From now on as well. */
async function allSend({ program }: Upgrade, ...nodes: TestNode[]): Promise<void> {
  const delivered = () => nodes.map(({ daemon }) => daemon.find({ fact: 'delivered' }).length);
  const [sentBefore, before] = [program.sent.length, delivered()];
  await until('mail flows', () => program.sent.length > sentBefore + 20);
  await until('each sends', () => delivered().every((count, at) => count > before[at]!));
}

/** What holds whatever happened. */
async function finish(t: Test, world: Upgrade): Promise<void> {
  const { program, sink, endpoint, server, retries } = world;
  await program.end();
  t.strictSame(program.failures, [], `note: ${program.sent.length} messages; retries: ${JSON.stringify([...retries])}`);
  await until(
    'all have arrived',
    () => {
      const arrived = new Set(sink.mails.map(({ raw }) => messageIdOf(raw)));
      return program.sent.every(({ messageId }) => arrived.has(messageId));
    },
    60_000,
  );
  const rows = async (sql: string) => (await server.run(databaseOf(world), sql)).rows as { id: string }[];
  await until('all have their end', async () => (await rows(UNFINISHED)).length === 0, 60_000);
  await program.readRest();
  const events = (await rows(EVENTS)).map(({ id }) => id);
  t.strictSame(program.events, events, 'who reads on has seen all events, in their order');
  const told = () => [...new Set(endpoint.received.map(({ id }) => id))];
  await until('all are told', () => told().length >= events.length, 60_000);
  t.strictSame(told().sort(), events.toSorted(), 'and so has the webhook');
}

function databaseOf({ url }: Nodes): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

const UNFINISHED = 'SELECT id FROM postrider.messages WHERE finished_at IS NULL';
const EVENTS = `SELECT regexp_replace(encode(id, 'hex'), '^(.{8})(.{4})(.{4})(.{4})', '\\1-\\2-\\3-\\4-') AS id
  FROM postrider.events ORDER BY seq`;
