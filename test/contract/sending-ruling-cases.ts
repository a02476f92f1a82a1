// Rulings of the contract on sending and on templates, as far as the tables do not show them.
import type { Test } from 'tap';
import { RECEIVER } from '../support/world.ts';
import type { Answer } from './contract-client.ts';
import { addressOf, refused, type Stage } from './stage.ts';
import type { Cases, SENDING_RULINGS, TEMPLATE_RULINGS } from './tables.ts';

const INVALID = 'validation_failed';

function createTemplate({ world, acme }: Stage, body: Record<string, unknown>): Promise<Answer> {
  return world.call('POST /templates', { key: acme.key, body: { name: 'Ruling', ...body } });
}

async function templateId(stage: Stage, source: Record<string, string>): Promise<string> {
  const { status, body } = await createTemplate(stage, source);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

export const sendingRulingCases: Cases<typeof SENDING_RULINGS> = {
  async 'the address is what the last <…> holds'(t, stage) {
    const cases: [to: string, name: string, address: string][] = [
      [`Jo <jo@${RECEIVER}>`, 'Jo', `jo@${RECEIVER}`],
      [`"Jo, the <great>" <jo@${RECEIVER}>`, 'Jo, the <great>', `jo@${RECEIVER}`],
      [`<a@evil.test> <jo@${RECEIVER}>`, '<a@evil.test>', `jo@${RECEIVER}`],
      [`a@evil.test, b <jo@${RECEIVER}>`, 'a@evil.test, b', `jo@${RECEIVER}`],
      [`<jo@${RECEIVER}>`, '', `jo@${RECEIVER}`],
    ];
    for (const [to, name, address] of cases) {
      const mail = await stage.arrival({ to });
      t.equal(addressOf(mail.to), address, to);
      t.equal([mail.to].flat()[0]!.value[0]!.name, name);
      t.equal([mail.to].flat()[0]!.value.length, 1, 'one address, whatever the name looks like');
    }
  },

  async 'domains are compared in lower-case ASCII'(t, stage) {
    const { world, acme } = stage;
    await world.addDomain(acme.key, 'xn--bcher-kva.test');
    for (const from of ['app@bücher.test', 'app@BÜCHER.test', 'app@XN--BCHER-KVA.test']) {
      const { status, body } = await stage.send({ from });
      t.equal(status, 202, from);
      const [id] = body.message_ids;
      t.equal((await stage.inbox.parsed(id)).messageId, `<${id}@xn--bcher-kva.test>`, 'the A-label in Message-ID');
    }
  },

  async 'lengths of addresses'(t, stage) {
    const local = (octets: number) => 'l'.repeat(octets);
    t.equal((await stage.send({ to: `${local(64)}@${RECEIVER}` })).status, 202);
    refused(t, await stage.send({ to: `${local(65)}@${RECEIVER}` }), { code: INVALID, message: /^to: .*64/ });
    const label = 'd'.repeat(62);
    const domain = `${label}.${label}.${label}.test`;
    const room = 254 - domain.length - 1;
    t.equal((await stage.send({ to: `${local(room)}@${domain}` })).status, 202, '254 octets');
    refused(t, await stage.send({ to: `${local(room + 1)}@${domain}` }), { code: INVALID, message: /^to: .*254/ });
  },

  async 'literals and one-label domains are refused by policy'(t, stage) {
    for (const to of ['jo@[192.0.2.1]', 'jo@[IPv6:2001:db8::1]', 'jo@localhost', 'jo@test', 'jo@192.0.2.1']) {
      refused(t, await stage.send({ to }), { code: INVALID, message: /^to: /, about: to });
    }
  },

  async "a tenant's own List-Unsubscribe pair"(t, stage) {
    const pair = {
      'List-Unsubscribe': '<https://acme.test/bye>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    };
    const { body } = await stage.send({ headers: pair });
    const raw = (await stage.inbox.mail(body.message_ids[0])).raw.toString('latin1');
    t.match(raw, /^List-Unsubscribe: <https:\/\/acme\.test\/bye>\r\n/m);
    t.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/m);
    t.equal(raw.match(/^List-Unsubscribe:/gim)?.length, 1);
  },

  async 'a template that fails to render'(t, stage) {
    const id = await templateId(stage, { text: 'line 1\nline 2 {% for a in (1..100000000) %}{% endfor %}' });
    const answer = await stage.send({ template_id: id, data: { x: 1 } });
    refused(t, answer, { code: INVALID, message: /line:? ?2.*col(?:umn)?:? ?8/i, about: "Liquid's line and column" });
  },

  async 'what was rendered is what is sent'(t, stage) {
    const { world, acme } = stage;
    const id = await templateId(stage, { text: 'Before {{ x }}' });
    const { body } = await stage.send({ template_id: id, data: { x: 1 } });
    const change = { name: 'Ruling', text: 'After' };
    t.equal((await world.call(`PUT /templates/${id}`, { key: acme.key, body: change })).status, 200);
    t.equal((await world.call(`DELETE /templates/${id}`, { key: acme.key })).status, 204);
    t.equal((await stage.inbox.parsed(body.message_ids[0])).text?.trim(), 'Before 1');
  },

  async 'data without a template may be anything'(t, stage) {
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    for (const data of ['"text"', '5', 'true', '[]', '[[{}]]', deep, '{"__proto__": {"x": 1}}', '"\\ud800"']) {
      const mail = JSON.stringify({ from: 'app@acme.test', to: `jo@${RECEIVER}`, subject: 'Hi', text: 'Hi' });
      const body = mail.replace('{', `{"data": ${data},`);
      t.equal((await stage.world.call('POST /emails', { key: stage.acme.key, body })).status, 202, data.slice(0, 40));
    }
  },
};

/** Renders to a 400, within the limits, and the next call of the same tenant goes through. */
async function failsToRender(t: Test, stage: Stage, text: string): Promise<void> {
  const created = await createTemplate(stage, { text });
  // Refused at once or when it is rendered: both are well.
  const answer = created.status === 201 ? await stage.send({ template_id: created.body.id, data: {} }) : created;
  refused(t, answer, { code: INVALID, about: text.slice(0, 60) });
  t.equal((await stage.send({ template_id: await templateId(stage, { text: 'Hi' }) })).status, 202, 'it goes on');
}

export const templateRulingCases: Cases<typeof TEMPLATE_RULINGS> = {
  async 'no file access'(t, stage) {
    for (const tag of ['include', 'render', 'layout']) {
      for (const file of ['package.json', '/etc/passwd', '../package.json']) {
        refused(t, await createTemplate(stage, { text: `{% ${tag} '${file}' %}` }), {
          code: INVALID,
          message: /^text: /,
        });
      }
    }
  },

  async 'no prototypes, no globals'(t, stage) {
    const reached = [
      'constructor',
      '__proto__',
      'x.constructor',
      'x.constructor.constructor',
      'x.__proto__',
      'x.toString',
    ];
    const text = [...reached, 'process', 'globalThis', 'require', 'x.length.constructor'].map(
      (path) => `[{{ ${path} }}]`,
    );
    const mail = await stage.arrival({
      template_id: await templateId(stage, { text: text.join('') }),
      data: { x: { y: 1 } },
    });
    t.equal(mail.text?.trim(), '[]'.repeat(text.length));
  },

  'an endless loop ends': (t, stage) =>
    failsToRender(
      t,
      stage,
      '{% for a in (1..100000) %}{% for b in (1..100000) %}{% assign x = a | plus: b %}{% endfor %}{% endfor %}',
    ),

  'huge output is refused': (t, stage) =>
    failsToRender(t, stage, `{% for a in (1..2000) %}${'output '.repeat(200)}{% endfor %}`),

  'deep recursion is refused': (t, stage) =>
    failsToRender(t, stage, `${'{% if true %}'.repeat(8000)}x${'{% endif %}'.repeat(8000)}`),
};
