// Mail for later in the portal: shown with its time, moved, sent at once and canceled by those who may send.
import t from 'tap';
import { startPortal } from '../support/portal.ts';
import { registerSender, send } from '../support/world.ts';

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
/** As the page shows it, and as its field takes it. */
const shown = (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`;
const typed = (time: string) => time.slice(0, 16);

t.test('scheduled', async (t) => {
  const world = await startPortal(t);
  const { daemon, sender, postrider } = world;
  const visitor = await world.visitor(await world.addUser('member'));
  const soon = inHours(2);
  const [ann, bo] = await send(daemon, sender, ['ann@receiver.test', 'bo@receiver.test'], { send_at: soon });
  const path = `/portal/messages/${ann}`;

  await t.test('the page and the list say so', async (t) => {
    const page = await visitor.get(path);
    t.match(page.text, 'scheduled Waiting for the time that it was scheduled for.');
    t.match(page.text, `Scheduled for ${shown(soon)}`);
    t.match(page.text, 'Your call asked for this time.');
    t.notMatch(page.text, 'Postrider retries automatically');
    const list = await visitor.get('/portal/messages?state=scheduled');
    t.match(list.text, /ann@receiver\.test/);
    t.notMatch((await visitor.get('/portal/messages?state=queued')).text, /ann@receiver\.test/);
  });

  await t.test('it gets another time, with all recipients of its call', async (t) => {
    const later = inHours(5);
    const page = await visitor.submit(await visitor.get(path), `${path}/move`, { at: typed(later) });
    t.match(page.text, `It will be sent at ${shown(later)}.`);
    t.match((await visitor.get(`/portal/messages/${bo}`)).text, `Scheduled for ${shown(later)}`);
    for (const [at, problem] of [
      [typed(inHours(-2)), 'The time is more than 5 minutes in the past.'],
      [typed(inHours(31 * 24)), 'The time must be at most 30 days ahead.'],
      ['tomorrow', 'The time must be an RFC 3339 time'],
    ] as const) {
      t.match((await visitor.submit(await visitor.get(path), `${path}/move`, { at })).text, problem);
    }
    t.match((await visitor.get(path)).text, `Scheduled for ${shown(later)}`, 'as it was');
  });

  await t.test('viewers and strangers do not touch it', async (t) => {
    const viewer = await world.visitor(await world.addUser('viewer'));
    const page = await viewer.get(path);
    t.match(page.text, 'Scheduled for');
    t.same(
      page.forms.filter(({ action }) => action.startsWith(path)),
      [],
    );
    const body = new URLSearchParams((await visitor.get(path)).form('Cancel it').fields);
    t.equal((await viewer.raw('POST', `${path}/cancel`, { body })).status, 403);
    const other = await registerSender(world, daemon, { name: 'Rival', domain: 'rival.test' });
    const rights = ['--tenant', other.tenantId, '--role', 'member', '--email', 'jo@rival.test'];
    const { password } = await postrider.json('user', 'create', ...rights);
    const stranger = await world.visitor({ email: 'jo@rival.test', password: String(password) });
    const own = (await send(daemon, other, 'jo@receiver.test', { send_at: soon }))[0]!;
    const theirs = await stranger.get(`/portal/messages/${own}`);
    for (const what of ['move', 'cancel']) {
      const fields = new URLSearchParams([...theirs.form('Cancel it').fields, ['now', 'yes']]);
      t.equal((await stranger.raw('POST', `${path}/${what}`, { body: fields })).status, 404, what);
    }
    t.match((await visitor.get(path)).text, 'Scheduled for');
  });

  await t.test('one recipient is canceled with the others', async (t) => {
    const page = await visitor.submit(await visitor.get(path), `${path}/cancel`);
    t.match(page.text, 'Canceled: 2 of 2 messages.');
    t.match(page.text, 'canceled Canceled before it was sent.');
    t.match(page.text, /Canceled .* canceled by its sender/);
    const again = await daemon.call(sender.key, `GET /emails/${bo}`);
    t.match(again.body, { state: 'canceled' });
    t.equal(page.forms.filter(({ action }) => action.startsWith(path)).length, 0, 'nothing is left to do');
  });

  await t.test('it is sent at once', async (t) => {
    const [id] = await send(daemon, sender, 'now@receiver.test', { send_at: inHours(700) });
    const at = `/portal/messages/${id}`;
    const page = await visitor.submit(await visitor.get(at), `${at}/move`, { now: 'yes' });
    t.match(page.text, 'It is being sent.');
    await daemon.logged({ message_id: id!, fact: 'delivered' });
    t.match((await visitor.get(at)).text, 'delivered');
  });

  await t.test('the log has who did it', async (t) => {
    const log = (await (await world.visitor()).get('/portal/settings/audit')).text;
    t.match(log, 'submission moved');
    t.match(log, 'submission canceled');
  });
});
