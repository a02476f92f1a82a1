// The pages of webhooks through a real daemon and a real endpoint: register, try, rotate, look at attempts,
// replay, delete; wrong input, other people's ids, roles, and what endpoints answer to do harm.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { HOUR_MS } from '../../src/base/clock.ts';
import { uuidToBytes } from '../../src/base/ids.ts';
import { failureReasons } from '../../src/portal/webhooks/failure-reasons.ts';
import type { DeliveryView } from '../../src/store/webhooks.ts';
import { withDatabase } from '../support/database.ts';
import { PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';
import { until } from '../support/until.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { send } from '../support/world.ts';
import { HOSTILE } from './hostile-world.ts';

const world: PortalWorld = await startPortal(t, { settings: { webhooks: { allow_private: true } } });
const { daemon, sender } = world;
const owner = await world.visitor();
type Page = Awaited<ReturnType<typeof owner.get>>;

const secretOf = (page: Page): string => {
  const copied = page.texts((name, { 'aria-label': label }) => name === 'button' && label === 'Copy the secret');
  t.equal(copied.length, 1);
  return /data-copy="([A-Za-z0-9+/=]{44})"/.exec(page.source)?.[1] ?? '';
};

async function register(url: string, description = ''): Promise<{ secret: string; path: string; page: Page }> {
  const page = await owner.submit(await owner.get('/portal/webhooks/new'), '/portal/webhooks/new', {
    url,
    description,
  });
  t.equal(page.status, 200, page.text.slice(0, 300));
  const path = page.links.find(({ text }) => text === 'Done')!.href;
  return { secret: secretOf(page), path, page };
}

const eventIdsOf = (page: Page) => [
  ...new Set(page.links.flatMap(({ href }) => /attempts\/([0-9a-f-]{36})\//.exec(href)?.[1] ?? [])),
];

t.test('a webhook with a choice of events', async (t) => {
  const endpoint = await startEndpoint(t);
  const form = await owner.get('/portal/webhooks/new');
  const events = ['bounce', 'email.delivered'];
  t.match(form.text, 'The family: email.bounced and email.failed.');
  const wrong = await owner.submit(form, '/portal/webhooks/new', { url: 'nowhere', events });
  t.equal(wrong.status, 422);
  t.same(wrong.form('/portal/webhooks/new').fields.getAll('events').toSorted(), events, 'what was checked stays so');
  const made = await owner.submit(wrong, '/portal/webhooks/new', { url: endpoint.url, events });
  const page = await owner.get(made.links.find(({ text }) => text === 'Done')!.href);
  t.match(page.text, /only email\.delivered, bounce/);
  t.match((await owner.get('/portal/webhooks')).text, /only email\.delivered, bounce/);
  const { webhooks } = (await world.postrider.json('webhook', 'list')) as { webhooks: { events: string[] | null }[] };
  t.same(webhooks.at(-1)?.events, ['email.delivered', 'bounce']);
  t.match((await world.postrider.run('webhook', 'list')).stdout, 'email.delivered,bounce');
});

t.test('a webhook is registered, its secret shown once, and it verifies what comes', async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(202).end('got it');
  const { secret, path } = await register(endpoint.url, 'Orders');
  const page = await owner.get(path);
  t.notMatch(page.source, secret);
  t.match(page.text, 'No event has been sent to it yet');
  await send(daemon, sender, 'joe@receiver.test');
  const [got] = await endpoint.until(1);
  t.ok(new Webhook(secret).verify(got!.text, got!.headers));
  await daemon.logged({ fact: 'delivered' });
  const row = await until(
    'it to be shown',
    async () => (await owner.get(path)).links.find(({ href }) => href.includes('/attempts/')) ?? null,
  );
  const attempt = await owner.get(row.href);
  t.match(attempt.text, 'email.delivered');
  t.match(attempt.text, 'got it');
  t.match(attempt.text, `webhook-id: ${got!.id}`);
  t.match(attempt.text, `webhook-timestamp: ${got!.headers['webhook-timestamp']}`);
  t.match(attempt.text, 'webhook-signature: v1,… (not kept)');
  const [shown = ''] = attempt.texts((name) => name === 'pre').filter((text) => text.includes('"timestamp"'));
  t.same(JSON.parse(shown), got!.body, 'the body as it was sent');
  t.match((await owner.get('/portal/webhooks')).text, /Orders OK/);

  const replayed = await owner.submit(attempt, 'Send again');
  t.match(replayed.text, 'The event is being sent.');
  t.equal((await endpoint.until(2))[1]!.id, got!.id, 'with the same id');
});

t.test('a test event and its answer', async (t) => {
  const endpoint = await startEndpoint(t);
  const { secret, path } = await register(`${endpoint.url}/test`);
  endpoint.answer = (response) => response.writeHead(503).end(HOSTILE);
  const failed = await owner.submit(await owner.get(path), 'Send test event');
  t.match(failed.text, 'The endpoint did not accept the test event. The endpoint answered 503.');
  t.match(failed.text, HOSTILE.slice(0, 20), 'the answer is shown');
  t.equal(failed.texts((name) => name === 'xss-probe').length, 0, 'and is no markup');
  endpoint.answer = (response) => response.writeHead(204).end();
  t.match((await owner.submit(failed, 'Send another')).text, 'The endpoint accepted the test event.');
  const [, got] = await endpoint.until(2);
  t.match(new Webhook(secret).verify(got!.text, got!.headers), { type: 'test', data: { test: {} } });
  t.match((await owner.get(path)).text, 'No event has been sent to it yet', 'it is no attempt');
});

t.test('after a rotation both secrets hold', async (t) => {
  const endpoint = await startEndpoint(t);
  const { secret, path } = await register(`${endpoint.url}/rotate`);
  const rotated = await owner.submit(await owner.get(path), 'Create new secret');
  const fresh = secretOf(rotated);
  t.not(fresh, secret);
  t.match(rotated.text, /Until .* every event is signed with the new secret and with the old one/);
  await owner.submit(await owner.get(path), 'Send test event');
  const [got] = await endpoint.until(1);
  for (const one of [secret, fresh]) t.ok(new Webhook(one).verify(got!.text, got!.headers));
  t.match((await owner.get(path)).text, 'the previous one also signs until');
  const id = path.split('/').at(-1)!;
  const { secret: third, ended_early } = await world.postrider.json('webhook', 'rotate', id);
  t.equal(ended_early, null);
  t.match((await owner.get(path)).text, 'the 2 before it also sign, the last of them until');
  await owner.submit(await owner.get(path), 'Send test event');
  const [, again] = await endpoint.until(2);
  for (const one of [secret, fresh, String(third)]) t.ok(new Webhook(one).verify(again!.text, again!.headers));
  for (let more = 0; more < 2; more++) await world.postrider.json('webhook', 'rotate', id);
  t.match((await owner.get(path)).text, /The oldest secret, which would sign until .*, stops at once/);
  t.ok((await world.postrider.json('webhook', 'rotate', id)).ended_early);
  for (const one of [secret, fresh, String(third)]) t.notMatch(world.postrider.everythingLogged, one);
});

t.test('what is failing says so, and is replayed when it works again', async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(500).end(HOSTILE);
  const { path } = await register(`${endpoint.url}/failing`);
  const [messageId] = await send(daemon, sender, 'joe@receiver.test');
  await endpoint.until(1);
  const page = await until('it to be shown', async () => {
    const page = await owner.get(path);
    return page.text.includes('It has not accepted an event since') ? page : null;
  });
  t.match(page.text, 'failing');
  t.match(page.text, /Why events fail Reason Events Last attempt The endpoint answered 500\. email\.delivered \(1\)/);
  t.equal(page.text.split('The endpoint answered 500.').length, 2, 'the reason is said once');
  t.equal(page.texts((name) => name === 'xss-probe').length, 0);
  const course = await owner.get(`/portal/messages/${messageId}`);
  t.match(
    course.text,
    /Webhook call refused .*The endpoint answered 500\. .*URL: http:\S+\/failing.*Event: email\.delivered/,
  );
  t.ok(course.links.some(({ href, text }) => text === 'Webhook call refused' && href.startsWith(`${path}/attempts/`)));
  t.match((await owner.get(`${path}?show=due`)).text, 'next attempt');
  t.match((await owner.get(`${path}?show=failed`)).text, 'No event has failed for good.');
  const [eventId = ''] = eventIdsOf(page);
  const attempt = await owner.get(`${path}/attempts/${eventId}/1`);
  t.ok(
    attempt.links.some(({ href }) => href === `/portal/messages/${messageId}`),
    'it leads to its message',
  );
  t.equal(attempt.texts((name) => name === 'xss-probe').length, 0);
  endpoint.answer = (response) => response.writeHead(200).end();
  await owner.submit(attempt, 'Retry now');
  const all = await endpoint.until(2);
  t.equal(all.at(-1)!.id, eventId);
  // A page asks for the state and for the attempts one after the other: the attempt can come in between.
  const { text } = await until('both to be shown', async () => {
    const page = await owner.get(path);
    return page.text.includes('accepted at a later attempt') && page.text.includes('OK') ? page : null;
  });
  t.notMatch(text, 'Failing since');
});

t.test('reasons are counted by event, the latest first', async (t) => {
  const lastAttempt = { number: 1, startedAt: 5, elapsedMs: 1, status: null, reason: 'No address.', answer: null };
  const delivery: DeliveryView = {
    ...{ eventId: 'e', eventType: 'email.delivered', state: 'due', attempts: 1, dueAt: 9, finishedAt: null },
    lastAttempt,
  };
  const late = { ...lastAttempt, startedAt: 7, reason: 'It answered 500.' };
  const reasons = failureReasons([
    delivery,
    { ...delivery, eventType: 'email.bounced', lastAttempt: { ...lastAttempt, startedAt: 6 } },
    delivery,
    { ...delivery, lastAttempt: null },
    { ...delivery, lastAttempt: late },
  ]);
  t.same(
    reasons.map(({ reason, events, lastAt }) => [reason, [...events], lastAt]),
    [
      ['It answered 500.', [['email.delivered', 1]], 7],
      [
        'No address.',
        [
          ['email.delivered', 2],
          ['email.bounced', 1],
        ],
        6,
      ],
    ],
  );
});

t.test('a webhook is changed, and keeps its secret', async (t) => {
  const endpoint = await startEndpoint(t);
  const { secret, path } = await register('http://127.0.0.1:9/old', 'Orders');
  const link = (await owner.get(path)).links.find(({ text }) => text === 'Edit')!;
  const form = await owner.get(link.href);
  const edit = `${path}/edit`;
  t.equal(form.form(edit).fields.get('url'), 'http://127.0.0.1:9/old');
  t.equal(form.form(edit).fields.get('description'), 'Orders');
  t.match((await owner.submit(form, edit)).text, 'Nothing was changed.');
  const wrong = await owner.submit(form, edit, { url: 'nowhere', description: 'New' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'Must be a full http:// or https:// URL');
  t.equal(wrong.form(edit).fields.get('description'), 'New', 'what was written stays');
  const changes = { url: endpoint.url, description: 'Invoices', events: ['email.delivered', 'complaint'] };
  const changed = await owner.submit(wrong, edit, changes);
  t.match(changed.text, 'The webhook was changed.');
  t.match(changed.text, /Invoices.*only email\.delivered, complaint/);
  await send(daemon, sender, 'joe@receiver.test');
  const [got] = await endpoint.until(1);
  t.ok(new Webhook(secret).verify(got!.text, got!.headers), 'signed as before');
  const audit = await owner.get('/portal/settings/audit');
  t.match(audit.text, /webhook changed webhook id \S+ host \S+ changed url description events/);
  const all = await owner.submit(await owner.get(edit), edit, { events: [] });
  t.match(all.text, /Events every event/);
  t.match(all.text, 'Invoices', 'what was not changed stays');
});

t.test('deleting needs no second thought but one', async (t) => {
  const { path } = await register('http://127.0.0.1:9/delete');
  const page = await owner.get(path);
  const gone = await owner.submit(page, 'Delete webhook');
  t.match(gone.text, 'The webhook http://127.0.0.1:9/delete was deleted.');
  t.equal((await owner.get(path)).status, 404);
  t.equal((await owner.submit(page, 'Delete webhook')).status, 404);
  t.equal((await owner.submit(page, 'Send test event')).status, 404);
  t.equal((await owner.submit(page, 'Create new secret')).status, 404);
});

t.test('what is refused is said at its field', async (t) => {
  const form = await owner.get('/portal/webhooks/new');
  const url = 'http://127.0.0.1:9/twice';
  await register(url);
  const refused = async (fields: Record<string, string>) => {
    const page = await owner.submit(form, '/portal/webhooks/new', fields);
    t.equal(page.status, 422);
    t.equal(page.form('/portal/webhooks/new').fields.get('url'), fields.url);
    t.equal(page.texts((name) => name === 'xss-probe').length, 0);
    return page.text;
  };
  t.match(await refused({ url: 'ftp://a.test' }), 'Must be a full http:// or https:// URL');
  t.match(await refused({ url }), 'A webhook with this URL already exists');
  t.match(await refused({ url: 'https://a:b@c.test/' }), 'Must not contain credentials');
  t.match(await refused({ url: `https://a.test/${HOSTILE}` }), 'Must not contain white space');
  t.match(await refused({ url: '' }), 'http');
  t.match(await refused({ url: `https://a.test/${'x'.repeat(3000)}` }), 'Must have at most 2048 characters');
  t.match(await refused({ url: 'https://a.test/', description: 'x'.repeat(501) }), 'Must have at most 500 characters');
});

t.test('a viewer looks, a stranger sees nothing', async (t) => {
  const { path } = await register('http://127.0.0.1:9/roles');
  const page = await owner.get(path);
  const viewer = await world.visitor(await world.addUser('viewer'));
  t.equal((await viewer.get(`${path}/edit`)).status, 403);
  const seen = await viewer.get(path);
  t.equal(seen.status, 200);
  t.same(
    seen.forms.map(({ action }) => action),
    ['/portal/sign-out'],
  );
  const form_token = seen.form('/portal/sign-out').fields.get('form_token')!;
  const posts = page.forms.map(({ action }) => action).filter((action) => action !== '/portal/sign-out');
  t.same(posts.map((action) => action.replace(path, '')).sort(), ['/delete', '/rotate', '/test']);
  for (const action of [...posts, `${path}/replay`, `${path}/edit`]) {
    t.equal((await viewer.raw('POST', action, { body: new URLSearchParams({ form_token }) })).status, 403, action);
  }
  const { id } = await world.postrider.json('tenant', 'create', '--name', 'Other', '--status', 'active');
  const people = ['--tenant', String(id), '--email', 'owner@other.test', '--role', 'owner'];
  const { password } = await world.postrider.json('user', 'create', ...people);
  const stranger = await world.visitor({ email: 'owner@other.test', password: String(password) });
  const token = (await stranger.get('/portal/webhooks')).form('/portal/sign-out').fields.get('form_token')!;
  for (const action of [...posts, `${path}/replay`, `${path}/edit`, `${path}/events/${id}/replay`]) {
    const body = new URLSearchParams({ form_token: token, since: 'all' });
    t.equal((await stranger.raw('POST', action, { body })).status, 404, action);
  }
  t.equal((await stranger.get(path)).status, 404);
  t.equal((await stranger.get(`${path}/attempts/${id}/1`)).status, 404);
  t.equal((await owner.get(path)).status, 200, 'and it is still there');
});

t.test('addresses that make no sense', async (t) => {
  const { path } = await register('http://127.0.0.1:9/odd');
  const page = await owner.get(path);
  for (const odd of ['/portal/webhooks/nonsense', `${path}/attempts/x/1`, `${path}/attempts/${sender.tenantId}/x`]) {
    t.equal((await owner.get(odd)).status, 404, odd);
  }
  for (const query of ['?after=x.1', '?after=.', `?after=${sender.tenantId}.99999999999`, '?event=x', '?show=x']) {
    t.equal((await owner.get(path + query)).status, 200, query);
  }
  const replay = { ...page.form('Send test event'), action: `${path}/replay` };
  const replayed = async (fields: Record<string, string>) => (await owner.submit(page, replay, fields)).text;
  t.match(await replayed({ since: 'all' }), 'No event has failed since then.');
  t.match(await replayed({ since: 'all', at: '2026-01-01T00:00' }), 'No event has failed since then.');
  t.match(await replayed({ at: '2026-99-01T00:00' }), 'the time is invalid');
  t.match(await replayed({ since: '1; drop' }), 'the time is invalid');
});

t.test('what was given up is listed, and replayed all at once', async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(500).end();
  const { path } = await register(`${endpoint.url}/given-up`);
  await send(daemon, sender, ['joe@receiver.test', 'ann@receiver.test']);
  await endpoint.until(2);
  await until('both attempts to be stored', async () => eventIdsOf(await owner.get(path)).length === 2);
  await daemon.stop();
  // As after three days.
  withDatabase(world.postrider.databaseFile, (db) => {
    const giveUp = `UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, leased = 0, finished_at = ? WHERE webhook_id = ?`;
    db.prepare(giveUp).run(Date.now() - 2 * HOUR_MS, uuidToBytes(path.split('/').at(-1)!));
  });
  const visitor = new PortalVisitor(`http://127.0.0.1:${(await world.postrider.serve()).httpPort}`);
  await visitor.signIn(world.owner);
  const page = await visitor.get(`${path}?show=failed`);
  const ids = eventIdsOf(page);
  t.equal(ids.length, 2);
  t.match(page.text, /Failed events 2 /);
  t.match(page.text, 'failed; can be replayed');
  endpoint.answer = (response) => response.writeHead(204).end();
  const before = endpoint.received.length;
  t.match((await visitor.submit(page, 'Replay events', { since: '3600000' })).text, 'No event has failed since then.');
  const replayed = await visitor.submit(page, 'Replay events', { since: '86400000' });
  t.match(replayed.text, '2 events are being sent again.');
  const got = (await endpoint.until(before + 2)).slice(before).map(({ id }) => id);
  t.same(got.sort(), ids.sort(), 'with the ids that they had');
});
