// A hoster's refusal of one message pauses the mail to that domain, or, where only the hoster speaks, all of our mail there;
// however its application has written the domain.
import t from 'tap';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { setMx, setUp } from './set-up.ts';

const text =
  '5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/';

const limits = { connections: 2, messagesPerConnection: 5, messagesPerMinute: null, perService: false };
const mailboxes = { sameMailboxes: false, ignoredInNames: '', aliasSeparator: null };
const domains = { customerDomains: true, ownDomains: ['hoster.test'], ...mailboxes };
const providers = new Providers([{ id: 'hoster', mx: ['hoster.test'], ...limits, ...domains, reason: 'a test' }]);

t.test('the domain of what was refused is the one that its mail is queued for', async (t) => {
  const { harness } = await setUp(t, { providers, sink: { onRcpt: () => ({ code: 550, text }) } });
  for (const domain of ['shop.test', 'xn--bcher-kva.test', 'hoster.test'])
    setMx(harness, domain, { 'mx.hoster.test': { ip: '127.0.0.1' } });
  // One by one: the lane of a message that was alone is gone when its result comes.
  for (const to of ['Ann@Shop.test', 'ann@bücher.test', 'Ann@Hoster.test']) {
    const [id] = await harness.send([to]);
    await harness.until(id!, ({ attemptList }) => attemptList.length > 0);
  }
  const paused = harness.delivery.shaping.memory.suspensionsNow(Date.now());
  t.same(
    paused.map(({ scope, subject }) => `${scope} ${subject}`.trim()),
    ['domain shop.test', 'domain xn--bcher-kva.test', 'source'],
  );
});
