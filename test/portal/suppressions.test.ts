// The pages of the suppression list: search, add, remove, import by file and by pasted text, export; and
// that nobody changes another tenant's.
import t from 'tap';
import type { Page } from '../support/page-reader.ts';
import { type PortalVisitor, startPortal } from '../support/portal.ts';
import { registerSender, send } from '../support/world.ts';

const LIST = '/portal/suppressions';
const MARKUP = '<xss-probe></xss-probe>';

function addresses(page: Page): string[] {
  return page.texts((name) => name === 'code').filter((text) => text.includes('@'));
}

/** As a browser sends a form with a file. */
async function upload(visitor: PortalVisitor, content: string | Buffer, fields: Record<string, string> = {}) {
  const page = await visitor.get(`${LIST}/import`);
  const body = new FormData();
  for (const [name, value] of page.form('Import').fields) body.set(name, fields[name] ?? value);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set('file', new Blob([content]), `list ${MARKUP}.csv`);
  const answer = await visitor.raw('POST', `${LIST}/import`, { body });
  const source = await answer.text();
  return { status: answer.status, source, to: answer.headers.get('location') };
}

t.test('suppressions', async (t) => {
  const world = await startPortal(t, {
    sink: { onRcpt: (address) => (address.startsWith('gone') ? { code: 550, text: '5.1.1 no such user' } : null) },
  });
  const { daemon, sender, postrider } = world;
  const visitor = await world.visitor();
  const listOf = async (fields: Record<string, string> = {}) =>
    addresses(await visitor.get(`${LIST}?${new URLSearchParams(fields)}`));
  const add = async (address: string) => visitor.submit(await visitor.get(LIST), `${LIST}/add`, { address });
  const remove = async (page: Page, address: string) => {
    const form = page.forms.find(
      ({ action, fields }) => action === `${LIST}/remove` && fields.get('address') === address,
    );
    return visitor.submit(page, form!);
  };

  await t.test('an empty list says what to do', async (t) => {
    const page = await visitor.get(LIST);
    t.match(page.text, /The list is empty.*import its list first/);
  });

  await t.test('an address is added by hand, and its mail is not accepted', async (t) => {
    const page = await add(' Jo@Ümlaut.test ');
    t.match(page.text, /jo@xn--mlaut-jva.test was added to the list/);
    t.same(addresses(page), ['jo@xn--mlaut-jva.test'], 'shown as it stands in the list');
    t.match(page.text, /added manually/);
    t.match((await add('jo@ümlaut.test')).text, /was already on the list/);
    const body = { from: `app@${sender.domain}`, to: 'JO@ümlaut.test', subject: 'x', text: 'x' };
    t.match(await daemon.call(sender.key, 'POST /emails', { body }), { status: 422 });
  });

  await t.test('what is no address is shown again with the reason', async (t) => {
    const page = await add(`a ${MARKUP}@x.test`);
    t.equal(page.status, 422);
    t.notMatch(page.source, /<xss-probe/);
    t.match(page.source, /aria-invalid="true"/);
    t.equal(page.form(`${LIST}/add`).fields.get('address'), `a ${MARKUP}@x.test`);
  });

  await t.test('a hard bounce comes by itself, with its message; removing it tells what still holds', async (t) => {
    const [id] = await send(daemon, sender, 'gone@receiver.test');
    await daemon.until(() => daemon.find({ fact: 'bounced', message_id: id! }).length > 0, 'the bounce');
    const page = await visitor.get(`${LIST}?reason=hard_bounce`);
    t.same(
      addresses(page).filter((address) => address.startsWith('gone')),
      ['gone@receiver.test'],
    );
    t.ok(
      page.links.some(({ href }) => href === `/portal/messages/${id}`),
      'the message',
    );
    t.match(page.text, /If that has not changed, the next message bounces again/);
    const after = await remove(page, 'gone@receiver.test');
    t.match(
      after.text,
      /gone@receiver.test is no longer on the list. Mail to it is still not accepted: it is on the service-wide list/,
    );
    t.same(await listOf({ search: 'gone' }), []);
    t.match((await remove(page, 'gone@receiver.test')).text, /is not on the list/);
    const searched = await visitor.get('/portal/messages?search=gone%40receiver.test');
    t.match(searched.text, /Mail to gone@receiver.test is not accepted: it is on the service-wide list .* operator/);
  });

  await t.test('a file is imported: reasons of its own, entries that are there keep theirs', async (t) => {
    const csv =
      'Email;Reason;created_at\r\nann@x.test;complaint;2026-01-01T00:00:00Z\r\n"Bob@X.test";;\r\njo@ümlaut.test;complaint;';
    const answer = await upload(visitor, csv, { reason: 'unsubscribe' });
    t.match(answer, { status: 303, to: LIST });
    const page = await visitor.get(LIST);
    t.match(page.text, /2 addresses were added. 1 was already on the list and keeps its reason./);
    t.same(addresses(page), ['ann@x.test', 'bob@x.test', 'jo@xn--mlaut-jva.test']);
    t.same(await listOf({ reason: 'unsubscribe' }), ['bob@x.test']);
    t.same(await listOf({ reason: 'complaint', search: 'ANN' }), ['ann@x.test']);
    t.same(await listOf({ reason: 'manual', search: 'ann' }), []);
    t.same(await listOf({ search: 'Jo@Ümlaut.test' }), ['jo@xn--mlaut-jva.test']);
    const searched = await visitor.get(`${LIST}?search=${encodeURIComponent('Jo@Ümlaut.test')}`);
    t.equal(searched.form(LIST).fields.get('search'), 'Jo@Ümlaut.test', 'as it was typed');
  });

  await t.test('columns that are ignored are named', async (t) => {
    const many = Array.from({ length: 12 }, (_, at) => `c${at}`).join(',');
    const csv = (names: string) => `Recipient,SuppressionReason,${names}\nz6@x.test,SpamComplaint\n`;
    t.match(await upload(visitor, csv(`Origin,${MARKUP}`)), { status: 303, to: LIST });
    const page = await visitor.get(LIST);
    t.match(page.text, /1 address was added. Ignored columns: Origin, <xss-probe/);
    t.notMatch(page.source, /<xss-probe/);
    t.same(await listOf({ reason: 'complaint', search: 'z6' }), ['z6@x.test']);
    await upload(visitor, csv(many));
    t.match((await visitor.get(LIST)).text, /Ignored columns: c0, .*, c9 and 2 more\./);
    await visitor.submit(page, `${LIST}/remove`, { address: 'z6@x.test' });
  });

  await t.test('one bad line stops an import, unless such lines are to be left out', async (t) => {
    const csv = `address,reason\ngood@x.test,manual\nbad ${MARKUP},manual\nother@x.test,${MARKUP}\n`;
    const stopped = await upload(visitor, csv);
    t.equal(stopped.status, 422);
    t.match(stopped.source, /Nothing was imported/);
    t.match(stopped.source, /line 3: &quot;bad &lt;xss-probe/);
    t.match(stopped.source, /line 4: .* must be one of hard_bounce/);
    t.notMatch(stopped.source, /<xss-probe/);
    t.same(await listOf({ search: 'good' }), []);
    t.match(await upload(visitor, csv, { skip: 'on' }), { status: 303 });
    const page = await visitor.get(LIST);
    t.match(page.text, /1 address was added. 2 lines were skipped./);
  });

  await t.test('pasted text, with and without names of columns', async (t) => {
    const paste = async (pasted: string) =>
      visitor.submit(await visitor.get(`${LIST}/import`), `${LIST}/import`, { pasted, reason: 'complaint' });
    t.match((await paste('p1@x.test\n\n p2@x.test \n')).text, /2 addresses were added/);
    t.match((await paste('address\np3@x.test')).text, /1 address was added/);
    t.same(await listOf({ search: 'p', reason: 'complaint' }), ['p1@x.test', 'p2@x.test', 'p3@x.test']);
    const wrong = await paste(`p4@x.test\n${MARKUP}\n`);
    t.equal(wrong.status, 422);
    t.equal(
      wrong.form(`${LIST}/import`).fields.get('pasted'),
      `p4@x.test\n${MARKUP}\n`,
      'nothing has to be typed again',
    );
    t.equal(wrong.form(`${LIST}/import`).fields.get('reason'), 'complaint');
    const many = await paste(`${'x@x.test\n'.repeat(60_000)}no address`);
    t.match(many.text, /some lines are invalid.*Paste the addresses once more: so many are not sent back/);
    t.equal(many.form(`${LIST}/import`).fields.get('pasted'), '');
    t.match((await paste('   ')).text, /Choose a file, or paste/);
    t.match((await paste('name,phone\nx,y')).text, /there is no column "address"/);
  });

  await t.test('hostile files', async (t) => {
    t.match(await upload(visitor, Buffer.from([0xff, 0xfe, 0x00, 0x41])), { status: 422, source: /not UTF-8 text/ });
    t.match(await upload(visitor, `address\n${'"'.repeat(200_001)}`), { status: 422 }, 'quotes that never close');
    t.match(await upload(visitor, `address\n${','.repeat(500_000)}`), { status: 422 }, 'very many cells');
    const long = await upload(visitor, `address\n${'x@x.test\n'.repeat(100_001)}`);
    t.match(long, { status: 422, source: /more than 100,000 lines/ });
    t.match(await upload(visitor, 'x'.repeat(5 * 1024 * 1024 + 1)), { status: 413 });
    t.equal((await visitor.get(LIST)).status, 200, 'all is well');
  });

  await t.test('long lists come in pages', async (t) => {
    const many = Array.from({ length: 60 }, (_, at) => `m${String(at).padStart(2, '0')}@many.test`);
    await upload(visitor, `address\n${many.join('\n')}`, { reason: 'unsubscribe' });
    const first = await visitor.get(`${LIST}?search=m&reason=unsubscribe`);
    t.equal(addresses(first).length, 50);
    const next = first.links.find(({ text }) => text === 'More addresses')!.href;
    t.same([...addresses(first), ...addresses(await visitor.get(next))], many);
  });

  await t.test('what is exported can be imported, and is what the command line exports', async (t) => {
    const answer = await visitor.raw('GET', `${LIST}/export`);
    t.match(answer.headers.get('content-type'), /^text\/csv/);
    t.match(answer.headers.get('content-disposition'), /^attachment; filename="suppressions-\d{4}-\d\d-\d\d.csv"$/);
    const csv = await answer.text();
    const { csv: same } = await postrider.json('suppression', 'export', '--tenant', sender.tenantId);
    t.equal(csv, same);
    t.match(await upload(visitor, csv), { status: 303 });
    t.match((await visitor.get(LIST)).text, /0 addresses were added/);
  });

  await t.test('viewers look, and change nothing', async (t) => {
    const viewer = await world.visitor(await world.addUser('viewer'));
    const page = await viewer.get(LIST);
    t.equal(page.status, 200);
    t.same(
      page.forms.filter(({ action }) => action.startsWith(LIST) && action !== LIST),
      [],
    );
    const form_token = (await viewer.get(LIST)).form('/portal/sign-out').fields.get('form_token')!;
    const body = new URLSearchParams({ form_token, address: 'ann@x.test' });
    for (const path of ['add', 'remove', 'import']) {
      t.equal((await viewer.raw('POST', `${LIST}/${path}`, { body })).status, 403, path);
    }
  });

  await t.test("another tenant's list is another list", async (t) => {
    const other = await registerSender(world, daemon, { name: 'Other', domain: 'other.test' });
    const boss = ['--tenant', other.tenantId, '--role', 'owner', '--email', 'boss@other.test'];
    const { password } = await postrider.json('user', 'create', ...boss);
    const stranger = await world.visitor({ email: 'boss@other.test', password: String(password) });
    const page = await stranger.get(LIST);
    t.same(addresses(page), []);
    const fields = page.form(`${LIST}/add`).fields;
    fields.set('address', 'ann@x.test');
    await (await stranger.raw('POST', `${LIST}/remove`, { body: fields })).body?.cancel();
    t.same(await listOf({ search: 'ann' }), ['ann@x.test']);
  });

  await t.test('every change is written down', async (t) => {
    const page = await visitor.get('/portal/settings/audit');
    for (const action of ['added', 'removed', 'imported']) t.match(page.source, new RegExp(`suppression.${action}`));
  });
});
