// What the audit log has beside changes: sign-outs, exports, requested resets, failed sign-ins; and the mails to owners.
import t, { type Test } from 'tap';
import { type PortalVisitor, startPortal } from '../support/portal.ts';
import { nextLetter } from './next-letter.ts';

async function signOut(visitor: PortalVisitor) {
  return visitor.submit(await visitor.get('/portal'), '/portal/sign-out');
}

t.test('what people do without changing a thing', async (t: Test) => {
  const world = await startPortal(t);
  const owner = await world.visitor();
  await (await owner.raw('GET', '/portal/suppressions/export')).body?.cancel();
  await signOut(owner);
  const guest = world.guest();
  await guest.signIn({ ...world.owner, password: 'hunter2' });
  await guest.submit(await guest.get('/portal/reset'), '/portal/reset', { email: world.owner.email });
  // The reset is worked on after its answer.
  const reader = await world.visitor();
  const read = async () => (await reader.get('/portal/settings/audit')).text;
  let log = await read();
  while (!log.includes('user reset asked')) log = await read();
  for (const entry of ['suppression exported', 'user signed out', 'user sign in failed']) t.match(log, entry);
  t.notMatch(log, 'hunter2');
});

t.test('owners are told of a new key and a new webhook', async (t: Test) => {
  const world = await startPortal(t);
  await world.addUser('owner', 'boss@receiver.test');
  const member = await world.visitor(await world.addUser('member'));
  const form = await member.get('/portal/keys/new');
  const made = await member.submit(form, '/portal/keys/new', { name: 'listener', scopes: 'webhooks:write' });
  t.equal(made.status, 200);
  const boss = 'boss@receiver.test';
  t.match((await nextLetter(world.sink, boss, 0)).text, /API key[\s\S]*created by member@acme\.test:\s+listener/);
  const [key] = /pr_\w+_\w+/.exec(made.source)!;
  const added = await world.daemon.call(key, 'POST /webhooks', { body: { url: 'https://hooks.example.com/x' } });
  if (added.status !== 201) throw new Error(`the webhook was refused: ${added.status}`);
  const { text, link } = await nextLetter(world.sink, boss, 1);
  t.match(text, /the API key "listener[\s\S]*hooks\.example\.com/);
  t.equal(link, '/portal/webhooks');
});
