// A daemon that is drained while a receiver keeps it waiting: after a minute its mail is another daemon's, and arrives once.
import t from 'tap';
import { HOUR_MS } from '../../../src/base/clock.ts';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { messageIdOf, registerSender, send, stateOf } from '../../support/world.ts';

t.test('a receiver that keeps a daemon waiting while it is drained', { skip: postgresMissing() }, async (t) => {
  // The receiver itself must not hang up meanwhile.
  const world = await startNodes(t, ['b'], {}, { sink: { server: { socketTimeout: HOUR_MS } } });
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
  await b.postrider.json('nodes', 'drain', 'a', '--reason', 'a test');
  const arrivals = () => sink.mails.filter(({ raw }) => messageIdOf(raw) === id).length;
  await until('the other one has sent it', () => arrivals() === 1, 100_000);
  proxy.release();
  await until('the drained one says why it stops', async () => {
    const { stdout } = await b.postrider.run('queue', 'show', id!);
    return /broken off/.test(stdout);
  });
  t.equal(arrivals(), 1);
  t.equal(await stateOf(b.daemon, sender, id!), 'delivered');
  await daemon.logged({
    msg: 'work in these slots did not end within a minute: it is broken off, and their next owner does it again',
  });
});
