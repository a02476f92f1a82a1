// Names and addresses as tenants write them in `from` and `to`.
import t from 'tap';
import { parseMailbox } from '../../../src/protocol/mail/addresses/mailbox.ts';

function parts(text: string): [string, string] | string {
  const result = parseMailbox(text);
  if (!result.ok) return result.reason;
  const { name, address } = result.mailbox;
  return [name, `${address.local}@${address.domain}`];
}

t.test('accepted', async (t) => {
  const cases: [string, string, string][] = [
    ['jo@example.com', '', 'jo@example.com'],
    ['<jo@example.com>', '', 'jo@example.com'],
    ['Jo Doe <jo@example.com>', 'Jo Doe', 'jo@example.com'],
    ['Jo<jo@example.com>', 'Jo', 'jo@example.com'],
    ['  Jo   <jo@example.com>', 'Jo', 'jo@example.com'],
    ['Doe, Jo; (x) <jo@example.com>', 'Doe, Jo; (x)', 'jo@example.com'],
    ['"Doe, \\"J\\" \\\\" <jo@example.com>', 'Doe, "J" \\', 'jo@example.com'],
    ['"a" and "b" <jo@example.com>', '"a" and "b"', 'jo@example.com'],
    ['"a\\" <jo@example.com>', '"a\\"', 'jo@example.com'],
    ['"" <jo@example.com>', '', 'jo@example.com'],
    ['Łukasz 😀 \u200fשלום <jo@example.com>', 'Łukasz 😀 \u200fשלום', 'jo@example.com'],
    ['a@evil.example <jo@example.com>', 'a@evil.example', 'jo@example.com'],
    ['x <a@evil.example> <jo@example.com>', 'x <a@evil.example>', 'jo@example.com'],
    ['"<john@smith.com>" <john@smith.com>', '<john@smith.com>', 'john@smith.com'],
    ['Jo <"a<b>c"@example.com>', 'Jo', '"a<b>c"@example.com'],
    ['"a <b>"@example.com', '', '"a <b>"@example.com'],
    ['=?utf-8?q?x=0D=0A?= <jo@example.com>', '=?utf-8?q?x=0D=0A?=', 'jo@example.com'],
  ];
  for (const [text, name, address] of cases) t.same(parts(text), [name, address], text);
});

t.test('refused', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /empty/],
    ['Jo', /no @/],
    ['jo@example.com>', /without a </],
    ['<>', /empty/],
    ['Jo <>', /empty/],
    ['Jo <jo>', /no @/],
    ['Jo < jo@example.com>', /white space/],
    ['Jo <jo@example.com> ', /white space|quotes/],
    ['Jo <jo@example.com>, Al <al@example.com', /quotes|control/],
    ['jo@example.com, al@example.com', /quotes|character|more than one/],
    ['Jo\r\nBcc: al@example.com <jo@example.com>', /control/],
    ['Jo\n<jo@example.com>', /control/],
    ['Jo\0 <jo@example.com>', /control/],
    ['Jo\t<jo@example.com>', /control/],
    ['\u0085Jo <jo@example.com>', /control/],
    ['\udc00Jo <jo@example.com>', /surrogate/],
    [`${'x'.repeat(999)}<jo@example.com>`, /name is longer/],
    [`${'<'.repeat(200_000)}>`, /empty|quotes/],
  ];
  for (const [text, rule] of cases) t.match(parts(text), rule, JSON.stringify(text).slice(0, 60));
});
