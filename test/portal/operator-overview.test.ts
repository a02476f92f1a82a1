// The operator's overview through a real daemon: what happened to the mail of all tenants, by receiver and by source
// address, which certificates the service has, and its own work last.
import t from 'tap';
import { startPortal } from '../support/portal.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { until } from '../support/until.ts';
import { send } from '../support/world.ts';

const SOURCES = ['127.0.0.2', '127.0.0.3'];

const authority = createTestAuthority();
t.teardown(authority.close);
const { certFile: tls_cert, keyFile: tls_key } = authority.issue('mx.postrider.test', 'in.postrider.test');
const world = await startPortal(t, {
  sink: { onRcpt: (address) => (address.startsWith('bounce') ? { code: 550, text: '5.1.1 no such user' } : null) },
  settings: {
    delivery: { source_addresses: SOURCES.map((ip, at) => `${ip} out${at}.postrider.test warm`) },
    smtp: { tls_cert, tls_key },
  },
});
const { daemon, sender } = world;
const operator = await world.visitor(await world.addUser('operator'));
const PATH = '/portal/operator';

t.test('without mail it says so', async (t) => {
  const page = await operator.get(PATH);
  t.match(page.text, 'No mail in the last 7 days');
  t.match(page.text, /Statistics.*Housekeeping.*Periodic tasks/, 'housekeeping comes last');
});

t.test('mail of all tenants is counted, by receiver and by source address', async (t) => {
  const to = [...Array.from({ length: 12 }, (_, n) => `joe${n}@receiver.test`), 'bounce@receiver.test'];
  const ids = await send(daemon, sender, to);
  for (const id of ids.slice(0, -1)) await daemon.logged({ message_id: id, fact: 'delivered' });
  await daemon.logged({ message_id: ids.at(-1)!, fact: 'bounced' });
  const page = await until('all of it to be counted', async () => {
    const seen = await operator.get(PATH);
    return seen.text.includes('12 of 13 delivered') && seen;
  });
  t.match(
    page.text,
    /Delivery rate 92 % .*Volume 13 .*Bounce rate 7\.7 % 1 bounced, 1 of them hard Complaint rate 0 %/,
  );
  t.match(page.text, 'By receiver, in the last 24 hours', 'by the hour until there are two days');
  t.match(page.text, /mx\.receiver\.test 13 92 % 1 \(7\.7 %\) 0 \(0 %\) 0/);
  const links = page.links.filter(({ href }) => href.includes('source='));
  t.same(links.map(({ text }) => text).sort(), SOURCES, 'both addresses were used');

  const chosen = await operator.get(links[0]!.href.replace('#figures', ''));
  t.match(chosen.text, `Only mail from ${links[0]!.text}. Show all`);
  const delivered = (source: string) => Number(/(\d+) of (\d+) delivered/.exec(source)?.[2]);
  const other = await operator.get(links[1]!.href.replace('#figures', ''));
  t.equal(delivered(chosen.text) + delivered(other.text), 13);
  const part = await operator.get(`${PATH}/figures?receiver=mx.receiver.test&range=30d`);
  t.match(part.text, /Only mail to mx\.receiver\.test.*12 of 13 delivered/);
  t.ok(part.links.some(({ href }) => href === `${PATH}?range=7d&receiver=mx.receiver.test#figures`));
  t.match((await operator.get(`${PATH}?receiver=nowhere`)).text, '0 of 0 delivered');
  t.match((await operator.get(`${PATH}?range=90d`)).text, 'By receiver, in the last 30 days', 'there are no more');
});

t.test('the certificate of a file is shown, and how long it is good', async (t) => {
  const { text } = await operator.get(`${PATH}/housekeeping`);
  t.match(
    text,
    /Certificates .* mx\.postrider\.test, in\.postrider\.test Test only, worth nothing .* when its file changes none/,
  );
});

t.test('it is for operators', async (t) => {
  const owner = await world.visitor();
  for (const path of ['', '/now', '/figures', '/housekeeping'])
    t.equal((await owner.get(PATH + path)).status, 404, path);
});
