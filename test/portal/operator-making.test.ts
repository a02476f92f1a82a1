// What operators make in the portal: a tenant with a login, a domain and a key, until mail goes out; and how they find
// that mail again. All of it is in the audit log, and wrong input is refused in words.
import t from 'tap';
import { uuidToBytes } from '../../src/base/ids.ts';
import { withDatabase } from '../support/database.ts';
import type { Page } from '../support/page-reader.ts';
import { PortalVisitor, startPortal } from '../support/portal.ts';
import { publish, send } from '../support/world.ts';
import { HOSTILE } from './hostile-world.ts';

const world = await startPortal(t, {
  sink: { onRcpt: (address) => (address.startsWith('gone') ? { code: 550, text: `5.1.1 ${HOSTILE}` } : null) },
});
const { daemon, sender, dns } = world;
const operator = await world.visitor(await world.addUser('operator', 'jo@service.test'));
const TENANTS = '/portal/operator/tenants';

/** What is shown to be copied, by its name. */
function copied(page: Page, what: string): string {
  return new RegExp(`data-copy="([^"]*)" aria-label="Copy ${what}"`).exec(page.source)?.[1] ?? '';
}

const probes = (page: Page) => page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes);

t.test('from nothing to the first mail of a new tenant', async (t) => {
  const list = await operator.get(TENANTS);
  t.ok(list.links.some(({ href, text }) => href === `${TENANTS}/new` && text === 'New tenant'));
  const form = await operator.get(`${TENANTS}/new`);
  const tenant = await operator.submit(form, `${TENANTS}/new`, { name: 'Newton', status: 'active' });
  t.match(tenant.text, 'The tenant Newton was created. Add a login, a domain and a key.');
  const path = tenant.path;

  const loginForm = await operator.get(`${path}/logins/new`);
  const login = await operator.submit(loginForm, `${path}/logins/new`, { email: 'ann@newton.test', role: 'member' });
  const password = copied(login, 'the password');
  t.notMatch((await operator.get(path)).source, password, 'it is shown once');
  const ann = new PortalVisitor(`http://127.0.0.1:${daemon.httpPort}`);
  await ann.signIn({ email: 'ann@newton.test', password });
  t.match((await ann.get('/portal')).text, 'Newton');

  dns.addZone('newton.test');
  const domainForm = await operator.get(`${path}/domains/new`);
  const domain = await operator.submit(domainForm, `${path}/domains/new`, { domain: ' Newton.TEST. ' });
  t.match(domain.text, 'newton.test was added.');
  const [name, value] = [copied(domain, 'the name'), copied(domain, 'the value')];
  t.match(name, /\._domainkey\.newton\.test$/);
  publish(dns, [{ name, type: 'TXT', value }]);
  const verified = await operator.submit(domain, 'Check now');
  t.match(verified.text, 'newton.test is verified: its DKIM record is correct.');

  const keyForm = await operator.get(`${path}/keys/new`);
  t.same(keyForm.form(`${path}/keys/new`).fields.getAll('scopes'), ['emails:send'], 'what most programs need');
  const made = await operator.submit(keyForm, `${path}/keys/new`, { name: 'shop', domain: 'newton.test' });
  const key = copied(made, 'the API key');
  const mail = { from: 'hi@newton.test', to: 'joe@receiver.test', subject: 'Apples', text: 'They fall.' };
  const { status } = await daemon.call(key, 'POST /emails', { body: mail });
  t.equal(status, 202);

  const page = await operator.get(path);
  for (const seen of ['ann@newton.test member', 'newton.test verified', 'shop active emails:send newton.test']) {
    t.match(page.text, seen);
  }
  const log = (await operator.get('/portal/operator/audit')).text;
  for (const act of ['tenant created', 'user created', 'domain created', 'domain checked', 'key created']) {
    t.match(log, act);
  }
  t.notMatch(log, password);
  t.notMatch(world.postrider.everythingLogged, key);
  t.notMatch(world.postrider.everythingLogged, password);
  t.match((await ann.get('/portal/settings/audit')).text, /the operator key created/, 'and its people see it');
});

t.test('wrong input is refused in words, and stays in the form', async (t) => {
  const { id } = await world.postrider.json('tenant', 'create', '--name', HOSTILE);
  const path = `${TENANTS}/${id}`;
  const refused = async (where: string, fields: Record<string, string | string[]>) => {
    const page = await operator.submit(await operator.get(where), where, fields);
    t.equal(page.status, 422, page.text.slice(0, 200));
    t.same(probes(page), []);
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === 'string') t.equal(page.form(where).fields.get(name), value, name);
    }
    return page.text;
  };
  t.match(await refused(`${TENANTS}/new`, { name: ' ' }), 'Name must not be empty.');
  t.match(await refused(`${TENANTS}/new`, { name: 'x'.repeat(201) }), 'Name must have at most 200 characters.');
  t.match(
    await refused(`${path}/logins/new`, { email: 'owner@acme.test' }),
    'There is already a user owner@acme.test.',
  );
  t.match(await refused(`${path}/logins/new`, { email: HOSTILE }), /email/i);
  t.match(await refused(`${path}/domains/new`, { domain: 'no domain' }), /Domain must be/);
  t.match(await refused(`${path}/domains/new`, { domain: 'a.test', selector: '-' }), /Selector/);
  t.match(await refused(`${path}/keys/new`, { name: '' }), 'Name must not be empty.');
  t.match(await refused(`${path}/keys/new`, { name: 'k', scopes: ['everything'] }), /scope/i);
  const missing = await operator.submit(await operator.get(`${path}/domains/new`), `${path}/domains/new`, {
    domain: 'nothing.test',
  });
  t.match(
    (await operator.submit(missing, 'Check now')).text,
    /DNS was checked\. Publish the DKIM record.* failed not_found/,
  );
  for (const form of [`${TENANTS}/new`, `${path}/logins/new`]) {
    const page = await operator.get(form);
    const odd = await operator.submit(page, form, { name: 'A', email: 'a@b.test', status: 'odd', role: 'operator' });
    t.equal(odd.status, 422, 'no choice beyond those that are shown');
  }
});

t.test('what is in use comes first, and what is left out is told', async (t) => {
  const { id } = await world.postrider.json('tenant', 'create', '--name', 'Old');
  const path = `${TENANTS}/${id}`;
  const make = (name: string) =>
    world.postrider.json('key', 'create', '--tenant', String(id), '--name', name, '--scopes', 'emails:send');
  await make('first');
  // Nobody waits for a hundred: they are copies of the first one, revoked long ago.
  const copies = `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
    INSERT INTO api_keys (id, tenant_id, public_id, name, scopes, secret_hash, created_at, revoked_at)
    SELECT randomblob(16), tenant_id, public_id || n, 'gone ' || n, scopes, randomblob(32), created_at - n, created_at
    FROM api_keys, n WHERE tenant_id = ?`;
  withDatabase(world.postrider.databaseFile, (db) => db.prepare(copies).run(uuidToBytes(String(id))));
  await make('latest');
  const { text } = await operator.get(path);
  t.match(text, /latest active.*first active.*gone 1 revoked.*gone 98 revoked/);
  t.notMatch(text, 'gone 99');
  t.match(text, `Showing 100 of 102, newest first; postrider key list --tenant ${id} lists all.`);
});

t.test('mail of all tenants is found, finished mail too', async (t) => {
  const ids = await send(daemon, sender, ['gone@receiver.test', 'ok@receiver.test'], { subject: `Pears ${HOSTILE}` });
  await daemon.logged({ message_id: ids[0]!, fact: 'bounced' });
  await daemon.logged({ message_id: ids[1]!, fact: 'delivered' });
  const find = async (search: string) => operator.get(`/portal/operator/messages?${new URLSearchParams({ search })}`);
  const found = (page: Page) => page.links.flatMap(({ href }) => /queue\/([0-9a-f-]{36})$/.exec(href)?.[1] ?? []);
  const pears = await find('pears');
  t.same(found(pears).sort(), [...ids].sort());
  t.match(pears.text, /bounced gone@receiver\.test.*Acme/);
  t.same(probes(pears), []);
  t.same(found(await find('ok@receiver.test')), [ids[1]]);
  t.same(found(await find(ids[0]!.slice(20))), [ids[0]], 'the end of an ID');
  const both = await find('receiver.test');
  t.match(both.text, /Acme.*Newton|Newton.*Acme/s, 'of two tenants');
  const other = (await operator.get(TENANTS)).links
    .find(({ text }) => text === 'Newton')!
    .href.split('/')
    .at(-1)!;
  const only = await operator.get(`/portal/operator/messages?search=receiver.test&tenant=${other}`);
  t.equal(found(only).length, 1);
  t.match(only.text, 'Mail of Newton (of all tenants)');
  t.match((await find('nowhere@nowhere.test')).text, 'No message matches');
  t.match(
    (await operator.get(pears.links.find(({ text }) => text === 'gone@receiver.test')!.href)).text,
    'Finished as bounced',
  );
});

t.test('nobody else makes anything', async (t) => {
  const owner = await world.visitor();
  const form_token = (await owner.get('/portal')).form('/portal/sign-out').fields.get('form_token')!;
  const path = `${TENANTS}/${sender.tenantId}`;
  for (const form of [`${TENANTS}/new`, `${path}/logins/new`, `${path}/keys/new`, `${path}/domains/new`]) {
    t.equal((await owner.get(form)).status, 404, form);
    t.equal((await owner.raw('POST', form, { body: new URLSearchParams({ form_token }) })).status, 404, form);
  }
  t.equal((await owner.get('/portal/operator/messages?search=a')).status, 404);
  const nowhere = `${TENANTS}/01a1fa75-69d8-7000-b301-908cb7826839`;
  for (const form of [`${nowhere}/logins/new`, `${nowhere}/keys/new`, `${path}/domains/x`]) {
    t.equal((await operator.get(form)).status, 404, form);
  }
});
