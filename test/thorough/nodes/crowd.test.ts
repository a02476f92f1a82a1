// One tenant's crowd waits at every daemon; another one's message does not wait behind it, wherever it was accepted. How long
// it waited is told in mails of the crowd that arrived before it, so a slow machine changes nothing.
import t from 'tap';
import { startNodes, type TestNode } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { addReceiver, messageIdOf, registerSender, type Sender, send } from '../../support/world.ts';

const WHY = ['--reason', 'a test'];
const CROWD = 8000;
const RECIPIENTS = 50;
const CALLS_AT_ONCE = 8;
/** By far less than what waits, and more than what the sessions of both have in hand and claim ahead. */
const MOST_BEFORE = CROWD / 8;

t.test('a crowd at two daemons', { skip: postgresMissing() }, async (t) => {
  const { dns, sink, nodes } = await startNodes(t, ['a', 'b']);
  const [a, b] = [nodes[0]!, nodes[1]!];
  addReceiver(dns, 'held.test');
  const register = (name: string) =>
    registerSender({ dns, postrider: a.postrider }, a.daemon, { name, domain: `${name}.test` });
  const [crowd, single] = [await register('crowd'), await register('single')];
  const arrived = () => sink.mails.map(({ raw }) => messageIdOf(raw));

  async function knowsThePause({ daemon, postrider }: TestNode): Promise<string> {
    return until('the pause is known there', async () => {
      const [id] = await send(daemon, crowd, 'first@held.test');
      const { waits_for: reasons } = await postrider.json('queue', 'show', id!);
      return JSON.stringify(reasons).includes('domain_paused') ? id : null;
    });
  }

  await a.postrider.json('queue', 'pause', '--domain', 'held.test', ...WHY);
  for (const node of nodes) await knowsThePause(node);
  for (const { daemon } of nodes) await fill(daemon, crowd);
  await a.postrider.json('queue', 'resume', '--domain', 'held.test', ...WHY);
  await until('the crowd is on its way from both', () =>
    nodes.every(({ daemon }) => daemon.find({ fact: 'delivered' }).length > 0),
  );
  for (const { daemon } of [a, b]) {
    const before = sink.mails.length;
    const [id] = await send(daemon, single, 'one@held.test');
    await until('it arrives', () => arrived().includes(id!));
    const behind = arrived().indexOf(id!) - before;
    t.ok(behind < MOST_BEFORE, `after ${behind} of the crowd`);
    t.ok(sink.mails.length < CROWD, 'while the crowd waits');
  }
});

async function fill(daemon: TestNode['daemon'], sender: Sender): Promise<void> {
  const calls = Array.from({ length: CROWD / 2 / RECIPIENTS }, (_, call) =>
    Array.from({ length: RECIPIENTS }, (_, at) => `r${call}-${at}@held.test`),
  );
  const worker = async () => {
    for (let to = calls.pop(); to; to = calls.pop()) await send(daemon, sender, to);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
}
