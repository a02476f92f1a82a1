// Any Unicode that is Unicode: names, subjects and headers arrive as they were given, whatever
// their script; a lone surrogate is none, and is refused wherever it stands.
import t from 'tap';
import { RECEIVER } from '../support/world.ts';
import { decodeWords, fieldValue, namesOf } from './raw-mail.ts';
import { refused, setStage } from './stage.ts';

const stage = await setStage(t);
const { world, acme, inbox, send } = stage;
const usual = namesOf((await inbox.mail((await send()).body.message_ids[0])).raw);

const TEXTS: Record<string, string> = {
  quotes: 'The "best" shop',
  'one quote': 'The 6" shop',
  backslashes: 'C:\\shop\\',
  'apostrophes and commas': "O'Neill, Jo, and Sons; Ltd.",
  parentheses: 'Shop (the real one)',
  'angle brackets': 'a <b> c',
  'an address': 'ceo@bank.test',
  umlauts: 'Grüße aus Ærøskøbing',
  Chinese: '你好世界',
  emoji: 'Bikes 🚲🚲🚲',
  'emoji of several code points': '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽',
  'right to left': 'שלום עולם',
  'right-to-left marks': '\u200fshop\u202egnp.exe\u202c',
  isolates: '\u2066shop\u2069',
  'zero width': 's\u200bh\u200co\u200d\ufeffp',
  'combining marks': 'e\u0301 a\u0323\u0302 Z̸̡̢a̷lgo',
  'not normalised': '\u212b \u00c5 A\u030a',
  'astral planes': '𝕊𝕙𝕠𝕡 𠜎',
  'private use and noncharacters': '\ue000 \ufffe \uffff \u{10ffff}',
  'replacement character': '\ufffd',
  'an encoded word': '=?utf-8?Q?not_an_encoded_word?=',
  long: 'Ein sehr langer Name mit Umläuten äöü '.repeat(12).trim(),
  'long without blanks': '長'.repeat(300),
  'many blanks': 'a     b',
};

for (const [about, text] of Object.entries(TEXTS)) {
  t.test(about, async (t) => {
    const headers = { 'X-Custom': text };
    const { status, body } = await send({
      from: `${text} <app@acme.test>`,
      to: `${text} <jo@${RECEIVER}>`,
      subject: text,
      headers,
    });
    t.equal(status, 202);
    const [id] = body.message_ids;
    const { raw } = await inbox.mail(id);
    t.same(
      namesOf(raw).filter((name) => name !== 'x-custom'),
      usual,
    );
    const mail = await inbox.parsed(id);
    // A name that is one quoted string is what stands in it; none of these is.
    t.match(mail.from?.value, [{ name: text, address: 'app@acme.test' }]);
    t.match([mail.to].flat()[0]?.value, [{ name: text, address: `jo@${RECEIVER}` }]);
    t.equal(fieldValue(raw, 'Subject'), text);
    // A header's value is taken for what it will be: who writes an encoded word means one.
    t.equal(fieldValue(raw, 'X-Custom'), decodeWords(text));
    const shown = await world.call(`GET /emails/${id}`, { key: acme.key });
    t.equal(shown.body.subject, text, 'and the API shows it so');
  });
}

t.test('a lone surrogate is refused wherever it stands', async (t) => {
  for (const half of ['\ud800', '\udc00', 'a\ud83dz', '\udeb2\ud83d']) {
    const places: Record<string, Record<string, unknown>> = {
      from: { from: `${half} <app@acme.test>` },
      to: { to: `${half} <jo@${RECEIVER}>` },
      'to[1]': { to: [`a@${RECEIVER}`, `${half}@${RECEIVER}`] },
      subject: { subject: `x${half}` },
      html: { html: `<p>${half}</p>` },
      text: { text: `x${half}` },
      'headers.X-Custom': { headers: { 'X-Custom': `x${half}` } },
      headers: { headers: { [`X-${half}`]: 'x' } },
    };
    for (const [field, change] of Object.entries(places)) {
      const message = new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}: `);
      refused(t, await send(change), {
        code: 'validation_failed',
        message,
        about: `${field}: ${JSON.stringify(half)}`,
      });
    }
    const asAcme = (route: string, body: unknown) => world.call(route, { key: acme.key, body });
    const others: [route: string, field: string, body: Record<string, unknown>][] = [
      ['POST /domains', 'domain', { domain: `a${half}.test` }],
      ['POST /domains', 'selector', { domain: 'half.test', selector: `s${half}` }],
      ['POST /webhooks', 'url', { url: `https://acme.test/${half}` }],
      ['POST /webhooks', 'description', { url: 'https://half.acme.test/', description: half }],
      ['POST /templates', 'name', { name: half, text: 'x' }],
      ['POST /templates', 'text', { name: 'Half', text: half }],
      ['POST /templates', 'html', { name: 'Half', html: half }],
    ];
    for (const [route, field, body] of others) {
      const about = `${route} ${field}`;
      refused(t, await asAcme(route, body), { code: 'validation_failed', message: new RegExp(`^${field}: `), about });
    }
  }
});

t.test('a surrogate in UTF-8 is no UTF-8', async (t) => {
  const bytes = Buffer.concat([Buffer.from('{"subject": "'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]);
  refused(t, await world.call('POST /emails', { key: acme.key, body: bytes }), { code: 'invalid_json' });
});

t.test('half a pair out of data does not leave as such', async (t) => {
  const body = { name: 'Half', text: 'Hi {{ x }}', html: '<p>{{ x }}</p>' };
  const { id } = (await world.call('POST /templates', { key: acme.key, body })).body;
  const answer = await send({ template_id: id, data: { x: '\ud800' } });
  if (answer.status === 202) t.match((await inbox.parsed(answer.body.message_ids[0])).text, /^Hi \ufffd/);
  else refused(t, answer, { code: 'validation_failed' });
});
