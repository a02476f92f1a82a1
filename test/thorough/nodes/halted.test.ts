// A daemon that stands still in the middle of a message, for so long that another one has sent it: when it goes on, it does
// not end the message.
import t from 'tap';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { messageIdOf, registerSender, send, stateOf } from '../../support/world.ts';

t.test('a daemon that stands still before its final dot', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['b']);
  const { dns, sink, nodes } = world;
  const b = nodes[0]!;
  const proxy = await startTcpProxy(t, { port: sink.port });
  // Only this one reaches the receiver through the proxy.
  const a = world.install('a', { delivery: { port: proxy.port, allow_private: true, linger: '50ms' } });
  const daemon = await a.serve();
  const sender = await registerSender({ dns, postrider: a }, daemon);
  const reached = proxy.holdBefore('MAIL FROM');
  const [id] = await send(daemon, sender, 'ann@receiver.test');
  await reached;
  daemon.signal('SIGSTOP');
  const arrivals = () => sink.mails.filter(({ raw }) => messageIdOf(raw) === id).length;
  await until('the other one has sent it', () => arrivals() === 1, 40_000);
  proxy.release();
  daemon.signal('SIGCONT');
  await until('it says why it stops', async () => {
    const { stdout } = await b.postrider.run('queue', 'show', id!);
    return /broken off/.test(stdout);
  });
  t.equal(arrivals(), 1);
  t.equal(await stateOf(b.daemon, sender, id!), 'delivered');
  await until('it goes on', () => daemon.find({ msg: 'slots taken' }).length > 1);
  const [next] = await send(daemon, sender, 'bob@receiver.test');
  await until('its mail arrives', async () => (await stateOf(daemon, sender, next!)) === 'delivered');
});
