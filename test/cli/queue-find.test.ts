// queue find: beside the daemon and without it, over all tenants, and what it says when it finds nothing.
import t from 'tap';
import type { Json } from '../support/daemon-process.ts';
import { RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

t.test('mail is found by what a person knows of it', async (t) => {
  const { dns, postrider } = await startWorld(t);
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  await postrider.json('tenant', 'create', '--name', 'Quiet');
  const mail = { subject: 'Your order \u202e4711', text: 'x' };
  const [joe, ann] = await send(daemon, sender, [`joe@${RECEIVER}`, `ann@${RECEIVER}`], mail);
  const [later] = await send(daemon, sender, `joe@${RECEIVER}`, { subject: 'Reminder' });
  for (const id of [joe!, ann!, later!]) await daemon.logged({ fact: 'delivered', message_id: id });

  const found = async (...args: string[]) => {
    const { messages } = await postrider.json('queue', 'find', ...args);
    return (messages as Json[]).map(({ id }) => id);
  };
  t.same(await found('reminder'), [later]);
  t.same(await found('JOE@receiver.test'), [later, joe], 'newest first');
  t.same(await found(RECEIVER, '--state', 'delivered', '--limit', '1'), [later]);
  t.same(await found(joe!.slice(-12)), [joe]);
  t.same(await found('AN'), [ann], 'part of an address');
  t.same(await found('order', '--tenant', 'Quiet'), []);
  t.match(await postrider.json('queue', 'find', ann!), {
    searched_for: 'id',
    messages: [
      { id: ann, tenant_id: sender.tenantId, to: `ann@${RECEIVER}`, state: 'delivered', subject: mail.subject },
    ],
    more: false,
    cut_off: [],
  });
  await daemon.stop();

  const { code, stdout } = await postrider.run('queue', 'find', RECEIVER, '--limit', '2');
  t.equal(code, 0, 'without a daemon, too');
  t.match(stdout, new RegExp(`^ID +ACCEPTED +STATE +TENANT +TO +SUBJECT\n${later} +\\S+Z +delivered .*Reminder\n`));
  t.match(stdout, 'There are more: --limit shows them.');
  t.match((await postrider.run('queue', 'find', 'order')).stdout, 'Your order \ufffd4711', 'nothing steers a terminal');
  const nothing = await postrider.runHere('queue', 'find', 'nobody@receiver.test');
  t.match(nothing, { code: 0, stdout: 'No message with this recipient.\n' });
  t.match(await postrider.runHere('queue', 'find'), { code: 2, stderr: /TEXT/ });
  t.match(await postrider.runHere('queue', 'find', 'x', '--tenant', 'Acm'), {
    code: 1,
    stderr: /there is no tenant "Acm"/,
  });
});
