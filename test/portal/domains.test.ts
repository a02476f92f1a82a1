// The pages of domains through a real daemon and a real DNS server: add, see what is expected and found, check,
// download, remove; wrong input, other people's ids, roles, and records that strangers have written.
import t from 'tap';
import { type PortalWorld, startPortal } from '../support/portal.ts';
import { until } from '../support/until.ts';
import { type DnsRecord, publish } from '../support/world.ts';
import { HOSTILE } from './hostile-world.ts';

const world: PortalWorld = await startPortal(t);
const { daemon, sender, dns } = world;
const owner = await world.visitor();
type Page = Awaited<ReturnType<typeof owner.get>>;
/** Checks of one domain are 10 s apart: what waits for them runs at the same time, each in a browser of its own. */
const WAITS = { buffered: true };
t.jobs = 4;

async function add(domain: string, selector = '', person = owner): Promise<Page> {
  const page = await person.submit(await person.get('/portal/domains'), '/portal/domains', { domain, selector });
  t.match(page.path, /^\/portal\/domains\/[0-9a-f-]{36}$/, page.text.slice(0, 300));
  return page;
}

async function recordsOf({ path }: Page): Promise<DnsRecord[]> {
  const { body } = await daemon.call(sender.key, `GET /domains/${path.split('/').at(-1)}`);
  return body.records as DnsRecord[];
}

const check = (page: Page, person = owner) => person.submit(page, 'Check now');
const part = (page: Page, kind: string) => page.texts((_name, { id }) => id === `found-${kind}`)[0] ?? '';
const copies = ({ source }: Page) => [...source.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text);

t.test('a domain from added to verified', WAITS, async (t) => {
  const person = await world.visitor();
  dns.addZone('shop.test');
  const added = await add(' Shop.TEST. ', '', person);
  t.match(added.text, 'shop.test was added. Now publish its DNS records.');
  t.equal(added.title, 'shop.test · Postrider', 'as people write it, and as it is kept');
  t.match(added.text, 'not verified yet');
  const records = await recordsOf(added);
  const host = records[0]!.name.replace('.shop.test', '');
  for (const text of [host, '@', '_dmarc', ...records.flatMap(({ name, value }) => [name, value])]) {
    t.ok(copies(added).includes(text), `${text.slice(0, 60)} can be copied`);
  }
  t.match(added.text, /If your provider refuses it as too long .* 2 strings in one record/);

  const missing = await check(added, person);
  t.match(
    missing.source,
    '<p class="notice warn" role="status">DNS was checked. Publish the DKIM record as a TXT record at',
  );
  t.match(part(missing, 'dkim'), /^In DNS: missing/);
  t.match(missing.text, 'failed Can’t send: the DKIM record is missing.');

  publish(dns, records);
  const verified = await check(missing, person);
  t.match(verified.text, 'shop.test is verified: its DKIM record is correct.');
  for (const kind of ['dkim', 'spf', 'dmarc']) t.match(part(verified, kind), /^In DNS: OK/);
  t.equal(verified.texts((_name, attributes) => 'data-poll' in attributes).length, 0, 'nothing is waited for');
  t.match((await person.get('/portal/domains')).text, /shop\.test verified Ready to send since/);
  const body = { from: 'a@shop.test', to: 'joe@receiver.test', subject: 'Hi', text: 'Hi' };
  t.equal((await daemon.call(sender.key, 'POST /emails', { body })).status, 202);
});

t.test('records that are wrong are shown with what to change', WAITS, async (t) => {
  const person = await world.visitor();
  dns.addZone('wrong.test');
  const added = await add('wrong.test', '', person);
  const [dkim, spf, dmarc] = await recordsOf(added);
  dns.set(dkim!.name, 'TXT', [dkim!.value.slice(0, 255)]);
  dns.set(spf!.name, 'TXT', ['v=spf1 include:_spf.other.test -all']);
  dns.set(dmarc!.name, 'TXT', ['v=DMARC1; p=reject']);
  const wrong = await check(added, person);
  t.match(
    part(wrong, 'dkim'),
    /incorrect .* The value is truncated: 253 of \d+ characters are present\. Many DNS forms keep only the first 255/,
  );
  t.match(part(wrong, 'spf'), 'Change your SPF record to this');
  const include = spf!.value.split(' ')[1];
  t.ok(copies(wrong).includes(`v=spf1 ${include} include:_spf.other.test -all`), 'merged');
  t.match(part(wrong, 'dmarc'), /^In DNS: OK .* Your policy stays as it is/);
  t.match(
    copies(wrong).find((text) => text?.startsWith('v=DMARC1; p=reject;')),
    /rua=mailto:/,
  );
});

t.test('an open page looks by itself', WAITS, async (t) => {
  const person = await world.visitor();
  dns.addZone('waits.test');
  const added = await add('waits.test', '', person);
  t.same(added.texts((_name, attributes) => attributes['data-poll'] === added.path).length, 1);
  const first = await until('it to be shown', async () => {
    const page = await person.get(added.path);
    return part(page, 'dkim').startsWith('In DNS: missing') ? page : null;
  });
  t.match(first.text, 'not verified yet Waiting for its DKIM record.', 'nothing is held against it');
  publish(dns, await recordsOf(added));
  await until('it to be shown', async () =>
    (await person.get(added.path)).text.includes('Ready to send since') ? true : null,
  );
});

t.test('what strangers write into DNS stays text', WAITS, async (t) => {
  const person = await world.visitor();
  dns.addZone('hostile.test');
  const added = await add('hostile.test', '', person);
  const [dkim, spf] = await recordsOf(added);
  dns.set(dkim!.name, 'TXT', [`v=DKIM1; p=${HOSTILE}`, ...Array.from({ length: 19 }, () => `v=DKIM1; p=${HOSTILE}`)]);
  dns.set(spf!.name, 'TXT', [`v=spf1 ${HOSTILE.replaceAll(' ', '')} ~all`]);
  const page = await check(added, person);
  t.equal(page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes).length, 0);
  t.match(part(page, 'dkim'), 'There are 20 records of this kind');
  t.match(part(page, 'dkim'), 'and 15 more');
  t.match(part(page, 'spf'), /Correct ".*it is not valid SPF/);
  t.notMatch(part(page, 'spf'), 'Change your SPF record', 'nothing to copy with the mistake in it');
  t.ok(page.source.length < 50_000, `${page.source.length} bytes`);
});

t.test('where too many checks of a zone wait, none is said to have been made', WAITS, async (t) => {
  const person = await world.visitor();
  dns.addZone('busy.test');
  const added = await add('late.busy.test', '', person);
  const ids = [];
  for (let index = 0; index < 9; index++) {
    const { body } = await daemon.call(sender.key, 'POST /domains', { body: { domain: `d${index}.busy.test` } });
    ids.push(body.id);
  }
  // Five at once, three wait ten seconds and longer, and the ninth is refused.
  const refused = Promise.withResolvers<void>();
  for (const id of ids) {
    const call = daemon.call(sender.key, `POST /domains/${id}/verify`);
    call.then(({ status }) => status === 500 && refused.resolve(), refused.reject);
  }
  await refused.promise;
  const page = await check(added, person);
  t.match(
    page.text,
    'DNS was not checked. Several verifications of names in this zone are already waiting. Retry later.',
  );
  t.match(part(page, 'dkim'), /^In DNS: (?:not checked yet|missing)/);
  const audit = await person.get('/portal/settings/audit');
  t.notMatch(audit.text, 'internal_error');
});

t.test('records for a subdomain, and as a zone file', async (t) => {
  dns.addZone('sub.acme.co.uk');
  const added = await add('sub.acme.co.uk', 'Own1');
  t.ok(copies(added).includes('own1._domainkey.sub'));
  t.match(
    added.text,
    'in the zone acme.co.uk; most providers add .acme.co.uk automatically. If sub.acme.co.uk is a separate zone: own1._domainkey.',
  );
  const file = await owner.get(added.links.find(({ href }) => href.endsWith('/zone-file'))!.href);
  t.equal(file.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.equal(file.headers.get('content-disposition'), 'attachment; filename="sub.acme.co.uk.zone"');
  t.match(file.source, /^own1\._domainkey\.sub\.acme\.co\.uk\. 3600 IN TXT "v=DKIM1; .{239,}" ".+"$/m);
});

t.test('a domain is removed, and can be added anew', async (t) => {
  const added = await add('gone.test');
  const removed = await owner.submit(added, 'Remove domain');
  t.match(removed.text, 'gone.test was removed.');
  t.match(removed.text, 'Removed domains (1)');
  const shown = await owner.get(added.path);
  t.match(shown.text, 'removed');
  t.same(
    shown.forms.map(({ action }) => action),
    ['/portal/sign-out'],
    'nothing can be done with it',
  );
  t.equal((await owner.get(`${added.path}/zone-file`)).status, 404);
  t.equal((await owner.submit(added, 'Remove domain')).status, 404);
  t.equal((await owner.submit(added, 'Check now')).status, 404);
  t.not((await add('gone.test')).path, added.path);
});

t.test('what is refused is said', async (t) => {
  const refused = async (domain: string, selector = '') => {
    const page = await owner.submit(await owner.get('/portal/domains'), '/portal/domains', { domain, selector });
    t.equal(page.status, 422, domain);
    t.equal(page.texts((name) => name === 'xss-probe').length, 0);
    return page;
  };
  t.match((await refused('')).text, 'Domain must be a domain name');
  t.match(
    (await refused('acme.test')).text,
    /Domain acme\.test is already registered and verified \(ID [0-9a-f-]{36}\)/,
  );
  t.match((await refused('localhost')).text, 'Domain must have at least two labels');
  t.match((await refused('192.0.2.1')).text, 'not an IP address');
  t.match((await refused('mail.postrider.test')).text, 'belongs to this service itself');
  t.match((await refused('new.test', '-x')).text, 'Selector must be DNS labels');
  const hostile = await refused(HOSTILE);
  t.equal(hostile.form('/portal/domains').fields.get('domain'), HOSTILE.trim().toLowerCase(), 'what was entered stays');
  t.match((await add('müller.test')).title, 'xn--mller-kva.test', 'with umlauts');
});

t.test('a viewer looks, a stranger sees nothing', async (t) => {
  const added = await add('roles.test');
  const viewer = await world.visitor(await world.addUser('viewer'));
  const seen = await viewer.get(added.path);
  t.equal(seen.status, 200);
  t.same(
    seen.forms.map(({ action }) => action),
    ['/portal/sign-out'],
  );
  t.same(
    (await viewer.get('/portal/domains')).forms.map(({ action }) => action),
    ['/portal/sign-out'],
  );
  const form_token = seen.form('/portal/sign-out').fields.get('form_token')!;
  for (const action of ['/portal/domains', `${added.path}/check`, `${added.path}/remove`]) {
    const body = new URLSearchParams({ form_token, domain: 'viewer.test' });
    t.equal((await viewer.raw('POST', action, { body })).status, 403, action);
  }
  const { id } = await world.postrider.json('tenant', 'create', '--name', 'Other', '--status', 'active');
  const people = ['--tenant', String(id), '--email', 'owner@other.test', '--role', 'owner'];
  const { password } = await world.postrider.json('user', 'create', ...people);
  const stranger = await world.visitor({ email: 'owner@other.test', password: String(password) });
  const token = (await stranger.get('/portal/domains')).form('/portal/sign-out').fields.get('form_token')!;
  for (const path of [added.path, `${added.path}/zone-file`, '/portal/domains/nonsense']) {
    t.equal((await stranger.get(path)).status, 404, path);
  }
  for (const action of [`${added.path}/check`, `${added.path}/remove`]) {
    const body = new URLSearchParams({ form_token: token });
    t.equal((await stranger.raw('POST', action, { body })).status, 404, action);
  }
  t.match((await owner.get(added.path)).text, 'not verified yet', 'untouched');
});
