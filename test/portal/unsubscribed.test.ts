// Who unsubscribes with a message's button: its page says so, since no event does.
import t from 'tap';
import { startPortal } from '../support/portal.ts';
import { RECEIVER, send } from '../support/world.ts';

t.test('the timeline of a message says that its recipient has unsubscribed', async (t) => {
  const { daemon, sender, postrider, sink, visitor } = await startPortal(t);
  await postrider.json('tenant', 'set', sender.tenantId, '--unsubscribe', 'on');
  const [first, second] = await send(daemon, sender, [`Jo@${RECEIVER}`, `ann@${RECEIVER}`]);
  for (const id of [first, second]) await daemon.logged({ message_id: id!, fact: 'delivered' });
  const mails = (await sink.received(2)).map(({ raw }) => raw.toString().replace(/\r\n[ \t]/g, ' '));
  const ofJo = mails.find((mail) => /^To: .*Jo@/m.test(mail))!;
  const [, path] = /^List-Unsubscribe: <http:\/\/mail\.postrider\.test(\/u\/[\w-]+)>/m.exec(ofJo)!;
  const owner = await visitor();
  const page = async (id: string) => (await owner.get(`/portal/messages/${id}`)).text;
  t.notMatch(await page(first!), 'Unsubscribed');
  const answer = await fetch(`http://127.0.0.1:${daemon.httpPort}${path}`, { method: 'POST' });
  t.equal(answer.status, 200);
  await answer.body?.cancel();
  t.match(await page(first!), /Timeline .*Attempt 1.* Unsubscribed .*Suppression list: the address was added/);
  t.notMatch(await page(second!), 'Unsubscribed', 'that of another recipient does not');
});
