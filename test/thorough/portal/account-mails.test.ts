// What comes by mail: resets, invitations, sign-ups. The mails go the way of all mail, to a receiving server, and
// their links are followed as people do.
import t, { type Test } from 'tap';
import { nextLetter } from '../../portal/next-letter.ts';
import { type PortalWorld, startPortal } from '../../support/portal.ts';

const PASSWORD = 'horse battery lake';

t.test('mails about accounts', async (t) => {
  const settings = { portal: { sign_up: true }, service: { operator_address: 'ops@receiver.test' } };
  const world = await startPortal(t, { settings });
  t.test('a new password by mail', (t) => resetting(t, world));
  t.test('an invitation, from the form to the new member', (t) => inviting(t, world));
  t.test('signing up, to approval', (t) => signingUp(t, world));
});

async function resetting(t: Test, world: PortalWorld) {
  const login = await world.addUser('member', 'jo@receiver.test');
  const signedIn = await world.visitor(login);
  const guest = world.guest();
  const ask = async (email: string) => guest.submit(await guest.get('/portal/reset'), '/portal/reset', { email });
  const [known, unknown] = [await ask(login.email), await ask('nobody@receiver.test')];
  t.equal(
    known.text.replaceAll(login.email, 'X'),
    unknown.text.replaceAll('nobody@receiver.test', 'X'),
    'the same answer',
  );
  const { link, text } = await nextLetter(world.sink, login.email, 0);
  t.match(text, /works once and expires in an hour/);

  const page = await guest.get(link);
  t.match(page.text, /For jo@receiver\.test/);
  t.match(page.headers.get('referrer-policy'), 'same-origin');
  t.match(await guest.submit(page, 'Set the password', { password: 'jo@receiver.test' }), { status: 422 });
  t.match((await guest.submit(page, 'Set the password', { password: PASSWORD })).text, /Your new password is set/);
  t.match(await guest.submit(page, 'Set the password', { password: PASSWORD }), { status: 410 }, 'the link is used');
  t.match(await guest.get(link), { status: 410, text: /does not work any more/ });
  t.match(await signedIn.get('/portal/account'), { title: /^Sign in/ }, 'all sessions have ended');
  t.match((await world.guest().signIn(login)).text, /wrong/, 'the old password, too');
  t.match(await (await world.visitor({ ...login, password: PASSWORD })).get('/portal/account'), {
    title: /^Your account/,
  });
  t.equal(world.sink.mails.filter(({ to }) => to === 'nobody@receiver.test').length, 0);
}

async function inviting(t: Test, world: PortalWorld) {
  const owner = await world.visitor();
  const at = '/portal/settings/members';
  const invite = async (email: string, role: string) =>
    owner.submit(await owner.get(at), `${at}/invite`, { email, role });
  t.match((await invite('neo@receiver.test', 'viewer')).text, /Invitation sent to neo@receiver\.test/);
  t.match(await invite('owner@acme.test', 'viewer'), { status: 422, text: /is already a member/ });
  t.match(
    await invite('x@receiver.test', 'operator'),
    { status: 422, text: /Choose a role/ },
    'no role above the tenant',
  );
  const { link } = await nextLetter(world.sink, 'neo@receiver.test', 0);

  const guest = world.guest();
  const page = await guest.get(link);
  t.match(page.text, /Join Acme/);
  t.match(page.text, /a viewer, who can view everything and change nothing/);
  const joined = await guest.submit(page, 'Join', { password: PASSWORD });
  t.equal(joined.path, '/portal', 'signed in');
  t.match((await guest.get('/portal/account')).text, /viewer of Acme/);
  t.match(await world.guest().get(link), { status: 410 }, 'the link is used');
  t.match((await owner.get(at)).text, /neo@receiver\.test.*viewer/);

  await invite('late@receiver.test', 'owner');
  const second = await nextLetter(world.sink, 'late@receiver.test', 0);
  const list = await owner.get(at);
  await owner.submit(list, list.forms.find(({ action }) => action.endsWith('/cancel'))!);
  t.match(await world.guest().get(second.link), { status: 410 }, 'cancelled');
}

async function signingUp(t: Test, world: PortalWorld) {
  const guest = world.guest();
  const form = { name: 'Rockets & Co', email: 'eve@receiver.test', password: PASSWORD };
  const page = await guest.get('/portal/sign-up');
  t.match(await guest.submit(page, '/portal/sign-up', { ...form, password: 'password1234' }), { status: 422 });
  t.match((await guest.submit(page, '/portal/sign-up', form)).text, /A mail is on its way to eve@receiver\.test/);
  const first = await nextLetter(world.sink, form.email, 0);
  t.notMatch(first.text, /Rockets/);
  t.match((await world.guest().signIn(form)).text, /Confirm your address first/);
  const { link } = await nextLetter(world.sink, form.email, 1);
  t.match(await guest.get(first.link), { status: 410 }, 'only the latest link holds');

  const confirm = await guest.get(link);
  t.match(
    await guest.submit(confirm, 'Confirm', { password: 'not this one' }),
    { status: 422 },
    'the password proves who signed up',
  );
  const inside = await guest.submit(confirm, 'Confirm', { password: PASSWORD });
  t.match(inside.text, /Your address is confirmed/);
  t.match((await guest.get('/portal/settings')).text, /in review/);
  t.match(await world.guest().get(link), { status: 410 });

  const told = await nextLetter(world.sink, 'ops@receiver.test', 0);
  t.match(told.text, /eve@receiver\.test has signed up as "Rockets & Co"/);
  const operator = await world.visitor(await world.addUser('operator'));
  const list = await operator.get(told.link);
  const tenant = list.links.find(({ text: name }) => name === 'Rockets & Co');
  t.ok(tenant, 'the operator finds the tenant behind the link');
}
