import t from 'tap';
import { passwordProblem } from '../../../src/tenants/accounts/password-rules.ts';
import { generatePassword, hashPassword, verifyPassword } from '../../../src/tenants/accounts/passwords.ts';

const ABOUT = { email: 'jo.miller@example.com', name: 'Acme Rockets Ltd' };

t.test('passwords that are taken', async (t) => {
  const good = [
    'horse battery lake',
    'k3v9xw2mmqp0',
    'ganz langes wort hier',
    '密码密码很长的一个密码好吧',
    'aaaaaabcQ!x7',
  ];
  for (const password of [...good, generatePassword()]) t.equal(passwordProblem(password, ABOUT), null, password);
});

t.test('passwords that are not, with the reason', async (t) => {
  const cases: [RegExp, string[]][] = [
    [/at least 12 characters/, ['', 'short', 'elevenchars', '密码很短🎉🎉']],
    [/at most 1024/, ['x1'.repeat(600)]],
    [
      /address or name/,
      [
        'jo.miller@example.com',
        'JO.MILLER@EXAMPLE.COM',
        'jo.miller123456',
        'example.com!!!',
        'Acme Rockets Ltd',
        'acme rockets ltd 2026',
      ],
    ],
    [
      /attackers try first/,
      [
        'password1234',
        'Password2026!',
        'P@$$w0rd1234',
        'qwertyuiop12',
        '123456789012',
        '987654321098',
        'aaaaaaaaaaaa',
      ].concat([
        'abcabcabcabc',
        'abcdefghijkl',
        'zyxwvutsrqpo',
        'correct horse battery staple',
        'LetMeInPlease!',
        'asdfghjklqwer',
      ]),
    ],
  ];
  for (const [reason, passwords] of cases) {
    for (const password of passwords) {
      t.match(passwordProblem(password, ABOUT) ?? 'taken', reason, password.slice(0, 40));
    }
  }
});

t.test('the longest password that can be chosen signs in, a longer one costs nothing', async (t) => {
  const longest = `horse battery lake${'🎉'.repeat(1006)}`;
  t.equal(passwordProblem(longest, ABOUT), null);
  t.equal(await verifyPassword(longest, await hashPassword(longest)), true);
  const longer = `${longest}${'🎉'.repeat(10)}`;
  t.match(passwordProblem(longer, ABOUT), /at most 1024 characters/);
  t.equal(await verifyPassword(longer, await hashPassword(longer)), false);
});
