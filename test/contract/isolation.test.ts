// What belongs to one tenant does not exist for another: every endpoint with an id answers for a
// stranger's thing as for one that nobody has, and changes nothing; lists hold one's own alone.
import t, { type Test } from 'tap';
import { operations } from '../support/openapi-check.ts';
import { RECEIVER } from '../support/world.ts';
import { NOBODY, type Sender } from './contract-world.ts';
import { goodMail, inHours, setStage } from './stage.ts';

const { world, acme, rival, inbox, send } = await setStage(t);

async function created(owner: Sender, path: string, body: Record<string, unknown>): Promise<string> {
  const answer = await world.call(`POST ${path}`, { key: owner.key, body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
}

const sent = await send({ subject: 'Private words' });
const [messageId] = sent.body.message_ids;
await world.daemon.logged({ fact: 'delivered', message_id: messageId });
const scheduled = await send({ subject: 'Private plans', send_at: inHours(1) });

/** By the collection that it stands in: a thing of acme's. */
const THINGS: Record<string, string> = {
  domains: acme.domainId,
  emails: messageId,
  submissions: scheduled.body.id,
  webhooks: await created(acme, '/webhooks', { url: 'https://hooks.acme.test/', description: 'Private' }),
  templates: await created(acme, '/templates', { name: 'Private', text: 'Private {{ x }}' }),
};

const BODIES: Record<string, unknown> = {
  'PUT /templates/{id}': { name: 'Taken over', text: 'Taken over' },
  'PATCH /webhooks/{id}': { description: 'Taken over' },
  'PATCH /submissions/{id}': { send_at: inHours(2) },
};
const [event] = (await world.call('GET /events', { key: acme.key })).body.events;

const withId = operations.filter(({ path }) => path.includes('{id}'));

for (const { method, path } of withId) {
  t.test(`${method} ${path}`, async (t) => {
    const id = THINGS[path.split('/')[1]!]!;
    const body = BODIES[`${method} ${path}`];
    const before = await everythingOf(acme);
    const ask = (id: string) => {
      const target = path.replace('{id}', id).replace('{event_id}', event.id);
      return world.call(`${method} ${target}`, { key: rival.key, body });
    };
    const [foreign, unknown] = [await ask(id), await ask(NOBODY)];
    t.equal(foreign.status, 404);
    t.same(foreign.body, unknown.body, 'the same words as for an id that nobody has');
    t.same(Object.keys(foreign.headers).sort(), Object.keys(unknown.headers).sort());
    t.same((await ask(id.toUpperCase())).body, unknown.body);
    t.same(await everythingOf(acme), before, 'and nothing has changed');
  });
}

t.test('the description has endpoints with an id for each kind of thing', async (t) => {
  const kinds = new Set(withId.map(({ path }) => path.split('/')[1]));
  t.same([...kinds].sort(), Object.keys(THINGS).sort());
});

t.test('lists hold what is one’s own', async (t) => {
  const theirs = await everythingOf(rival);
  t.notMatch(JSON.stringify(theirs), /acme\.|Private/);
  t.match(JSON.stringify(await everythingOf(acme)), /acme.*Private/);
});

t.test('events are read from a point of one’s own', async (t) => {
  const { events } = (await world.call('GET /events', { key: acme.key })).body;
  const foreign = await world.call(`GET /events?after=${events[0].id}`, { key: rival.key });
  const unknown = await world.call(`GET /events?after=${NOBODY}`, { key: rival.key });
  t.equal(foreign.status, 400);
  t.same(foreign.body, unknown.body);
});

t.test('a stranger’s domain, template, key and list are of no use', async (t) => {
  const asRival = (body: unknown, headers = {}) => world.call('POST /emails', { key: rival.key, body, headers });
  const { body: foreignDomain } = await asRival(goodMail(acme.domain));
  const { body: nobodysDomain } = await asRival(goodMail('nobody.test'));
  t.equal(foreignDomain.error, 'domain_not_verified');
  t.equal(foreignDomain.message.replaceAll(acme.domain, 'nobody.test'), nobodysDomain.message);
  const byTemplate = (id: string) => asRival({ ...goodMail(rival.domain), template_id: id });
  t.same((await byTemplate(THINGS.templates!)).body, (await byTemplate(NOBODY)).body);

  await world.suppress(acme.id, `jo@${RECEIVER}`, 'manual');
  t.equal((await send()).status, 422);
  t.equal((await asRival(goodMail(rival.domain))).status, 202, "a tenant's list stops nobody else's mail");
  const headers = { 'Idempotency-Key': 'shared' };
  const ours = await send({ to: `other@${RECEIVER}` }, headers);
  const theirs = await asRival(goodMail(rival.domain), headers);
  t.same([ours.body.replayed, theirs.body.replayed], [false, false], 'an equal idempotency key is another one');
  t.not(ours.body.id, theirs.body.id);
});

t.test('each message arrived from its own tenant', async (t: Test) => {
  const { body } = await world.call('POST /emails', { key: rival.key, body: goodMail(rival.domain) });
  const { raw } = await inbox.mail(body.message_ids[0]);
  // With the dot, which no signature has.
  t.notMatch(raw.toString(), acme.domain);
});

/** What the lists and the things themselves show to a tenant. */
async function everythingOf({ key }: Sender): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const path of ['/domains', '/webhooks', '/templates', '/events', '/emails']) {
    seen.push((await world.call(`GET ${path}`, { key })).body);
  }
  for (const [kind, id] of Object.entries(THINGS)) seen.push((await world.call(`GET /${kind}/${id}`, { key })).body);
  return seen;
}
