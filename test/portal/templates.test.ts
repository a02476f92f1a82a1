// Templates in the portal, through a real daemon and without script: written, previewed, changed, deleted;
// what is wrong is shown at its place; hostile ones are stopped with a reason; each tenant its own.
import Database from 'better-sqlite3';
import t from 'tap';
import type { Page } from '../support/page-reader.ts';
import { type PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';
import { HOSTILE } from './hostile-world.ts';

const world: PortalWorld = await startPortal(t);
const { daemon, sender, postrider } = world;
const owner = await world.visitor();
const PREVIEW = '/portal/templates/preview';

async function addTemplate(name: string, html: string): Promise<string> {
  const scopes = ['--name', 'templates', '--scopes', 'templates:write'];
  const { key } = await postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  const answer = await daemon.call(String(key), 'POST /templates', { body: { name, html } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return String(answer.body.id);
}

type Fields = Record<string, string>;

/** What the button Preview does: the fields of the form, sent to another address. */
async function preview(page: Page, changes: Fields = {}, visitor: PortalVisitor = owner): Promise<Page> {
  const form = page.form('Preview');
  return visitor.submit(page, { ...form, action: PREVIEW }, changes);
}

function frameOf(page: Page): string {
  return /<iframe [^>]*sandbox="allow-same-origin" [^>]*src="([^"]+)"/.exec(page.source)?.[1] ?? 'no frame';
}

t.test('a template is written, previewed, kept, changed and deleted', async (t) => {
  const list = await owner.get('/portal/templates');
  t.match(list.text, 'No templates yet');
  const form = await owner.get('/portal/templates/new');
  const written = { name: 'Welcome', html: '<p>Hi {{ who }}</p>\r\n<b>!</b>', text: '', data: '{"who": "A & B"}' };
  const previewed = await preview(form, written);
  t.equal(previewed.status, 200);
  t.equal(previewed.form('Preview').fields.get('name'), 'Welcome', 'what was written stays');
  const framed = await owner.get(frameOf(previewed));
  t.equal(framed.source, '<p>Hi A &amp; B</p>\n<b>!</b>');
  const policy = framed.headers.get('content-security-policy') ?? '';
  for (const part of [
    'sandbox allow-same-origin;',
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ])
    t.match(policy, part);
  t.notMatch(policy, /script-src|allow-(?!same-origin;)/);
  t.match(framed.headers.get('cache-control'), /no-store/);
  t.match((await owner.get('/portal/templates')).text, 'No templates yet', 'nothing is kept by a preview');

  const kept = await owner.submit(previewed, '/portal/templates/new');
  t.match(kept.text, 'Template created.');
  t.match(kept.text, 'in the portal by owner@acme.test');
  const id = kept.path.split('/').at(-1)!;
  const { body } = await daemon.call(sender.key, `GET /templates/${id}`);
  t.match(body, { name: 'Welcome', html: '<p>Hi {{ who }}</p>\n<b>!</b>', text: null });

  const changed = await owner.submit(kept, `/portal/templates/${id}`, { name: 'Welcome 2', text: 'Hi {{ who }}' });
  t.match(changed.text, 'Changes saved.');
  const next = await owner.get('/portal/templates');
  t.match(next.text, /Welcome 2 HTML and text/);
  const gone = await owner.submit(changed, `/portal/templates/${id}/delete`);
  t.match(gone.text, 'Template deleted.');
  t.equal((await owner.get(`/portal/templates/${id}`)).status, 404);
  t.equal((await owner.submit(changed, `/portal/templates/${id}`)).status, 404);

  const db = new Database(postrider.databaseFile, { readonly: true });
  const audit = db.prepare(`SELECT action, data FROM audit WHERE action LIKE 'template.%' ORDER BY seq`).all();
  db.close();
  t.match(audit, [
    { action: 'template.created', data: new RegExp(id) },
    { action: 'template.changed', data: /Welcome 2/ },
    { action: 'template.deleted', data: new RegExp(id) },
  ]);
});

t.test('a subject is written, previewed, kept and sent', async (t) => {
  const form = await owner.get('/portal/templates/new');
  const written = { name: 'Subject', subject: 'Hi {{ who }}', html: '', text: 'x', data: '{"who": "<A>"}' };
  const previewed = await preview(form, written);
  t.match(previewed.text, 'Hi <A>');
  t.match(previewed.source, '<strong>Hi &lt;A&gt;</strong>');
  t.match((await preview(form, { ...written, data: '{"who": "a\\nb"}' })).text, /Subject: produces control characters/);
  const broken = await owner.submit(form, '/portal/templates/new', { ...written, subject: 'Hi {{ who' });
  t.equal(broken.status, 422);
  t.match(broken.text, /Subject, line 1, column 4:/);
  const kept = await owner.submit(previewed, '/portal/templates/new');
  const id = kept.path.split('/').at(-1)!;
  t.equal(kept.form(`/portal/templates/${id}`).fields.get('subject'), 'Hi {{ who }}');
  t.match(kept.form(`/portal/templates/${id}`).fields.get('data'), /"who"/, 'its names are in the sample');
  t.equal((await daemon.call(sender.key, `GET /templates/${id}`)).body.subject, 'Hi {{ who }}');
  const viewer = await world.visitor(await world.addUser('viewer', 'looks@acme.test'));
  t.match((await viewer.get(`/portal/templates/${id}`)).text, 'Hi {{ who }}');
  const cleared = await owner.submit(kept, `/portal/templates/${id}`, { subject: ' ' });
  t.equal(cleared.form(`/portal/templates/${id}`).fields.get('subject'), '');
  t.notOk('subject' in (await daemon.call(sender.key, `GET /templates/${id}`)).body);
  await owner.submit(cleared, `/portal/templates/${id}/delete`);
});

t.test('where it was changed last, and what the frame begins with', async (t) => {
  const id = await addTemplate('By a program', '<p>{{ order.number }}</p>');
  const page = await owner.get(`/portal/templates/${id}`);
  t.match(page.text, 'through the API');
  t.equal(page.form('Preview').fields.get('data'), '{\n  "order": {\n    "number": "number"\n  }\n}');
  t.equal((await owner.get(frameOf(page))).source, '<p>number</p>');
  await owner.submit(page, `/portal/templates/${id}`);
  t.match((await owner.get('/portal/templates')).text, /By a program .* in the portal by owner@acme\.test/);
});

t.test('what is wrong is said with its line and column, and shown', async (t) => {
  const form = await owner.get('/portal/templates/new');
  const html = '<p>fine</p>\n<p>{% if a %}</p>\n<p>fine</p>';
  const both = await preview(form, { html, data: '{\n  "a" 1\n}' });
  t.match(both.text, 'HTML, line 2, column 4:');
  t.match(both.text, 'Sample data, line 2, column 7:');
  t.same(
    both.texts((name) => name === 'mark'),
    ['1', '{'],
  );
  t.equal(frameOf(both), 'no frame');
  const refused = await owner.submit(form, '/portal/templates/new', { name: 'x', html });
  t.equal(refused.status, 422);
  t.match(refused.text, 'The template was not saved.');
  t.match(refused.text, 'HTML, line 2, column 4:');
  t.equal(refused.form('Preview').fields.get('html'), html);
  const unknown = await preview(form, { html: '{{ a | nofilter }}' });
  t.match(unknown.text, /HTML, line 1, column 1: undefined filter: nofilter/);
  const nameless = await owner.submit(form, '/portal/templates/new', { name: ' ' });
  t.equal(nameless.status, 422);
  t.match(nameless.text, 'Enter a name.');
  const long = await owner.submit(form, '/portal/templates/new', { name: 'é'.repeat(201) });
  t.match(long.text, 'At most 200 characters; this has 201.');
  const empty = await owner.submit(form, '/portal/templates/new', { name: 'x', html: '', text: '' });
  t.match(empty.text, 'at least one of html and text is required');
  t.match((await preview(form, { html: '', text: '' })).text, 'Nothing to preview yet');
  t.match((await preview(form, { html: '{% if no %}x{% endif %}', text: '' })).text, 'renders to nothing');
  t.match((await preview(form, { data: '[1]' })).text, 'must be a JSON object');
  t.match((await preview(form, { data: '\n'.repeat(300_000) })).text, 'The sample data is longer than 256 KiB');
  const large = await owner.submit(form, '/portal/templates/new', { name: 'x', html: 'x'.repeat(1024 * 1024 + 1) });
  t.match(large.text, 'must have at most 1048576 bytes');
});

t.test('hostile templates are stopped, with the reason', async (t) => {
  const form = await owner.get('/portal/templates/new');
  const loop = '{% for a in (1..100000) %}{% for b in (1..100000) %}{% endfor %}{% endfor %}';
  const startedAt = performance.now();
  const endless = await preview(form, { html: loop });
  t.match(endless.text, /HTML, line 1, column \d+: .*(took|takes|time|limit|memory)/i);
  t.comment(`${Math.round(performance.now() - startedAt)} ms`);
  const huge = await preview(form, { html: `${'x'.repeat(1000)}`.repeat(1000), text: '', data: '{}' });
  t.equal(huge.status, 200);
  const output = await preview(form, { html: `{% for a in (1..5000) %}${'x'.repeat(1000)}{% endfor %}`, text: '' });
  t.match(output.text, 'produces more than 1048576 bytes of output');
  const kept = await owner.submit(form, '/portal/templates/new', { name: 'endless', html: loop, text: '' });
  t.match(kept.text, 'Template created.', 'its syntax is in order');
  const framed = await owner.get(frameOf(kept));
  t.match(framed.source, 'This template can’t be rendered with generated sample data.');
  t.match((await owner.get('/portal/templates')).status, 200, 'and nothing else is held up');
});

t.test('names, sources and data of strangers are never markup', async (t) => {
  const id = await addTemplate(HOSTILE, `<p>${HOSTILE.replace('{{xss}}', '{{ xss }}')}</p>`);
  const page = await owner.get(`/portal/templates/${id}`);
  const again = await preview(page, { data: `{"a": ${HOSTILE}`, text: HOSTILE });
  const list = await owner.get('/portal/templates');
  for (const one of [page, again, list]) {
    t.match(one.text, 'xss-probe', 'it is there as text');
    t.same(
      one.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes),
      [],
    );
  }
});

t.test('variables that the sample data lacks are named', async (t) => {
  const form = await owner.get('/portal/templates/new');
  const text =
    'Hello {{ name }}, your code is {{ code }}.{% if order.vip %}!{% endif %}{% for i in items %}{{ i.a }}{% endfor %}';
  const data = '{"nmae": "Jo", "order": {}, "items": []}';
  const lacking = await preview(form, { html: '', text, data });
  t.match(lacking.text, 'Not in the sample data: name, code, order.vip. A variable');
  t.match(lacking.text, '{{ name | default: "…" }}');
  t.match(lacking.text, 'Hello , your code is .', 'it is rendered all the same');
  const whole = await preview(form, {
    html: '',
    text,
    data: '{"name":null,"code":0,"order":{"vip":false},"items":[]}',
  });
  t.notMatch(whole.text, 'Not in the sample data');
  const many = Array.from({ length: 25 }, (_, at) => `{{ v${at} }}`).join('');
  t.match((await preview(form, { html: `x${many}`, text: many, data: '' })).text, /data: v0, .*, v19 and 5 more\./);
  t.match((await preview(form, { html: '', text: `x{{ ["${HOSTILE}"] }}` })).text, 'Not in the sample data');
});

t.test('templates and previews of others are not there', async (t) => {
  const id = await addTemplate('Mine', '<p>secret words</p>');
  const { id: other } = await postrider.json('tenant', 'create', '--name', 'Other', '--status', 'active');
  const email = 'owner@other.test';
  const who = ['--tenant', String(other), '--role', 'owner', '--email', email];
  const { password } = await postrider.json('user', 'create', ...who);
  const stranger = await world.visitor({ email, password: String(password) });
  for (const path of [`/portal/templates/${id}`, `/portal/templates/${id}/shown`]) {
    t.equal((await stranger.get(path)).status, 404, path);
  }
  const form = await stranger.get('/portal/templates/new');
  const mine = form.form('Preview');
  for (const action of [`/portal/templates/${id}`, `/portal/templates/${id}/delete`]) {
    t.equal((await stranger.submit(form, { ...mine, action }, { name: 'theirs' })).status, 404, action);
  }
  t.equal((await preview(form, { id }, stranger)).status, 404);
  t.match((await stranger.get('/portal/templates')).text, 'No templates yet');
  const shown = frameOf(await preview(await owner.get(`/portal/templates/${id}`)));
  t.equal((await stranger.get(shown)).status, 404);
  const colleague = await world.visitor(await world.addUser('member'));
  const notTheirs = await colleague.get(shown);
  t.equal(notTheirs.status, 404, 'not even of a colleague');
  t.match(notTheirs.source, 'This preview has expired, or it was made at another server of this service.');
  t.match((await owner.get(shown)).source, 'secret words');
  t.match((await daemon.call(sender.key, `GET /templates/${id}`)).body, { name: 'Mine' });
});

t.test('a viewer looks, and changes nothing', async (t) => {
  const id = await addTemplate('Looked at', '<p>{{ a }}</p>');
  const viewer = await world.visitor(await world.addUser('viewer'));
  const page = await viewer.get(`/portal/templates/${id}`);
  t.match(page.text, '<p>{{ a }}</p>');
  t.same(
    page.forms.map(({ action }) => action),
    ['/portal/sign-out'],
  );
  t.equal((await viewer.get(frameOf(page))).source, '<p>a</p>');
  t.notOk((await viewer.get('/portal/templates')).links.some(({ href }) => href.endsWith('/new')));
  t.equal((await viewer.get('/portal/templates/new')).status, 403);
  const token = page.form('/portal/sign-out').fields;
  for (const action of [
    '/portal/templates/new',
    PREVIEW,
    `/portal/templates/${id}`,
    `/portal/templates/${id}/delete`,
  ]) {
    t.equal((await viewer.raw('POST', action, { body: token })).status, 403, action);
  }
  t.match((await daemon.call(sender.key, `GET /templates/${id}`)).body, { name: 'Looked at' });
});

t.test('a long list has pages', async (t) => {
  const db = new Database(postrider.databaseFile);
  db.pragma('busy_timeout = 5000');
  const insert = db.prepare(
    `INSERT INTO templates (tenant_id, id, name, text, created_at, updated_at) VALUES (?, ?, ?, 'x', 0, 0)`,
  );
  const tenant = Buffer.from(sender.tenantId.replaceAll('-', ''), 'hex');
  for (let n = 0; n < 60; n++) insert.run(tenant, Buffer.from([...Array(15).fill(0), n]), `old ${n}`);
  db.close();
  const first = await owner.get('/portal/templates');
  const older = first.links.find(({ text }) => text === 'Older');
  t.ok(older);
  const second = await owner.get(older!.href);
  t.match(second.text, /old 0 /);
  t.notMatch(first.text, /old 0 /);
  t.ok(second.links.some(({ href, text }) => href === '/portal/templates' && text === 'Newest'));
  t.equal((await owner.get('/portal/templates?before=nonsense')).status, 200);
});
