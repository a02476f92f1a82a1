// The shortest test of the whole daemon: the example of test/README.md.
import t from 'tap';
import { RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

t.test('what is accepted is delivered', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const [id] = await send(daemon, sender, `ann@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  t.equal(world.sink.mails.length, 1);
});
