// The pages of API keys through a real daemon: making one that works, its last use, revoking it, and what is
// refused on the way.
import t from 'tap';
import { type PortalWorld, startPortal } from '../support/portal.ts';
import { HOSTILE } from './hostile-world.ts';

const world: PortalWorld = await startPortal(t);
const { daemon, sender } = world;
const owner = await world.visitor();

t.test('a key is made, shown once, works, and is seen in use', async (t) => {
  const form = await owner.get('/portal/keys/new');
  t.match(form.text, /POST \/emails/, 'scopes are explained');
  const made = await owner.submit(form, '/portal/keys/new', {
    ...{ name: 'shop', scopes: ['emails:send', 'domains:write'], domain: 'acme.test' },
  });
  t.equal(made.status, 200);
  const [key = ''] = /pr_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}/.exec(made.source) ?? [];
  t.ok(key, 'the key is shown');
  t.match(made.headers.get('cache-control'), /no-store/);
  const call = made.texts((name, { 'data-copy': copied }) => name === 'button' && copied?.startsWith('curl') === true);
  t.equal(call.length, 1, 'with a call to copy');
  t.match(made.text, `curl 'http://mail.postrider.test/emails'`);
  t.match(made.text, '"from":"hello@acme.test","to":"owner@acme.test"');

  const before = await owner.get('/portal/keys');
  t.notMatch(before.source, key, 'never again');
  t.match(before.source, key.slice(0, 15), 'only its public part');
  t.match(rowOf(before, 'shop'), /never/);
  const body = { from: 'hello@acme.test', to: 'joe@receiver.test', subject: 'Hi', text: 'Hi' };
  t.equal((await daemon.call(key, 'POST /emails', { body })).status, 202);
  const after = await owner.get('/portal/keys');
  t.notMatch(rowOf(after, 'shop'), /never/, 'used just now, although nothing is written yet');
  t.notMatch(world.postrider.everythingLogged, key, 'and it is in no log');

  const revoked = await owner.submit(after, actionOf(after, 'shop'));
  t.match(revoked.text, 'The key shop was revoked.');
  t.match(
    revoked.texts((name) => name === 'h2'),
    ['Revoked'],
  );
  t.equal((await daemon.call(key, 'GET /domains')).status, 401);
  const again = await owner.submit(after, actionOf(after, 'shop'));
  t.equal(again.status, 404, 'a second time there is nothing to revoke');
});

t.test('a form that is sent twice makes one key, and shows it twice', async (t) => {
  const form = await owner.get('/portal/keys/new');
  const twice = { name: 'double', scopes: ['emails:send'] };
  const send = (fields = twice) => owner.submit(form, '/portal/keys/new', fields);
  const [first, second] = await Promise.all([send(), send()]);
  const keyIn = ({ source }: Page) => /pr_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}/.exec(source)?.[0];
  t.ok(keyIn(first));
  t.equal(keyIn(second), keyIn(first), 'whichever answer the browser shows');
  t.not(keyIn(await send({ ...twice, name: 'other' })), keyIn(first), 'what was changed is another one');
  const stranger = await world.visitor(await world.addUser('owner', 'second@acme.test'));
  const other = await stranger.get('/portal/keys/new');
  other.form('/portal/keys/new').fields.set('form_id', form.form('/portal/keys/new').fields.get('form_id')!);
  const theirs = await stranger.submit(other, '/portal/keys/new', twice);
  t.not(keyIn(theirs), keyIn(first), "nobody is shown another one's");
  const { keys } = await world.postrider.json('key', 'list', '--tenant', sender.tenantId);
  t.equal(
    (keys as { name: string }[]).filter(({ name }) => name === 'double').length,
    2,
    'each of the two has made one',
  );
});

t.test('what cannot be granted is said at its field, and what was entered stays', async (t) => {
  const form = await owner.get('/portal/keys/new');
  const send = (fields: Record<string, string | string[] | null>) => owner.submit(form, '/portal/keys/new', fields);
  const nameless = await send({ name: '  ', scopes: ['domains:write'] });
  t.equal(nameless.status, 422);
  t.match(nameless.text, 'The name must not be empty.');
  t.same(nameless.form('/portal/keys/new').fields.getAll('scopes'), ['domains:write']);
  t.equal((await send({ name: 'x'.repeat(201) })).status, 422);
  t.match((await send({ name: 'k', scopes: ['all:write'] })).text, /"all:write" is not a scope/);
  const hostile = await send({ name: HOSTILE, domain: HOSTILE });
  t.equal(hostile.status, 422);
  t.equal(hostile.texts((name) => name === 'xss-probe').length, 0);
  t.equal(hostile.form('/portal/keys/new').fields.get('name'), HOSTILE);
});

t.test('viewers look, members make keys, owners revoke them', async (t) => {
  const [member, viewer] = [
    await world.visitor(await world.addUser('member')),
    await world.visitor(await world.addUser('viewer')),
  ];
  const asMember = await member.get('/portal/keys');
  t.same(
    asMember.forms.map(({ action }) => action).filter((action) => action.includes('revoke')),
    [],
  );
  t.equal((await member.submit(await member.get('/portal/keys/new'), '/portal/keys/new', { name: 'm' })).status, 200);
  const asOwner = await owner.get('/portal/keys');
  const form_token = asMember.form('/portal/sign-out').fields.get('form_token')!;
  const { status } = await member.raw('POST', actionOf(asOwner, 'm'), { body: new URLSearchParams({ form_token }) });
  t.equal(status, 403);
  const asViewer = await viewer.get('/portal/keys');
  t.match(rowOf(asViewer, 'm'), 'emails:send');
  t.equal((await viewer.get('/portal/keys/new')).status, 403);
});

t.test('keys of others and ids that are none are not there', async (t) => {
  const { id } = await world.postrider.json('tenant', 'create', '--name', 'Other', '--status', 'active');
  const rights = ['--name', 'theirs', '--scopes', 'emails:send'];
  const theirs = await world.postrider.json('key', 'create', '--tenant', String(id), ...rights);
  const page = await owner.get('/portal/keys');
  t.notMatch(page.text, 'theirs');
  const own = page.forms.find(({ action }) => action.endsWith('/revoke'))!;
  for (const wrong of [String(theirs.id), 'nonsense', '%2e%2e', sender.tenantId]) {
    const answer = await owner.submit(page, { ...own, action: `/portal/keys/${wrong}/revoke` });
    t.equal(answer.status, 404, wrong);
  }
  t.equal((await daemon.call(String(theirs.key), 'GET /domains')).status, 200, 'it still works');
});

type Page = Awaited<ReturnType<typeof owner.get>>;

function rowOf(page: Page, name: string): string {
  return page.texts((tag) => tag === 'tr').find((text) => text.startsWith(`${name} `)) ?? '';
}

/** Rows and their forms stand in the same order. */
function actionOf(page: Page, name: string): string {
  const rows = page.texts((tag) => tag === 'tr').filter((text) => text.includes('Revoke key'));
  const forms = page.forms.filter(({ action }) => action.endsWith('/revoke'));
  return forms[rows.findIndex((text) => text.startsWith(`${name} `))]!.action;
}
