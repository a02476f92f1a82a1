// Composed messages, read back by mailparser and octet by octet. Above all: whatever stands
// in a name, subject or value, no header comes out that was not meant.
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import { composeInput, composeWhole, randomSamples, type SampleInput } from './sample-messages.ts';

/** Header fields in their order, unfolded. */
function fieldsOf(raw: Buffer): string[] {
  const header = raw.subarray(0, raw.indexOf('\r\n\r\n')).toString();
  return header.split(/\r\n(?![ \t])/).map((field) => field.replace(/\r\n(?=[ \t])/g, ''));
}

const namesOf = (raw: Buffer) => fieldsOf(raw).map((field) => field.slice(0, field.indexOf(':')));

/** What must be true of every message that leaves. */
function checkForm(t: Test, raw: Buffer, name: string): void {
  const text = raw.toString('latin1');
  t.notMatch(text, /\r(?!\n)|(?<!\r)\n/, `${name}: CR and LF only together`);
  t.notOk(text.includes('\0'), `${name}: no NUL`);
  t.ok(text.endsWith('\r\n'), `${name}: the last line is ended`);
  t.ok(
    text.split('\r\n').every((line) => line.length <= 998),
    `${name}: no line over 998 octets`,
  );
  t.notMatch(text.slice(0, text.indexOf('\r\n\r\n')), /\r\n[ \t]+\r\n/, `${name}: no line of white space alone`);
}

async function composed(t: Test, changes: Partial<SampleInput>) {
  const result = await composeWhole(composeInput(changes));
  checkForm(t, result.raw, JSON.stringify(changes).slice(0, 60));
  return { ...result, mail: await simpleParser(result.raw) };
}

const OUR_NAMES = [
  [
    'From',
    'To',
    'Subject',
    'CFBL-Address',
    'CFBL-Feedback-ID',
    'Feedback-ID',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
  ],
  ['Message-ID', 'Date', 'Content-Transfer-Encoding', 'MIME-Version', 'Content-Type'],
].flat();

t.test('a text message, and nothing in it that was not asked for', async (t) => {
  const { raw, mail, envelopeTo, needs } = await composed(t, {});
  t.same(namesOf(raw), OUR_NAMES);
  t.match(raw.toString(), 'Message-ID: <01931f00-0000-7000-8000-00000000abcd@verified.example>\r\n');
  t.match(raw.toString(), 'Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n');
  t.notMatch(raw.toString(), /nodemailer|x-mailer|_NmP/i);
  t.equal(mail.text, 'Thank you.\n');
  t.equal(mail.html, false);
  t.equal(envelopeTo, 'jo@example.com');
  t.same(needs, { smtputf8: false, eightBit: false });
});

t.test('html and text are alternatives, text first', async (t) => {
  const { raw, mail } = await composed(t, { html: '<p>Grüße 漢字</p>', text: 'Grüße 漢字' });
  t.match(raw.toString(), /Content-Type: multipart\/alternative;\r\n boundary=[\s\S]*text\/plain[\s\S]*text\/html/);
  t.equal(mail.html, '<p>Grüße 漢字</p>');
  t.equal(mail.text, 'Grüße 漢字');
  t.notMatch(raw.toString(), /nodemailer|_NmP/i);
  const html = await composed(t, { html: '<b>x</b>', text: null });
  t.match(html.raw.toString(), 'Content-Type: text/html; charset=utf-8\r\n');
});

t.test('line ends, long lines, control characters and dots survive as they should', async (t) => {
  const { mail } = await composed(t, { text: 'a\rb\nc\r\nd\n\re\0\n.\n..f\u2028g' });
  t.equal(mail.text?.trimEnd(), 'a\nb\nc\nd\n\ne\0\n.\n..f\u2028g');
  const long = `${'x'.repeat(5000)} ${'ä'.repeat(5000)}`;
  t.equal((await composed(t, { text: long })).mail.text?.trimEnd(), long);
  t.equal((await composed(t, { html: long, text: null })).mail.html, long);
  for (const text of ['', ' ', '\n', '\n\n\n']) await composed(t, { text });
});

t.test('the same input gives the same bytes', async (t) => {
  const input = composeInput({ html: '<p>ä</p>' });
  t.ok((await composeWhole(input)).raw.equals((await composeWhole(input)).raw));
});

t.test('names and subjects arrive as they were written', async (t) => {
  const texts = [
    'Jo Doe',
    'Doe, Jo',
    'He said "hi" \\ (c) <x@evil.example>; :',
    'ä',
    '😀'.repeat(100),
    '\u202eevil\u200f שלום',
    '=?utf-8?Q?Bcc:_x@evil.example?=',
    '=?utf-8?B?DQpCY2M6IHhAZXZpbC5leGFtcGxl?=',
    'a=?utf-8?Q?=0D=0ABcc:x@evil.example?= b',
    'x'.repeat(998),
    `${'y'.repeat(500)} ${'z'.repeat(490)}`,
    'ü'.repeat(998),
    'a  b   c',
    "O'Neil & Søns 100% _x_ ?=",
    '漢字かな交じり文 mixed with Latin text',
  ];
  for (const text of texts) {
    const { mail, raw } = await composed(t, {
      subject: text,
      from: { name: text, address: 'orders@verified.example' },
      to: { name: text, address: 'jo@example.com' },
    });
    t.equal(mail.subject, text);
    const to = Array.isArray(mail.to) ? mail.to[0] : mail.to;
    for (const field of [mail.from, to]) {
      t.equal(field?.value.length, 1);
      t.equal(field?.value[0]?.name, text);
    }
    t.equal(mail.from?.value[0]?.address, 'orders@verified.example');
    t.equal(to?.value[0]?.address, 'jo@example.com');
    t.same(namesOf(raw), OUR_NAMES);
    for (const field of fieldsOf(raw)) t.match(field, /^[!-~ ]+$/, 'printable ASCII');
  }
});

t.test('no text can add a header or end the header', async (t) => {
  const ascii = 'x\r\nBcc: a@evil.example\r\n\r\nbody\0\nX-A: 1\rX-B: 2';
  for (const attack of [ascii, `${ascii}\u0085X-C: 3\u2028X-D: 4`]) {
    const { raw, mail } = await composed(t, {
      subject: attack,
      from: { name: attack, address: 'orders@verified.example' },
      to: { name: attack, address: 'jo@example.com' },
      headers: [
        ['X-Own', attack],
        ['Reply-To', `${attack} <jo@example.com>`],
        ['Cc', `ä ${attack}`],
      ],
      serviceHeaders: [['Feedback-ID', attack]],
    });
    t.same(namesOf(raw), ['From', 'To', 'Subject', 'X-Own', 'Reply-To', 'Cc', 'Feedback-ID', ...OUR_NAMES.slice(8)]);
    t.equal(mail.bcc, undefined);
    t.equal(mail.text, 'Thank you.\n');
  }
  await t.rejects(composeWhole(composeInput({ headers: [['X-A\r\nBcc', 'x']] })), TypeError);
  await t.rejects(composeWhole(composeInput({ messageId: 'x>\r\nBcc: x' })), TypeError);
  await t.rejects(
    composeWhole(composeInput({ to: { name: '', address: 'a@b.example\r\nBcc: x' } })),
    /address of the message is invalid/,
  );
});

t.test('random text, 100 times', async (t) => {
  for (const { raw, name } of await randomSamples(100, 2)) {
    checkForm(t, raw, name);
    const names = namesOf(raw).filter((field) => field !== 'Content-Transfer-Encoding');
    t.same(
      names,
      [...OUR_NAMES.slice(0, 3), 'X-Random', 'Reply-To', ...OUR_NAMES.slice(3, 10), ...OUR_NAMES.slice(11)],
      name,
    );
  }
});

t.test('custom headers', async (t) => {
  const { raw, mail } = await composed(t, {
    headers: [
      ['X-Order-ID', '42'],
      ['x-lower', `  ${'word '.repeat(100)}`],
      ['X-Empty', ''],
      ['X-Encoded', '=?utf-8?Q?=C3=A4?='],
      ['X-Unicode', 'Größe'],
      ['X-URL', `<https://a.example/${'p'.repeat(900)}>`],
      ['Reply-To', 'Jürgen <j@example.com>, "Doe, Jo" <d@example.com>'],
      ['In-Reply-To', '<a@b.example>'],
    ],
  });
  const fields = fieldsOf(raw);
  t.ok(fields.includes('X-Order-ID: 42'), 'names keep their case');
  t.ok(fields.includes(`x-lower: ${'word '.repeat(100).trim()}`));
  t.ok(fields.includes('X-Empty:'));
  t.ok(fields.includes('X-Encoded: =?utf-8?Q?=C3=A4?='), 'a value may come encoded');
  t.ok(fields.includes(`X-URL: <https://a.example/${'p'.repeat(900)}>`), 'a long word stays whole');
  t.ok(fields.includes('X-Unicode: =?utf-8?Q?Gr=C3=B6=C3=9Fe?='));
  t.same(
    mail.replyTo?.value.map(({ name, address }) => [name, address]),
    [
      ['Jürgen', 'j@example.com'],
      ['Doe, Jo', 'd@example.com'],
    ],
  );
});

t.test('of addresses and identifiers only the words before them are encoded', async (t) => {
  const one = ['Jürgen <j@example.com>', '=?UTF-8?Q?J=C3=BCrgen?= <j@example.com>'] as const;
  const two = [
    `"Doe, Jö" <d@example.com>, ${one[0]}`,
    `=?UTF-8?Q?Doe=2C_J=C3=B6?= <d@example.com>, ${one[1]}`,
  ] as const;
  const cases: [name: string, given: string, sent: string][] = [
    ...['Disposition-Notification-To', 'Return-Receipt-To', 'errors-to'].map((name) => [name, ...one] as const),
    ...['Mail-Followup-To', 'Mail-Reply-To', 'Resent-To', 'Resent-From'].map((name) => [name, ...two] as const),
    ['List-ID', 'Größe <n.example.com>', '=?utf-8?Q?Gr=C3=B6=C3=9Fe?= <n.example.com>'],
    ['list-id', '"Größe, <\\"x\\">"<n.example.com> ', '=?utf-8?B?R3LDtsOfZSwgPCJ4Ij4=?= <n.example.com>'],
    ['List-Id', 'Größe <1.2.3>', '=?utf-8?Q?Gr=C3=B6=C3=9Fe?= <1.2.3>'],
    ['List-Id', 'Größe', '=?utf-8?Q?Gr=C3=B6=C3=9Fe?='],
    ['List-Id', 'Liste <größe.example>', 'Liste <xn--gre-6ka8i.example>'],
    ['List-Id', 'Größe\r\nBcc: x <n\n.example>', '=?utf-8?Q?Gr=C3=B6=C3=9Fe__Bcc=3A_x?= <n.example>'],
  ].map(([name, given, sent]) => [name!, given!, sent!]);
  for (const [name, given, sent] of cases) {
    const { raw } = await composed(t, { headers: [[name, given]] });
    const unfolded = raw.toString().replaceAll('\r\n ', ' ').split('\r\n');
    t.ok(unfolded.includes(`${name}: ${sent}`), `${name}: ${unfolded.find((line) => line.startsWith(name))}`);
  }
});

t.test(
  'no field that only programs read keeps mail from servers without SMTPUTF8, or has too long a line',
  async (t) => {
    const fields: [string, string][] = [
      ['Errors-To', 'jörg@example.com'],
      ['Disposition-Notification-To', 'Jörg @ home'],
      ['List-ID', `Größe <${'a'.repeat(997)}>`],
    ];
    for (const field of fields) {
      const { raw, needs } = await composed(t, { headers: [field] });
      t.equal(needs.smtputf8, false, field[0]);
      t.ok(
        raw
          .toString()
          .split('\r\n')
          .every((line) => line.length <= 998),
        field[0],
      );
    }
  },
);

t.test('a word that no line can hold is encoded, should it ever get here', async (t) => {
  const { raw } = await composed(t, { headers: [['X-Word', 'x'.repeat(2000)]] });
  t.match(raw.toString(), /^X-Word: =\?utf-8\?Q\?x+\?=\r\n =\?/m);
});

t.test("a tenant's own List-Unsubscribe takes the place of our pair", async (t) => {
  const { raw } = await composed(t, { headers: [['list-unsubscribe', '<https://tenant.example/u>']] });
  t.same(
    fieldsOf(raw).filter((field) => /^list-/i.test(field)),
    ['list-unsubscribe: <https://tenant.example/u>'],
  );
});

t.test('internationalized addresses', async (t) => {
  const idn = await composed(t, {
    from: { name: '', address: 'jo@Bücher.example' },
    to: { name: 'Jo', address: 'jo@例え.jp' },
  });
  t.same(idn.needs, { smtputf8: false, eightBit: false });
  t.equal(idn.envelopeTo, 'jo@xn--r8jz45g.jp');
  t.match(idn.raw.toString(), 'From: jo@xn--bcher-kva.example\r\nTo: Jo <jo@xn--r8jz45g.jp>\r\n');
  t.match(idn.raw.toString(), /Message-ID: <[0-9a-f-]+@xn--bcher-kva\.example>\r\n/);

  const eai = await composed(t, { to: { name: 'Jürgen', address: 'jürgen@例え.jp' } });
  t.same(eai.needs, { smtputf8: true, eightBit: true });
  t.equal(eai.envelopeTo, 'jürgen@xn--r8jz45g.jp');
  t.match(eai.raw.toString(), 'To: =?utf-8?Q?J=C3=BCrgen?= <jürgen@例え.jp>\r\n');

  const replyTo = await composed(t, { headers: [['Reply-To', 'jürgen@example.com']] });
  t.same(replyTo.needs, { smtputf8: true, eightBit: true }, 'any address in UTF-8 needs it');
  t.match(replyTo.raw.toString(), 'Reply-To: jürgen@example.com\r\n');
});

t.test('quoted local parts', async (t) => {
  const { raw, envelopeTo, mail } = await composed(t, { to: { name: 'x', address: '"a,b <c>"@example.com' } });
  t.equal(envelopeTo, '"a,b <c>"@example.com');
  t.match(raw.toString(), 'To: x <"a,b <c>"@example.com>\r\n');
  const bare = await composed(t, { to: { name: '', address: '"a,b"@example.com' } });
  t.match(bare.raw.toString(), 'To: <"a,b"@example.com>\r\n');
  t.ok(mail.to);
});
