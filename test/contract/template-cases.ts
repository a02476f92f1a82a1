// Section 2.5: the template record, which the specification leaves to the contract.
import type { Answer } from './contract-client.ts';
import { refused, type Stage } from './stage.ts';
import type { Cases, TEMPLATE_RECORD } from './tables.ts';

const INVALID = 'validation_failed';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const GOOD = { name: 'Welcome', html: '<p>{{ name }}</p>', text: '{{ name }}' };

function create({ world, acme }: Stage, body: unknown): Promise<Answer> {
  return world.call('POST /templates', { key: acme.key, body });
}

export const templateRecordCases: Cases<typeof TEMPLATE_RECORD> = {
  async id(t, stage) {
    const { status, body } = await create(stage, GOOD);
    t.equal(status, 201);
    t.same(Object.keys(body).sort(), ['created_at', 'html', 'id', 'name', 'text', 'updated_at']);
    t.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    t.match(body, GOOD);
    t.same((await stage.world.call(`GET /templates/${body.id}`, { key: stage.acme.key })).body, body);
    const { templates } = (await stage.world.call('GET /templates', { key: stage.acme.key })).body;
    t.same(templates.at(-1), body, 'the list shows the same, oldest first');
  },

  async name(t, stage) {
    t.equal((await create(stage, { ...GOOD, name: 'ü'.repeat(200) })).status, 201);
    for (const name of [undefined, null, '', 'x'.repeat(201), 5, 'half \ud800']) {
      refused(t, await create(stage, { ...GOOD, name }), { code: INVALID, message: /^name: /, about: String(name) });
    }
  },

  async html(t, stage) {
    t.match(await create(stage, { name: 'Html alone', html: '<p></p>' }), { status: 201, body: { text: null } });
    for (const html of [5, {}, 'half \ud800', '{{ x', '{% if x %}', '{% nonsense %}']) {
      refused(t, await create(stage, { ...GOOD, html }), { code: INVALID, message: /^html: /, about: String(html) });
    }
    const broken = await create(stage, { ...GOOD, html: 'line 1\n  {% if x %}' });
    refused(t, broken, {
      code: INVALID,
      message: /line.?2.*col(?:umn)?.?3/i,
      about: 'line and column of a syntax error',
    });
    const mail = await sendWith(stage, { html: '{{ x }}|{{ x | raw }}' }, { x: '<i>' });
    t.equal(String(mail.html).trim(), '&lt;i&gt;|<i>', 'escaped unless raw');
  },

  async text(t, stage) {
    t.match(await create(stage, { name: 'Text alone', text: 'Hi' }), { status: 201, body: { html: null } });
    for (const nothing of [undefined, null, '']) {
      refused(t, await create(stage, { name: 'Empty', html: nothing, text: nothing }), { code: INVALID });
    }
    refused(t, await create(stage, { ...GOOD, text: '{% for %}' }), { code: INVALID, message: /^text: / });
    t.equal((await sendWith(stage, { text: '{{ x }}' }, { x: '<i>' })).text?.trim(), '<i>', 'never escaped');
  },

  async created_at(t, stage) {
    const { created_at } = (await create(stage, GOOD)).body;
    t.match(created_at, TIME);
    t.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000);
  },

  async updated_at(t, stage) {
    const { body: first } = await create(stage, GOOD);
    t.equal(first.updated_at, first.created_at);
    const change = { name: 'Changed', text: 'Changed' };
    const replaced = await stage.world.call(`PUT /templates/${first.id}`, { key: stage.acme.key, body: change });
    t.match(replaced, { status: 200, body: { ...change, id: first.id, html: null, created_at: first.created_at } });
    t.match(replaced.body.updated_at, TIME);
    t.ok(replaced.body.updated_at > first.updated_at, 'later than before');
  },
};

async function sendWith(stage: Stage, source: Record<string, string>, data: unknown) {
  const { body } = await create(stage, { name: 'Sent', ...source });
  return stage.arrival({ template_id: body.id, data });
}
