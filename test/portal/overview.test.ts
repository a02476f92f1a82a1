// The overview through a real daemon: steps that are ticked as they are taken, why sending is blocked, figures
// of mail that was really sent, what waits and why; each tenant its own.
import t from 'tap';
import type { Page } from '../support/page-reader.ts';
import { type PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';
import { until } from '../support/until.ts';
import { send } from '../support/world.ts';
import { HOSTILE } from './hostile-world.ts';

const world: PortalWorld = await startPortal(t, {
  sink: {
    onRcpt(address) {
      if (address.startsWith('bounce')) return { code: 550, text: '5.1.1 no such user' };
      return address.startsWith('wait') ? { code: 451, text: `4.2.0 later ${HOSTILE}` } : null;
    },
  },
});
const { daemon, sender, postrider } = world;
const owner = await world.visitor();

const marks = (page: Page) => page.texts((name, { class: of }) => name === 'li' && of === 'done');
const polls = (page: Page, part: string) =>
  page.texts((_name, attributes) => attributes['data-poll']?.startsWith(`/portal/overview/${part}`) === true).length >
  0;

/** A tenant that begins, with its owner. */
async function newcomer(status: string): Promise<{ id: string; visitor: PortalVisitor }> {
  const { id } = await postrider.json('tenant', 'create', '--name', 'New', '--status', status);
  const email = `owner@${id}.test`;
  const who = ['--tenant', String(id), '--role', 'owner', '--email', email];
  const { password } = await postrider.json('user', 'create', ...who);
  return { id: String(id), visitor: await world.visitor({ email, password: String(password) }) };
}

t.test('a newcomer is led from step to step, and told why sending is blocked', async (t) => {
  const { id, visitor } = await newcomer('in_review');
  const first = await visitor.get('/portal');
  t.equal(first.status, 200);
  t.match(first.text, 'Your account is in review: API calls are refused until the operator has reviewed it.');
  t.same(marks(first), ['Confirm your email address done']);
  t.ok(polls(first, 'start'), 'it looks again by itself');
  t.match(first.text, 'No mail in the last 7 days');
  t.match(first.text, 'No events yet');
  t.match(first.text, 'hello@your-domain.example');
  t.match(first.text, `http://mail.postrider.test/emails`);

  await postrider.json('tenant', 'set', id, '--status', 'active');
  await postrider.json('key', 'create', '--tenant', id, '--name', 'k', '--scopes', 'emails:send');
  const part = await visitor.get('/portal/overview/start');
  t.same(
    marks(part).map((text) => text.replace(' done', '')),
    ['Confirm your email address', 'Create an API key', 'Approval'],
  );
  t.match(part.text, 'none of your domains is verified, so API calls are refused');
  t.ok(part.links.some(({ href, text }) => href === '/portal/domains' && text === 'Add domain'));
  await postrider.json('tenant', 'set', id, '--status', 'suspended');
  t.match((await visitor.get('/portal')).text, 'Your account is suspended');
});

t.test('mail that was sent is seen in figures, events and the queue', async (t) => {
  const hostile = { subject: HOSTILE };
  const [delivered] = await send(daemon, sender, 'joe@receiver.test', hostile);
  const [bounced] = await send(daemon, sender, 'bounce@receiver.test');
  const [waiting] = await send(daemon, sender, 'wait@receiver.test');
  await daemon.logged({ message_id: delivered!, fact: 'delivered' });
  await daemon.logged({ message_id: bounced!, fact: 'bounced' });
  await daemon.logged({ message_id: waiting!, fact: 'deferred' });

  // On a busy machine its next attempt may have begun already.
  const now = await until('the message to wait', async () => {
    const page = await owner.get('/portal/overview/now');
    return page.text.includes('1 message is still in the queue. The oldest has been waiting for') ? page : null;
  });
  t.match(now.text, /Last error: mx\.receiver\.test said: later/);
  t.ok(now.links.some(({ href }) => href === `/portal/messages/${waiting}`));
  t.match(now.text, 'bounce@receiver.test');
  t.ok(now.links.some(({ href, text }) => href === `/portal/messages/${delivered}` && text.includes('xss-probe')));

  const counted = await until('the count has come by', async () => {
    const page = await owner.get('/portal?range=24h');
    // By provider: delivered, deferred (again and again), bounced, opened.
    const hasAll = /Accepted 3 /.test(page.text) && /mx\.receiver\.test 1 [1-9]\d* 1 0/.test(page.text);
    return hasAll && page;
  });
  t.match(counted.text, /1 of 2 delivered/);
  t.match(counted.text, /Bounced 1 1 hard, 0 soft, 0 blocked/);
  t.notMatch(counted.text, 'unknown', 'what is only accepted has no row');
  t.equal(counted.texts((name) => name === 'figure').length, 3);
  t.match(counted.text, /Delivered 1, Bounced 1, Deferred attempts [1-9]/, 'the bar of this hour');
  t.match((await owner.get('/portal')).text, 'Statistics for the last 24 hours', 'until there are two days');
  t.same(
    counted.texts((name) => name === 'xss-probe'),
    [],
  );
  t.ok(polls(counted, 'figures') && polls(counted, 'now'));
  t.match(counted.text, 'hello@acme.test', 'the programs send from a domain that is verified');
  for (const range of ['7d', '30d', '90d']) {
    t.match((await owner.get(`/portal?range=${range}`)).text, /Accepted 3 /, range);
  }
});

t.test('figures by tag have a page of their own', async (t) => {
  const link = (await owner.get('/portal?range=24h')).links.find(({ text }) => text === 'Statistics by tag')!;
  t.equal(link.href, '/portal/overview/tags?range=24h');
  t.match((await owner.get(link.href)).text, 'No messages with tags in the last 24 hours');
  const [delivered] = await send(daemon, sender, 'ann@receiver.test', { tags: { campaign: 'spring', kind: 'news' } });
  const [bounced] = await send(daemon, sender, 'bounce2@receiver.test', { tags: { campaign: 'spring' } });
  await daemon.logged({ message_id: delivered!, fact: 'delivered' });
  await daemon.logged({ message_id: bounced!, fact: 'bounced' });
  const counted = await until('the count has come by', async () => {
    const page = await owner.get(link.href);
    return /campaign:spring 2 1 0 1 0 0/.test(page.text) && page;
  });
  t.same(
    counted.texts((name, attributes) => name === 'a' && attributes['aria-current'] === 'page'),
    ['Overview'],
    'it is a part of the overview',
  );
  t.match(counted.text, /kind:news 1 1 0 0 0 0 0 \(0 %\)/, 'less used ones below');
  t.ok(counted.links.some(({ href }) => href === '/portal/messages?tag=campaign%3Aspring'));
  for (const range of ['7d', '30d', '90d']) {
    t.match((await owner.get(`/portal/overview/tags?range=${range}`)).text, /campaign:spring 2 1 0 1/, range);
  }
  const { visitor } = await newcomer('active');
  t.notMatch((await visitor.get(link.href)).text, 'campaign:spring');
});

t.test('an operator who pauses a tenant is seen, without name and note', async (t) => {
  await postrider.json('queue', 'pause', '--tenant', sender.tenantId, '--reason', 'owes us money', '--by', 'root');
  // Its next attempt may be under way just now: then there is nothing that waits, and no why.
  const page = await until('the message waits', async () => {
    const seen = await owner.get('/portal');
    return !seen.text.includes('being sent right now') && seen;
  });
  t.match(page.text, 'The operator of this service has paused your mail: API calls are accepted');
  t.match(page.text, /Reason.*The operator of this service has paused your mail\./);
  t.notMatch(page.source, 'owes us money');
  await postrider.json('queue', 'resume', '--tenant', sender.tenantId, '--reason', 'has paid', '--by', 'root');
  t.match((await owner.get('/portal')).text, 'You can send.');
  await postrider.json('queue', 'cancel', '--tenant', sender.tenantId, '--reason', 'as you asked', '--by', 'root');
  const { text } = await owner.get('/portal/settings/audit');
  t.match(text, /the operator queue resume/, 'what was done is in its audit log');
  t.notMatch(text, /owes us money|has paid|\bby root/, 'but not what operators say to each other');
  t.match(text, /queue cancel.*as you asked/, 'the reason of a cancellation is for the tenant');
});

t.test('nobody sees the figures, events and queue of another tenant', async (t) => {
  const { visitor } = await newcomer('active');
  for (const path of ['/portal', '/portal/overview/now', '/portal/overview/figures?range=24h']) {
    const { source } = await visitor.get(path);
    t.notMatch(source, /receiver\.test|acme/, path);
  }
  t.match((await world.guest().get('/portal/overview/now')).path, '/portal/sign-in');
});

t.test('a viewer sees all of it', async (t) => {
  const viewer = await world.visitor(await world.addUser('viewer'));
  const page = await viewer.get('/portal?range=24h');
  t.match(page.text, /2 of 4 delivered/);
  t.same(
    page.forms.map(({ action }) => action),
    ['/portal/sign-out'],
  );
});
