// Quoted-printable, held to the rules of RFC 2045 section 6.7 line by line, and read back by a
// decoder that does nothing but what they say.
import t from 'tap';
import { encodeQuotedPrintable } from '../../../src/protocol/mail/compose/quoted-printable.ts';
import { seededRandom } from './sample-messages.ts';

const encoded = (text: string) => encodeQuotedPrintable(Buffer.from(text)).toString('latin1');

function decoded(text: string): string {
  const octet = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  return Buffer.from(text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, octet), 'latin1').toString();
}

t.test('what stands for itself, and what does not', async (t) => {
  const cases: [string, string][] = [
    ['', ''],
    ['Hi, you! ~{}', 'Hi, you! ~{}'],
    ['1+1=2', '1+1=3D2'],
    ['Größe', 'Gr=C3=B6=C3=9Fe'],
    ['😀', '=F0=9F=98=80'],
    ['a\0b\x7fc', 'a=00b=7Fc'],
    ['a\tb c', 'a\tb c'],
    ['a \r\nb\t\r\n ', 'a=20\r\nb=09\r\n=20'],
    ['a\r\n\r\n', 'a\r\n\r\n'],
    ['a\rb\nc', 'a=0Db=0Ac'],
    ['.\r\n..a\r\nb.', '=2E\r\n=2E.a\r\nb.'],
  ];
  for (const [text, expected] of cases) t.equal(encoded(text), expected, JSON.stringify(text));
});

t.test('lines end at 76 characters at the latest, the soft break included', async (t) => {
  t.equal(encoded('x'.repeat(76)), 'x'.repeat(76), 'a line that fits is not broken');
  t.equal(encoded(`${'x'.repeat(76)}\r\ny`), `${'x'.repeat(76)}\r\ny`);
  t.equal(encoded('x'.repeat(77)), `${'x'.repeat(75)}=\r\nxx`);
  t.equal(encoded(`${'x'.repeat(75)}.y`), `${'x'.repeat(75)}=\r\n=2Ey`, 'a dot that a soft break puts in front');
  t.equal(encoded(`${'x'.repeat(74)}ä`), `${'x'.repeat(74)}=\r\n=C3=A4`, 'a character stays in one piece');
  t.equal(encoded(`${'x'.repeat(64)}😀`), `${'x'.repeat(64)}=F0=9F=98=80`);
  t.equal(encoded(`${'x'.repeat(75)} `), `${'x'.repeat(75)}=\r\n=20`);
});

const PIECES = ['a', 'word', ' ', '  ', '\t', '\r\n', '.', '=', 'ä', '漢', '😀', '\0', 'x'.repeat(74), '\u2028'];

t.test('random text comes back as it was', async (t) => {
  const seed = Date.now() % 1e9;
  const random = seededRandom(seed);
  const failures: unknown[] = [];
  for (let round = 0; round < 3000; round++) {
    const length = Math.floor(random() * 60);
    const text = Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join('');
    const lines = encoded(text).split('\r\n');
    const wrong = lines.find((line) => line.length > 76 || /^\.|[ \t]$|[^\t -~]/.test(line));
    // No part of a character without the rest of it: each line is UTF-8 by itself.
    const torn = lines.find((line) => decoded(line.replace(/=$/, '')).includes('\ufffd'));
    const isSame = decoded(encoded(text)) === text;
    if (!isSame || wrong !== undefined || torn !== undefined) failures.push({ round, text, wrong, torn });
  }
  t.same(failures.slice(0, 1), [], `seed ${seed}`);
});
