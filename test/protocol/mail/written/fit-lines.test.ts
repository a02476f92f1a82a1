// A leaf with lines that are too long gets another encoding, all else stays octet by octet, and what can't change is
// refused with the number of the line. Every mail is cut into chunks of many sizes.
import t, { type Test } from 'tap';
import { decodeTransfer } from '../../../../src/protocol/mail/inbound/encoded-words.ts';
import { SeededRandom } from '../../../fuzz/seeded-random.ts';
import { fitLines } from './fitted-mail.ts';

const LONG = 'x'.repeat(999);
const SIZES = [1, 2, 3, 7, 100, 998, 1000, 1001, 65_536];

const text = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n`;
const mail = (...lines: string[]) => text(['From: jo@acme.example', 'MIME-Version: 1.0', ...lines]);
const mixed = (...lines: string[]) => mail('Content-Type: multipart/mixed; boundary="b 1"', '', ...lines);

/** The same however it is cut. */
function fit(raw: string) {
  const results = [...SIZES, 4096].map((size) => {
    const { problem, leaving } = fitLines(Buffer.from(raw, 'latin1'), size);
    return problem ?? withoutOwn(leaving);
  });
  t.same(new Set(results).size, 1, 'the same in all chunks');
  return results.at(-1)!;
}

/** Less what the door adds. */
const withoutOwn = (leaving: Buffer) => leaving.toString('latin1').replace(/^(Date|Message-ID): .*\r\n/gm, '');

t.test('a mail of one text', async (t) => {
  t.equal(fit(mail('', 'x'.repeat(998))), mail('', 'x'.repeat(998)), '998 octets are allowed');
  t.equal(
    fit(mail('Subject: Hi', '', 'One = two ', LONG, '.', 'end')),
    mail(
      'Subject: Hi',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'One =3D two=20',
      folded(LONG),
      '=2E',
      'end',
    ),
    'the field is added',
  );
  t.equal(
    fit(mail('content-transfer-ENCODING:', ' 8bit', 'Content-Type: text/html; charset=utf-8', '', `\xc3\xa4${LONG}`)),
    mail(
      'content-transfer-ENCODING: quoted-printable',
      'Content-Type: text/html; charset=utf-8',
      '',
      folded(`=C3=A4${LONG}`),
    ),
    'the field is replaced in its place',
  );
});

/** As quoted-printable breaks a line without blanks. */
function folded(line: string): string {
  return line.match(/.{1,75}/g)!.join('=\r\n');
}

t.test('what is not readable text becomes base64', async (t) => {
  for (const [type, content] of [
    ['text/plain; charset=iso-8859-1', `Gr\xfc\xdfe ${LONG}`],
    ['text/plain; charset=utf-8', '\xe6\xbc\xa2'.repeat(400)],
    ['application/json', `{"x":"${LONG}"}`],
  ] as const) {
    const leaves = fit(mail(`Content-Type: ${type}`, '', content, 'end'));
    const encoded = leaves.slice(leaves.indexOf('\r\n\r\n') + 4);
    t.match(leaves, `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n`);
    t.match(encoded, /^(?:[\w+/=]{1,76}\r\n)+$/);
    t.equal(decodeTransfer(encoded, 'base64').toString('latin1'), `${content}\r\nend\r\n`);
  }
});

t.test('only the leaf that needs it', async (t) => {
  const others = (changed: readonly string[]) =>
    mixed(
      'preamble -- ',
      '--b 1',
      'X-Odd:  two  ',
      'Content-Type: multipart/alternative; boundary=inner',
      '',
      '--inner',
      '',
      'Plain \xe4 text ',
      '--',
      '--other',
      '',
      '--inner',
      ...changed,
      '--inner--',
      'between',
      '--b 1',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--b 1',
      '--b 1--',
      'epilogue',
    );
  const html = ['Content-Type: text/html', 'Content-Transfer-Encoding: 7bit', 'X-After: 1', ''];
  const changed = ['Content-Type: text/html', 'Content-Transfer-Encoding: quoted-printable', 'X-After: 1', ''];
  t.equal(fit(others([...html, 'short'])), others([...html, 'short']), 'octet by octet');
  t.equal(fit(others([...html, LONG, ''])), others([...changed, folded(LONG), '']), 'the empty line is content');
  t.equal(fit(others([...html, LONG])), others([...changed, folded(LONG)]), 'the line end is of the delimiter');
  t.equal(
    fit(others(['', LONG])),
    others(['Content-Transfer-Encoding: quoted-printable', '', folded(LONG)]),
    'a part without a header',
  );
});

t.test('a part that ends without the delimiter of its last parts', async (t) => {
  const open = ['--b 1', 'Content-Type: multipart/alternative; boundary=inner', '', '--inner', '', 'x', '--b 1'];
  t.equal(
    fit(mixed(...open, '', '--inner', LONG, '--b 1--')),
    mixed(...open, 'Content-Transfer-Encoding: quoted-printable', '', '--inner', folded(LONG), '--b 1--'),
  );
});

t.test('a mail that ends in a part', async (t) => {
  t.equal(
    fit(mixed('--b 1', '', LONG)),
    mixed('--b 1', 'Content-Transfer-Encoding: quoted-printable', '', folded(LONG)),
  );
  const binary = fit(mixed('--b 1', 'Content-Type: image/png', '', LONG));
  t.ok(binary.endsWith('\r\n'));
  t.equal(fit(mixed('--b 1', 'Content-Type: text/html')), mixed('--b 1', 'Content-Type: text/html'));
  t.equal(fit(mail('')), mail(''));
});

const PIECES = { base64: /^(?:[\w+/=]{1,76}\r\n)+$/, 'quoted-printable': /^(?:[\t -~]{0,90}\r\n)+$/ };

/** Cut, and read as before. */
function cutIn(t: Test, encoding: 'base64' | 'quoted-printable', content: string): string {
  const header = [`Content-Transfer-Encoding: ${encoding}`, 'Content-Type: application/pdf', ''];
  const [part, whole] = [
    ['--b 1', ...header, content, '--b 1--'],
    [...header, content],
  ];
  const leaves = fit(mail(...whole));
  const start = mail(...header);
  t.ok(leaves.startsWith(start), 'the header stays');
  const cut = leaves.slice(start.length);
  t.equal(fit(mixed(...part)), mixed('--b 1', ...header, cut.slice(0, -2), '--b 1--'), 'the same in a part');
  t.equal(decoded(cut, encoding), decoded(`${content}\r\n`, encoding), 'a reader sees no difference');
  return cut;
}

const decoded = (content: string, encoding: string) => decodeTransfer(content, encoding).toString('latin1');

t.test('what is encoded already is cut', async (t) => {
  const random = new SeededRandom(7);
  const file = Buffer.from(random.times(5000, () => random.below(256)));
  const oneLine = file.toString('base64');
  t.match(cutIn(t, 'base64', oneLine), PIECES.base64, 'as PHP writes it');
  t.match(cutIn(t, 'base64', oneLine.slice(0, 76 * 20)), /^(?:.{76}\r\n){20}$/, 'without an empty line at the end');
  const mixedLines = ['A'.repeat(998), 'B'.repeat(999), 'C'.repeat(80)];
  const cut = ['A'.repeat(998), ...'B'.repeat(999).match(/.{1,76}/g)!, 'C'.repeat(80)];
  t.equal(cutIn(t, 'base64', mixedLines.join('\r\n')), text(cut), 'other lines stay');

  const words = ['order ', 'a=3Db', '=C3=A4', '\t', '-----', '==', ' ', '.', 'word'];
  for (let round = 0; round < 50; round++) {
    const line = random.times(600, () => random.pick(words)).join('') + random.pick(['', '=', ' =  ', '   ', '=3']);
    t.match(cutIn(t, 'quoted-printable', `${line}\r\n--\r\n${line}`), PIECES['quoted-printable']);
  }
  t.equal(
    cutIn(t, 'quoted-printable', `${'x'.repeat(73)}${'-'.repeat(1000)}`).slice(0, 88),
    `${'x'.repeat(73)}=\r\n=2D${'-'.repeat(9)}`,
    'no line begins like a delimiter',
  );
  const blanks = ' '.repeat(2000);
  t.equal(cutIn(t, 'quoted-printable', `a${blanks}b`).slice(0, 905), `a${' '.repeat(899)}=\r\n  `);
});

t.test('whatever its size', async (t) => {
  const header = (encoding: string) => ['--b 1', `Content-Transfer-Encoding: ${encoding}`, 'X: 1', ''];
  const content = Buffer.from('0123456789abc'.repeat(300_000));
  const long = content.toString('base64');
  const wrapped = text([mixed(...header('base64')) + long.match(/.{1,76}/g)!.join('\r\n'), '--b 1--']);
  const whole = (encoding: string, ...lines: string[]) => Buffer.from(mixed(...header(encoding), ...lines, '--b 1--'));
  for (const size of [65_536, 999]) {
    const { problem, leaving } = fitLines(whole('base64', long), size);
    t.equal(problem, null);
    t.ok(withoutOwn(leaving) === wrapped, 'base64');
    const plain = fitLines(whole('8bit', content.toString()), size);
    t.equal(plain.problem, null);
    t.ok(withoutOwn(plain.leaving) === wrapped, 'plain, with a long line among the first octets');
  }
  const one = fitLines(Buffer.from(mail('', content.toString())), 65_536);
  const body = withoutOwn(one.leaving).slice(mail('Content-Transfer-Encoding: base64', '').length);
  t.ok(one.leaving.includes('Content-Transfer-Encoding: base64\r\n\r\n'));
  t.ok(decoded(body, 'base64') === `${content}\r\n`, 'without parts');
});

t.test('what can not change is refused', async (t) => {
  const plain = (line: number) => `Line ${line} is longer than 998 octets. Wrap it, or encode this part as base64.`;
  const sealed = (line: number) =>
    `Line ${line} is longer than 998 octets, and its part is signed or encrypted, so it can't be re-encoded here. ` +
    'Encode it before signing.';
  const garbled = (line: number) =>
    `Line ${line} is longer than 998 octets, and its part is not in the encoding that its header names. ` +
    'Encode it, or correct the header.';
  t.equal(fit(mail('Content-Transfer-Encoding: base64', '', 'AAAA', `${'A'.repeat(1200)}-`)), garbled(6));
  t.equal(fit(mail('Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64', '', LONG)), plain(6));
  t.equal(fit(mail('Content-Transfer-Encoding: x-uuencode', '', LONG)), plain(5));
  t.equal(fit(mail('Content-Transfer-Encoding : 7bit', '', LONG)), plain(5), 'a field that not all read');
  t.equal(fit(mail('Content-Transfer-Encoding: 7bit', 'Content-Transfer-Encoding: base64', '', LONG)), plain(6));
  t.equal(fit(mail('Content-Type: message/rfc822', '', 'Subject: x', '', LONG)), plain(7), 'another message');
  t.equal(fit(mail('Content-Type: application/pkcs7-mime', '', LONG)), sealed(5), 'S/MIME');
  for (const type of ['multipart/signed; protocol="application/pgp-signature"', 'multipart/encrypted']) {
    const whole = (...lines: string[]) => mail(`Content-Type: ${type}; boundary=s`, '', '--s', ...lines, '--s--');
    t.equal(fit(whole('', LONG)), sealed(7));
    const inner = ['Content-Type: multipart/mixed; boundary=m', '', '--m', '', 'short', '--m', '', LONG, '--m--'];
    t.equal(fit(whole(...inner)), sealed(13), 'at any depth');
    t.equal(fit(whole('Content-Transfer-Encoding: base64', '', LONG)), sealed(8), 'encoded');
    t.equal(
      fit(whole('Content-Type: text/plain', '', LONG.slice(1))),
      whole('Content-Type: text/plain', '', LONG.slice(1)),
    );
  }
  t.equal(fit(mail('Content-Type: multipart/signed', '', LONG)), sealed(5), 'without a boundary');
  t.equal(fit(mixed(LONG, '--b 1', '', 'x', '--b 1--')), plain(5), 'before the parts');
  t.equal(fit(mixed('--b 1', '', 'x', '--b 1--', LONG)), plain(9), 'behind the parts');
  t.equal(fit(mixed('--b 1', `X: ${LONG}`, '', 'x', '--b 1--')), plain(6), 'in the header of a part');
  t.equal(fit(mixed('--b 1', 'no field', '', LONG, '--b 1--')), plain(8), 'below a header that is none');
  t.equal(
    fit(mixed('--b 1', '', LONG, '--b 1', 'Content-Transfer-Encoding: x-none', '', LONG)),
    plain(11),
    'the second',
  );
  const digest = mail('Content-Type: multipart/digest; boundary=d', '', '--d', '', 'Subject: x', '', LONG, '--d--');
  t.equal(fit(digest), plain(9), 'messages without a Content-Type');
});

t.test('where readers may see different parts, nothing changes', async (t) => {
  const plain = (line: number) => `Line ${line} is longer than 998 octets. Wrap it, or encode this part as base64.`;
  const among = (line: string) => mixed('--b 1', '', line, LONG, '--b 1', '', 'x', '--b 1--');
  t.equal(fit(among('--b 12')), plain(8));
  t.equal(fit(among('--b 1-')), plain(8));
  t.equal(fit(among('--b 1 ')), plain(8), 'blanks that relays add, which some readers do not expect');
  t.equal(fit(among(`--b 1${' '.repeat(1000)}`)), plain(7), 'a delimiter that is too long itself');
  t.notMatch(fit(among('--b')), plain(8));
  for (const parameters of [
    'boundary=a; boundary=b',
    'boundary*0=a',
    'boundary="a\\b"',
    'boundary=a b',
    '(boundary=a)',
  ]) {
    const parts = mail(`Content-Type: multipart/mixed; ${parameters}`, '', '--a', '', LONG, '--a--');
    t.equal(fit(parts), plain(7), parameters);
  }
  const nested = (inner: string) =>
    mixed('--b 1', `Content-Type: multipart/mixed; boundary="${inner}"`, '', `--${inner}`, '', LONG, `--${inner}--`);
  t.match(fit(nested('b 11')), folded(LONG), 'the longer of two is the one that fits');
  t.equal(fit(nested('b 1')), plain(10), 'the same twice');
});

t.test('limits', async (t) => {
  const line = `${'y'.repeat(70)}\r\n`;
  const [below, above] = [line.repeat(29_000), line.repeat(29_200)];
  const large = (number: number) =>
    `Line ${number} is longer than 998 octets, in a part of more than 2 MiB. Encode this part as base64.`;
  const fitted = (raw: string) => fitLines(Buffer.from(raw), 65_536);
  const encoded = fitted(mail('', below + LONG));
  t.equal(encoded.problem, null);
  t.match(encoded.leaving.toString(), 'Content-Transfer-Encoding: base64', 'a large text, which is slow to quote');
  t.equal(fitted(mail('', above + LONG)).problem, large(4 + 29_200), 'after what has left');
  const unclear = mixed('--b 1', '', LONG, `${above}--b 12`, '--b 1--');
  t.equal(fitted(unclear).problem, 'Line 7 is longer than 998 octets. Wrap it, or encode this part as base64.');
  const passed = mail('', above);
  t.ok(fitted(passed).leaving.toString().endsWith(`\r\n\r\n${above}\r\n`), 'a large text as it is');
  const parts = (count: number) => mixed(...Array.from({ length: count }, () => ['--b 1', '', 'x']).flat(), LONG);
  t.equal(fitted(parts(1000)).problem, null);
  t.match(fitted(parts(1001)).problem, /^Line 3008 is longer/);
  const deep = (levels: number) => {
    const open = Array.from({ length: levels }, (_, level) => [
      `--${level}.`,
      `Content-Type: multipart/mixed; boundary=${level + 1}.`,
      '',
    ]);
    return mail('Content-Type: multipart/mixed; boundary=0.', '', ...open.flat(), `--${levels}.`, '', LONG);
  };
  t.equal(fitted(deep(9)).problem, null);
  t.match(fitted(deep(10)).problem, /^Line 37 is longer/);
  const wide = `X: ${'z'.repeat(900)}`;
  t.equal(fitted(mixed('--b 1', ...Array.from({ length: 80 }, () => wide), '', LONG)).problem?.slice(0, 8), 'Line 87 ');
});
