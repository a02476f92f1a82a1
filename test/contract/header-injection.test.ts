// Line breaks, NULs and folded lines in every text that can reach a header of a message. Either
// the call is refused with the field's name, or what arrives has the header fields that every
// message has, and not one more.
import t, { type Test } from 'tap';
import { RECEIVER } from '../support/world.ts';
import type { Answer } from './contract-client.ts';
import { fieldValue, namesOf } from './raw-mail.ts';
import { setStage } from './stage.ts';

const stage = await setStage(t);
const { world, acme, inbox, send } = stage;
const usual = namesOf((await inbox.mail((await send()).body.message_ids[0])).raw);

/** Each tries to make a header field X-Injected, or an early end of the header. */
const BREAKS: Record<string, string> = {
  CRLF: '\r\nX-Injected: 1',
  LF: '\nX-Injected: 1',
  CR: '\rX-Injected: 1',
  NUL: '\0X-Injected: 1',
  'CRLF and blank': '\r\n X-Injected: 1',
  'CRLF and tab': '\r\n\tX-Injected: 1',
  'LF and blank': '\n X-Injected: 1',
  'an empty line': '\r\n\r\nX-Injected: 1',
  'a trailing CRLF': '\r\n',
  'a trailing LF': '\n',
};

/** Not line breaks by RFC 5322, but somebody's idea of one. */
const NEAR_BREAKS: Record<string, string> = {
  'vertical tab': '\vX-Injected: 1',
  'form feed': '\fX-Injected: 1',
  'NEL (U+0085)': '\u0085X-Injected: 1',
  'line separator (U+2028)': '\u2028X-Injected: 1',
  'paragraph separator (U+2029)': '\u2029X-Injected: 1',
  'an LF in full width': '\uff0aX-Injected: 1',
  'U+010A, whose low byte is an LF': '\u010aX-Injected: 1',
  'U+560D and U+560A, whose low bytes are CR and LF': '\u560d\u560aX-Injected: 1',
  'an encoded word': '=?utf-8?Q?=0D=0AX-Injected:_1?=',
  'an encoded word in base64': `=?utf-8?B?${Buffer.from('\r\nX-Injected: 1').toString('base64')}?=`,
  'percent signs': '%0d%0aX-Injected: 1',
  backslashes: '\\r\\nX-Injected: 1',
};

/** Every text of a send request that can reach a header; `text` stands in the middle or at the end of it. */
const PLACES: Record<string, (text: string) => Record<string, unknown>> = {
  'name of from': (text) => ({ from: `Acme${text} <app@acme.test>` }),
  'quoted name of from': (text) => ({ from: `"Acme${text}" <app@acme.test>` }),
  'local part of from': (text) => ({ from: `app${text}@acme.test` }),
  'quoted local part of from': (text) => ({ from: `"app${text}"@acme.test` }),
  'domain of from': (text) => ({ from: `app@acme.test${text}` }),
  'end of from': (text) => ({ from: `Acme <app@acme.test>${text}` }),
  'name of to': (text) => ({ to: `Jo${text} <jo@${RECEIVER}>` }),
  'name of a to in a list': (text) => ({ to: [`a@${RECEIVER}`, `Jo${text} <jo@${RECEIVER}>`] }),
  'local part of to': (text) => ({ to: `jo${text}@${RECEIVER}` }),
  'quoted local part of to': (text) => ({ to: `"jo${text}"@${RECEIVER}` }),
  'domain of to': (text) => ({ to: `jo@${RECEIVER}${text}` }),
  subject: (text) => ({ subject: `Hello${text}` }),
  'value of a header': (text) => ({ headers: { 'X-Custom': `value${text}` } }),
  'value of Reply-To': (text) => ({ headers: { 'Reply-To': `Help${text} <help@acme.test>` } }),
  'value of List-Unsubscribe': (text) => ({ headers: { 'List-Unsubscribe': `<https://acme.test/${text}>` } }),
  'name of a header': (text) => ({ headers: { [`X-Custom${text}`]: 'value' } }),
  'name of a header and its colon': (text) => ({ headers: { [`X-Custom: 1${text}`]: 'value' } }),
};

for (const [place, change] of Object.entries(PLACES)) {
  t.test(place, async (t) => {
    const field = Object.keys(change(''))[0]!;
    for (const [about, text] of Object.entries(BREAKS)) {
      const answer = await send(change(text));
      t.match(answer, { status: 400, body: { error: 'validation_failed', message: new RegExp(`^${field}`) } }, about);
    }
    for (const [about, text] of Object.entries(NEAR_BREAKS))
      await refusedOrHarmless(t, await send(change(text)), about);
  });
}

async function refusedOrHarmless(t: Test, answer: Answer, about: string): Promise<void> {
  if (answer.status === 400) {
    t.equal(answer.body.error, 'validation_failed', `${about}: refused`);
    return;
  }
  t.equal(answer.status, 202);
  const [id] = answer.body.message_ids.slice(-1);
  // The receiving server does not know every address that there can be.
  if ((await stage.fate(id)) !== 'delivered') return;
  const { raw } = await inbox.mail(id);
  const own = namesOf(raw).filter((name) => !/^(?:x-custom|reply-to$|list-unsubscribe$)/.test(name));
  t.same(own, usual, `${about}: no field more than usual`);
}

t.test('the value that is shown is the one that was given', async (t) => {
  for (const [about, text] of Object.entries(NEAR_BREAKS)) {
    if (/[\v\f\u0085]/.test(text)) continue;
    const { status, body } = await send({ subject: `Hello${text}` });
    t.equal(status, 202, about);
    const { raw } = await inbox.mail(body.message_ids[0]);
    t.equal(fieldValue(raw, 'Subject'), `Hello${text}`, 'text that looks like an encoded word is shown as written');
  }
});

t.test('bodies may have any line break, and end nowhere early', async (t) => {
  const text = 'one\rtwo\ntwo\r\n.\r\n..\r\n.\nX-Injected: 1\r\n\r\n.\r\nMAIL FROM:<x@y.test>\r\n';
  const { body } = await send({ text });
  const { raw } = await inbox.mail(body.message_ids[0]);
  t.same(namesOf(raw), usual);
  t.notMatch(raw.toString('latin1'), /[^\r]\n|\r[^\n]/, 'CR and LF only together');
  const arrived = (await inbox.parsed(body.message_ids[0])).text!;
  t.equal(arrived.trimEnd(), text.replace(/\r\n?/g, '\n').trimEnd(), 'to the last line');
});

t.test('texts that reach the signature and DNS', async (t) => {
  for (const [about, text] of Object.entries(BREAKS)) {
    const register = (body: unknown) => world.call('POST /domains', { key: acme.key, body });
    const refusal = (field: string) => ({
      status: 400,
      body: { error: 'validation_failed', message: new RegExp(`^${field}: `) },
    });
    t.match(await register({ domain: `new.test${text}` }), refusal('domain'), `domain: ${about}`);
    t.match(await register({ domain: 'new.test', selector: `s1${text}` }), refusal('selector'), `selector: ${about}`);
    const webhook = { url: `https://hooks.acme.test/${text}` };
    t.match(await world.call('POST /webhooks', { key: acme.key, body: webhook }), refusal('url'), `url: ${about}`);
  }
});

t.test('what a template makes out of data stays in the body', async (t) => {
  const template = { name: 'Lines\r\nX-Injected: 1', html: '<p>{{ x | raw }}</p>', text: '{{ x }}' };
  const { status, body } = await world.call('POST /templates', { key: acme.key, body: template });
  t.ok([201, 400].includes(status));
  const id =
    status === 201
      ? body.id
      : (await world.call('POST /templates', { key: acme.key, body: { ...template, name: 'L' } })).body.id;
  const sent = await send({ template_id: id, data: { x: '\r\nX-Injected: 1\r\n.\r\nQUIT\r\n' } });
  const { raw } = await inbox.mail(sent.body.message_ids[0]);
  const names = namesOf(raw);
  t.notOk(names.includes('x-injected'));
  t.same(
    names,
    usual.filter((name) => names.includes(name)),
    'the same fields',
  );
});
