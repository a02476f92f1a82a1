// Section 2.1 of the specification: the fields of a send request and the headers that go with it.
import type { Test } from 'tap';
import { RECEIVER } from '../support/world.ts';
import { NOBODY } from './contract-world.ts';
import { addressOf, goodMail, refused, type Stage } from './stage.ts';
import type { Cases, SEND_REQUEST, SEND_REQUEST_HEADERS } from './tables.ts';

const INVALID = 'validation_failed';

/** Values that are no text, and what a missing field is told. */
async function mustBeText(t: Test, stage: Stage, field: string): Promise<void> {
  for (const value of [5, true, {}, [[]]]) {
    const about = `${field}: ${JSON.stringify(value)}`;
    refused(t, await stage.send({ [field]: value }), { code: INVALID, message: new RegExp(`^${field}`), about });
  }
}

async function isRequired(t: Test, stage: Stage, field: string): Promise<void> {
  for (const value of [undefined, null]) {
    const expected = { code: INVALID, message: new RegExp(`^${field}: this field is required`), about: String(value) };
    refused(t, await stage.send({ [field]: value }), expected);
  }
}

export const sendRequestCases: Cases<typeof SEND_REQUEST> = {
  async from(t, stage) {
    t.equal((await stage.arrival({ from: 'app@acme.test' })).from?.text, 'app@acme.test', 'a bare address');
    const named = await stage.arrival({ from: 'Acme, "the" shop <app@ACME.test>' });
    t.match(named.from?.value, [{ name: 'Acme, "the" shop', address: /^app@acme\.test$/i }], 'a name and an address');
    await isRequired(t, stage, 'from');
    await mustBeText(t, stage, 'from');
    for (const from of [
      '',
      'acme.test',
      'app@',
      '<app@acme.test',
      'app@acme.test>',
      'a@b@acme.test',
      'app@[192.0.2.1]',
    ]) {
      refused(t, await stage.send({ from }), { code: INVALID, message: /^from: /, about: `from ${from}` });
    }
    for (const from of ['app@rival.test', 'app@sub.acme.test', 'app@nobody.test']) {
      refused(t, await stage.send({ from }), { code: 'domain_not_verified', message: /^from: /, about: from });
    }
  },

  async to(t, stage) {
    const one = await stage.send({ to: `jo@${RECEIVER}` });
    t.equal(one.body.message_ids.length, 1, 'one address');
    const three = await stage.send({
      to: [`a@${RECEIVER}`, `B <b@${RECEIVER}>`, `A again <a@${RECEIVER.toUpperCase()}>`],
    });
    t.equal(three.body.message_ids.length, 2, 'a recipient that is written twice gets one message');
    const shown = await Promise.all(three.body.message_ids.map(stage.inbox.parsed, stage.inbox));
    t.same(
      shown.map(({ to }) => addressOf(to)),
      [`a@${RECEIVER}`, `b@${RECEIVER}`],
      'each sees only itself, in order',
    );
    const entries = (count: number) => Array.from({ length: count }, (_, index) => `r${index % 2}@${RECEIVER}`);
    t.equal((await stage.send({ to: entries(50) })).status, 202, '50 entries');
    refused(t, await stage.send({ to: entries(51) }), { code: INVALID, message: /^to: .*50/, about: '51 entries' });
    await isRequired(t, stage, 'to');
    await mustBeText(t, stage, 'to');
    for (const to of ['', [], [''], [null], [5]])
      refused(t, await stage.send({ to }), { code: INVALID, message: /^to/ });
    const fourth = [...entries(3), 'not an address'];
    refused(t, await stage.send({ to: fourth }), { code: INVALID, message: /^to\[3\]: / });
  },

  async subject(t, stage) {
    const subject = 'Hello {{ name }} – 你好 🚲';
    t.equal((await stage.arrival({ subject })).subject, subject, 'literally');
    t.equal((await stage.send({ subject: 'x'.repeat(998) })).status, 202, '998 characters');
    refused(t, await stage.send({ subject: 'x'.repeat(999) }), { code: INVALID, message: /^subject: .*998/ });
    refused(t, await stage.send({ subject: '' }), { code: INVALID, message: /^subject: / });
    await isRequired(t, stage, 'subject');
    await mustBeText(t, stage, 'subject');
  },

  async html(t, stage) {
    const alone = await stage.arrival({ html: '<p>Grüße</p>', text: undefined });
    t.match([alone.html, alone.text], [/<p>Grüße<\/p>/, ''], 'html alone');
    const both = await stage.arrival({ html: '<p>Hi</p>', text: 'Hi' });
    t.match([both.html, both.text], [/<p>Hi<\/p>/, /^Hi\s*$/], 'both');
    const { value } = both.headers.get('content-type') as { value: string };
    t.equal(value, 'multipart/alternative');
    await mustBeText(t, stage, 'html');
    for (const nothing of [undefined, null, '']) {
      const answer = await stage.send({ html: nothing, text: nothing });
      refused(t, answer, { code: INVALID, message: /at least one of html and text/, about: `neither: ${nothing}` });
    }
  },

  async text(t, stage) {
    const alone = await stage.arrival({ text: 'Grüße\n.\n' });
    t.match([alone.html, alone.text], [false, /^Grüße\n\.\n/], 'text alone');
    await mustBeText(t, stage, 'text');
    t.equal((await stage.send({ text: '', html: '<p></p>' })).status, 202, 'an empty text counts as absent');
  },

  async template_id(t, stage) {
    const { acme, rival, world } = stage;
    const body = { name: 'Welcome', html: '<p>Hi {{ name }}</p>', text: 'Hi {{ name }}' };
    const { id } = (await world.call('POST /templates', { key: acme.key, body })).body;
    const mail = await stage.arrival({ template_id: id, data: { name: 'Jo & Co' }, html: 'ignored', text: 'ignored' });
    t.match(
      [mail.html, mail.text],
      [/<p>Hi Jo &amp; Co<\/p>/, /^Hi Jo & Co\s*$/],
      'html and text come from the template',
    );
    t.equal((await stage.send({ template_id: id.toUpperCase() })).status, 202, 'in any case');
    t.equal((await stage.send({ template_id: null })).status, 202, 'null counts as absent');
    for (const wrong of ['', 'welcome', NOBODY, 5, {}]) {
      const about = `template_id ${wrong}`;
      refused(t, await stage.send({ template_id: wrong }), { code: INVALID, message: /^template_id: /, about });
    }
    const theirs = (await world.call('POST /templates', { key: rival.key, body })).body.id;
    const foreign = await stage.send({ template_id: theirs });
    t.same(
      foreign.body,
      (await stage.send({ template_id: NOBODY })).body,
      "another tenant's is as unknown as nobody's",
    );
  },

  async data(t, stage) {
    const body = { name: 'List', text: 'Items: {% for i in items %}{{ i.n }};{% endfor %}{{ none }}' };
    const { id } = (await stage.world.call('POST /templates', { key: stage.acme.key, body })).body;
    const mail = await stage.arrival({ template_id: id, data: { items: [{ n: 1 }, { n: 'b' }] } });
    t.match(mail.text, /^Items: 1;b;\s*$/, 'it is what the template sees');
    t.equal((await stage.send({ template_id: id })).status, 202, 'empty when absent');
    for (const data of [[], 'text', 5, true]) {
      const about = `data ${JSON.stringify(data)} with a template`;
      refused(t, await stage.send({ template_id: id, data }), { code: INVALID, message: /^data: /, about });
      t.equal((await stage.send({ data })).status, 202, 'and not looked at without one');
    }
  },

  async headers(t, stage) {
    const mail = await stage.arrival({
      headers: { 'X-Order': 'A-1 (2)', 'Reply-To': 'Help <help@acme.test>', 'X-No': null },
    });
    t.equal(mail.headers.get('x-order'), 'A-1 (2)');
    t.equal(addressOf(mail.replyTo), 'help@acme.test');
    t.notOk(mail.headers.has('x-no'), 'null counts as absent');
    const reserved = ['From', 'To', 'Subject', 'Message-ID', 'DKIM-Signature', 'Return-Path'];
    const breaking = ['Bcc', 'Content-Type', 'Content-Transfer-Encoding', 'MIME-Version', 'Date', 'Received', 'Sender'];
    const signed = ['Feedback-ID', 'CFBL-Address', 'CFBL-Anything', 'ARC-Seal', 'Authentication-Results'];
    for (const name of [...reserved, ...breaking, ...signed, 'fROM', 'bCC', 'arc-seal']) {
      const answer = await stage.send({ headers: { [name]: 'x' } });
      refused(t, answer, { code: INVALID, message: new RegExp(`^headers: ${name}`), about: name });
    }
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'x']));
    t.equal((await stage.send({ headers: many(50) })).status, 202, '50 headers');
    const tooBig = { 'X-Big': 'word '.repeat(2048) };
    for (const headers of [
      many(51),
      tooBig,
      { '': 'x' },
      { 'X Y': 'x' },
      { 'X:': 'x' },
      { 'X-É': 'x' },
      { X: 5 },
      [],
      'X: y',
    ]) {
      const about = JSON.stringify(headers).slice(0, 60);
      refused(t, await stage.send({ headers }), { code: INVALID, message: /^headers/, about });
    }
  },
};

export const sendRequestHeaderCases: Cases<typeof SEND_REQUEST_HEADERS> = {
  async Authorization(t, { world, acme }) {
    const body = goodMail(acme.domain);
    refused(t, await world.call('POST /emails', { body }), { code: 'missing_or_malformed_authorization' });
    t.equal((await world.call('POST /emails', { key: acme.key, body })).status, 202);
  },

  async 'Content-Type'(t, stage) {
    for (const type of [undefined, 'text/plain', 'application/json-patch+json', 'application/x-www-form-urlencoded']) {
      const answer = await stage.send({}, { 'Content-Type': type });
      refused(t, answer, { code: 'unsupported_media_type', about: String(type) });
    }
    for (const type of ['application/json', 'Application/JSON; charset=UTF-8']) {
      t.equal((await stage.send({}, { 'Content-Type': type })).status, 202, type);
    }
  },

  async 'Idempotency-Key'(t, stage) {
    const headers = { 'Idempotency-Key': `row-${stage.world.engine}` };
    const first = await stage.send({}, headers);
    t.match(first, { status: 202, body: { replayed: false } });
    t.same((await stage.send({}, headers)).body, { ...first.body, replayed: true });
    const [one, two] = [await stage.send(), await stage.send()];
    t.not(one.body.id, two.body.id, 'without it, the same call twice is two submissions');
  },
};
