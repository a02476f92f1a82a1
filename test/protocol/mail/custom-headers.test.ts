// What a tenant may put into `headers`.
import t from 'tap';
import { validateCustomHeaders } from '../../../src/protocol/mail/compose/custom-headers.ts';

t.test('accepted', async (t) => {
  const cases: Record<string, string>[] = [
    {},
    { 'X-Order': '42', 'Reply-To': 'Jo <jo@example.com>', 'List-Unsubscribe': '<https://a.example/u>' },
    { 'In-Reply-To': '<a@b.example>', References: '<a@b.example>' },
    { "!#$%&'*+-.^_`|~": 'any printable name' },
    { 'X-Empty': '', 'X-Tab': 'a\tb', 'X-Unicode': '😀'.repeat(500) },
    { 'X-Long': 'word '.repeat(1000) },
    { 'X-Word': 'x'.repeat(997) },
    { Architecture: 'begins with arc', CFBL: '1', 'X-From': '1' },
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-${index}`, '1'])),
    { 'X-A': ' '.repeat(10_000), 'X-B': 'x'.repeat(234) },
  ];
  for (const headers of cases) t.equal(validateCustomHeaders(headers), null, Object.keys(headers).join().slice(0, 60));
});

t.test('reserved names, in any case', async (t) => {
  const names = [
    ['From', 'To', 'Subject', 'Message-ID', 'DKIM-Signature', 'Return-Path'],
    ['Content-Type', 'Content-Transfer-Encoding', 'MIME-Version', 'Date', 'Received', 'Sender', 'Feedback-ID'],
    ['CFBL-Address', 'CFBL-Feedback-ID', 'CFBL-X', 'ARC-Seal', 'Authentication-Results'],
  ].flat();
  for (const name of names) {
    for (const form of [name, name.toLowerCase(), name.toUpperCase()]) {
      t.equal(
        validateCustomHeaders({ 'X-Ok': '1', [form]: 'x' }),
        `${form}: This header can't be set; Postrider writes it itself or does not allow it.`,
      );
    }
  }
});

t.test('copies have fields of their own', async (t) => {
  for (const name of ['Cc', 'BCC', 'cc']) {
    const problem = `${name}: This header can't be set; use the field "${name.toLowerCase()}".`;
    t.equal(validateCustomHeaders({ [name]: 'a@b.example' }), problem);
  }
});

t.test('refused, with the header named', async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ '': 'x' }, /^: .*name/],
    [{ 'X Y': 'x' }, /^X Y: .*printable/],
    [{ 'X:Y': 'x' }, /^X:Y: .*printable/],
    [{ 'X-Ä': 'x' }, /^X-Ä: .*printable/],
    [{ 'X-A\r\nBcc': 'x' }, /^X-A\\r\\nBcc: .*printable/],
    [{ ['x'.repeat(998)]: 'x' }, /^x{80}…: .*longer/],
    [{ 'X-A': 'a\r\nBcc: b@c.example' }, /^X-A: .*CR, LF or NUL/],
    [{ 'X-A': 'a\rb' }, /CR, LF or NUL/],
    [{ 'X-A': 'a\nb' }, /CR, LF or NUL/],
    [{ 'X-A': 'a\0b' }, /CR, LF or NUL/],
    [{ 'X-A': 'x'.repeat(998) }, /^X-A: .*998/],
    [{ 'X-A': `a${' '.repeat(998)}b` }, /^X-A: .*998/],
    [{ 'X-A': '1', 'x-a': '2' }, /^x-a: .*twice/],
    [{ 'X-A': 'ä '.repeat(3412), 'X-B': '1' }, /^X-B: .*10240/],
    [Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, '1'])), /51 headers.*50/],
  ];
  for (const [headers, rule] of cases) t.match(validateCustomHeaders(headers), rule);
});
