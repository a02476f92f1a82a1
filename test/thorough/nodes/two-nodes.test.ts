// Two daemons on one PostgreSQL: what is made at one is there at the other, each sends the mail of its own slots, and one
// takes over when the other dies.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { type Nodes, startNodes, type TestNode } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { addReceiver, messageIdOf, registerSender, send, stateOf } from '../../support/world.ts';

const WHY = ['--reason', 'a test'];

interface Shown {
  node: string;
  state: string;
  slots: number[];
}

async function listNodes({ nodes }: Nodes, at: number): Promise<Shown[]> {
  return (await nodes[at]!.postrider.json('nodes', 'list')).nodes as Shown[];
}

t.test('two daemons on one PostgreSQL', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['a', 'b']);
  const { dns, sink, nodes } = world;
  const [a, b] = [nodes[0]!, nodes[1]!];
  const sender = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  const arrived = () => sink.mails.map(({ raw }) => messageIdOf(raw));

  await t.test('a key that was made at one sends at the other', async (t) => {
    const [id] = await send(b.daemon, sender, 'ann@receiver.test');
    await until('it arrives', () => arrived().includes(id!));
    await until('a knows that it was delivered', async () => (await stateOf(a.daemon, sender, id!)) === 'delivered');
    await b.daemon.logged({ message_id: id!, fact: 'delivered' });
    t.equal(a.daemon.find({ message_id: id!, fact: 'delivered' }).length, 0, 'who accepted it has sent it');
    const listed = await listNodes(world, 0);
    t.match(listed, [
      { node: 'a', state: 'alive' },
      { node: 'b', state: 'alive' },
    ]);
    t.same(
      listed.map(({ slots }) => slots.length),
      [8, 8],
    );
  });

  await t.test('one idempotency key is one submission, whoever is called', async (t) => {
    const body = { from: `app@${sender.domain}`, to: 'once@receiver.test', subject: 'Once', text: 'Once.' };
    const call = { body, headers: { 'Idempotency-Key': 'order-1' } };
    const answers = await Promise.all([a, b, a, b].map(({ daemon }) => daemon.call(sender.key, 'POST /emails', call)));
    t.same(new Set(answers.map(({ status }) => status)), new Set([202]), JSON.stringify(answers));
    t.equal(new Set(answers.map(({ body: { id } }) => id)).size, 1);
    const [id] = answers[0]!.body.message_ids as string[];
    await until('it arrives', () => arrived().includes(id!));
  });

  /** Mail that b has accepted and that a pause holds there. */
  async function heldAt(node: TestNode, to: string): Promise<string> {
    return until('the pause is known there', async () => {
      const [id] = await send(node.daemon, sender, to);
      const { waits_for: reasons } = await node.postrider.json('queue', 'show', id!);
      return JSON.stringify(reasons).includes('domain_paused') ? id : null;
    });
  }

  await t.test('a pause at one holds mail at the other, and its end lets that go at once', async (t) => {
    addReceiver(dns, 'paused.test');
    await a.postrider.json('queue', 'pause', '--domain', 'paused.test', ...WHY);
    const id = await heldAt(b, 'ann@paused.test');
    t.notOk(arrived().includes(id));
    await a.postrider.json('queue', 'resume', '--domain', 'paused.test', ...WHY);
    await until('it arrives', () => arrived().includes(id));
  });

  await t.test('when one is killed, the other sends what waited there', async (t) => {
    addReceiver(dns, 'held.test');
    await a.postrider.json('queue', 'pause', '--domain', 'held.test', ...WHY);
    const ids = [await heldAt(a, '1@held.test'), await heldAt(a, '2@held.test'), await heldAt(b, '3@held.test')];
    await a.daemon.kill();
    await b.postrider.json('queue', 'resume', '--domain', 'held.test', ...WHY);
    await until('all have arrived', () => ids.every((id) => arrived().includes(id)));
    t.equal(new Set(arrived()).size, arrived().length, 'none twice');
    t.match(await listNodes(world, 1), [
      { node: 'a', state: 'silent', slots: [] },
      { node: 'b', state: 'alive', slots: { length: 16 } },
    ]);
  });

  await t.test('when it comes back it gets its share again', async () => {
    a.daemon = await a.postrider.serve();
    const shares = async () => (await listNodes(world, 0)).map(({ slots }) => slots.length);
    await until('both have as much', async () => isDeepStrictEqual(await shares(), [8, 8]));
    const [id] = await send(a.daemon, sender, 'again@receiver.test');
    await until('it arrives', () => arrived().includes(id!));
  });

  await t.test('what is drained hands everything over, and its mail goes out at the other', async (t) => {
    await b.postrider.json('nodes', 'drain', 'a', ...WHY);
    await until('a has no slot', async () => (await listNodes(world, 0))[0]!.slots.length === 0);
    const [id] = await send(a.daemon, sender, 'drained@receiver.test');
    await until('it arrives', () => arrived().includes(id!));
    await b.daemon.logged({ message_id: id!, fact: 'delivered' });
    t.equal(a.daemon.find({ message_id: id!, fact: 'delivered' }).length, 0);
    await b.postrider.json('nodes', 'resume', 'a', ...WHY);
    await until('a has its share', async () => (await listNodes(world, 0))[0]!.slots.length === 8);
  });

  await t.test('a second daemon of the same name is refused', async (t) => {
    const third = world.install('a').spawn();
    t.match(await third.ended, { code: 1 });
    t.match(third.output, 'another daemon on the same database is called a as well: give each its own store.node');
    t.equal(a.daemon.running, true);
  });

  await t.test('who stops hands over at once', async (t) => {
    t.match(await a.daemon.stop(), { code: 0 });
    t.match(await listNodes(world, 1), [{ node: 'a', state: 'stopped', slots: [] }, { node: 'b' }]);
    await until('b has all', async () => (await listNodes(world, 1))[1]!.slots.length === 16);
  });
});
