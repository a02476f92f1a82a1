// Whoever has a key can add and remove webhooks in a loop: owners hear of the first ones at once, and of the rest in
// one mail. And a key that is made while no daemon runs is told of when the next one does.
import t from 'tap';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { RECEIVER, startWorld } from '../support/world.ts';

const subjectOf = ({ raw }: ReceivedMail) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1];

t.test('a loop of new webhooks, and a key made beside no daemon', async (t) => {
  const { postrider, sink } = await startWorld(t);
  const daemon = await postrider.serve();
  const { id } = await postrider.json('tenant', 'create', '--name', 'Acme', '--status', 'active');
  const tenant = String(id);
  await postrider.json('user', 'create', '--tenant', tenant, '--email', `owner@${RECEIVER}`);
  const makeKey = async () => {
    const rights = ['--name', 'app', '--scopes', 'webhooks:write'];
    return String((await postrider.json('key', 'create', '--tenant', tenant, ...rights)).key);
  };
  const key = await makeKey();
  for (let index = 0; index < 20; index++) {
    const { status, body } = await daemon.call(key, 'POST /webhooks', {
      body: { url: `https://h${index}.example.com/` },
    });
    t.equal(status, 201);
    t.equal((await daemon.call(key, `DELETE /webhooks/${body.id}`)).status, 204);
  }
  await daemon.stop();
  await makeKey();
  const second = await postrider.serve();
  const mails = await sink.received(5);
  t.same(mails.map(subjectOf).sort(), [
    '18 API keys and webhooks were added',
    'A webhook was added',
    'A webhook was added',
    'An API key was created',
    'An API key was created',
  ]);
  for (const { to } of mails) t.equal(to, `owner@${RECEIVER}`);
  await second.stop();
  t.equal(sink.mails.length, 5);
});

t.test('a webhook that is pointed at another host is told of', async (t) => {
  const { postrider, sink } = await startWorld(t);
  const daemon = await postrider.serve();
  const { id } = await postrider.json('tenant', 'create', '--name', 'Acme', '--status', 'active');
  const tenant = String(id);
  await postrider.json('user', 'create', '--tenant', tenant, '--email', `owner@${RECEIVER}`);
  const rights = ['--name', 'app', '--scopes', 'webhooks:write'];
  const key = String((await postrider.json('key', 'create', '--tenant', tenant, ...rights)).key);
  const { body } = await daemon.call(key, 'POST /webhooks', { body: { url: 'https://first.example.com/' } });
  const change = (url: string) => daemon.call(key, `PATCH /webhooks/${body.id}`, { body: { url, events: ['bounce'] } });
  t.equal((await change('https://first.example.com/other')).status, 200, 'the same host');
  t.equal((await change('https://second.example.com/')).status, 200);
  const mails = await sink.received(3);
  t.same(mails.map(subjectOf).sort(), ['A webhook was added', 'A webhook was changed', 'An API key was created']);
  const told = mails.map(({ raw }) => raw.toString());
  t.equal(told.filter((text) => text.includes('second.example.com')).length, 1);
  await daemon.stop();
  t.equal(sink.mails.length, 3);
});
