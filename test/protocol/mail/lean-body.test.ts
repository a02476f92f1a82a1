// Which messages the lean composer takes, and that the others, which MailComposer composes, are
// no different to whoever signs and reads them.
import { simpleParser } from 'mailparser';
import t from 'tap';
import { composeBody } from '../../../src/protocol/mail/compose/compose.ts';
import { chooseComposer, composeLeanBody } from '../../../src/protocol/mail/compose/lean-body.ts';
import { composeInput, composeWhole, SUBMISSION_ID } from './sample-messages.ts';

t.test('who composes, and why', async (t) => {
  const long = 'x'.repeat(128 * 1024 + 1);
  const cases: [string | null, string | null, string, RegExp][] = [
    ['a', null, 'lean', /ordinary length/],
    [null, '<p>', 'lean', /ordinary length/],
    ['a\0\ud800', '<p>', 'lean', /ordinary length/],
    [null, null, 'mailcomposer', /neither text nor HTML/],
    ['', '', 'mailcomposer', /neither text nor HTML/],
    [long, '<p>', 'mailcomposer', /longer than 131072/],
    ['a', long, 'mailcomposer', /longer than 131072/],
    ['a', long.slice(1), 'lean', /ordinary length/],
  ];
  for (const [text, html, decision, reason] of cases) t.match(chooseComposer({ text, html }), { decision, reason });
  t.throws(() => composeLeanBody({ text: '', html: null, boundarySeed: SUBMISSION_ID }), TypeError);
});

t.test('just below and just above the limit, messages are alike', async (t) => {
  for (const chars of [128 * 1024, 128 * 1024 + 1]) {
    const html = 'Ein Würfel.\n'.repeat(20_000).slice(0, chars);
    const whole = await composeWhole(composeInput({ html, text: 'short' }));
    const mail = await simpleParser(whole.raw);
    t.equal(mail.html, html);
    t.equal(mail.text, 'short');
    const header = whole.header.toString();
    const names = header.split(/\r\n(?![ \t])/).map((field) => field.split(':', 1)[0]);
    t.strictSame(names.slice(-6), ['Message-ID', 'Date', 'MIME-Version', 'Content-Type', '', ''], `${chars}`);
    t.match(header, /Content-Type: multipart\/alternative;\r\n boundary="=_/);
    t.strictSame(whole.needs, { smtputf8: false, eightBit: false });
  }
});

t.test('a body is the same for everybody, and does not know whom it is for', async (t) => {
  for (const html of ['<p>ä</p>', `<p>${'ä'.repeat(200_000)}</p>`, null]) {
    const input = { text: 'Hello', html, boundarySeed: SUBMISSION_ID };
    const [one, other] = [await composeBody(input), await composeBody(input)];
    t.strictSame(one, other);
    const asked = composeInput({ text: 'Hello', html, to: { name: 'Jo', address: 'other@example.com' } });
    t.ok(
      (await composeWhole({ ...asked, messageId: '01931f00-0000-7000-8000-00000000abce' })).body.equals(one.content),
    );
  }
});

t.test('the seed of a boundary cannot bring a header field with it', async (t) => {
  for (const boundarySeed of ['', 'x', `${SUBMISSION_ID}"\r\nBcc: x@evil.example`]) {
    await t.rejects(composeBody({ text: 'a', html: 'b', boundarySeed }), TypeError);
  }
});
