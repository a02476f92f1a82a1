// What the page of a domain says of automatic checks, to somebody who may have it checked and to somebody who may not:
// where they are on, and where the operator has turned them off.
import t, { type Test } from 'tap';
import { type PortalWorld, startPortal } from '../support/portal.ts';

/** The page as a member and as a viewer see it. */
async function pagesOf(world: PortalWorld) {
  world.dns.addZone('shop.test');
  const member = await world.visitor();
  const form = await member.get('/portal/domains');
  const { path, text } = await member.submit(form, '/portal/domains', { domain: 'shop.test' });
  const viewer = await world.visitor(await world.addUser('viewer'));
  const id = path.split('/').at(-1);
  const { body } = await world.daemon.call(world.sender.key, `GET /domains/${id}`);
  const twoWeeksOn = Date.parse(String(body.created_at)) + 14 * 86_400_000;
  const until = new Date(twoWeeksOn).toISOString().slice(0, 16).replace('T', ' ');
  return { member: text, viewer: (await viewer.get(path)).text, until };
}

t.test('on: until two weeks after the registration, and at once while the page is open', async (t: Test) => {
  const { member, viewer, until } = await pagesOf(await startPortal(t));
  t.match(member, `while this page is open, and after that from time to time until ${until} UTC.`);
  t.match(viewer, `Postrider checks for them automatically from time to time until ${until} UTC.`);
});

t.test('off: only while the page is open', async (t: Test) => {
  const { member, viewer } = await pagesOf(await startPortal(t, { settings: { domains: { recheck: false } } }));
  t.match(member, 'Postrider checks for them automatically while this page is open. ');
  t.match(viewer, 'They are checked when a member or an owner of the account opens this page.');
  for (const page of [member, viewer]) t.notMatch(page, 'from time to time');
});
