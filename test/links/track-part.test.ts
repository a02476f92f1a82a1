// The HTML of a written mail gets its links, in the encoding and the charset that it has; every other octet stays.
import t from 'tap';
import { type Page, trackPart } from '../../src/links/track-part.ts';
import type { Leaf } from '../../src/protocol/mail/written/entity.ts';
import type { LeafEncoding } from '../../src/protocol/mail/written/re-encode.ts';

function leafOf(encoding: LeafEncoding | null, charset: string | null = 'utf-8'): Leaf {
  return {
    ...{ kind: 'leaf', encoding, isText: true, html: { charset }, mayChange: true, mayCut: false },
    ...{ isOpenMail: false, isSealed: false },
  };
}

const LINK = 'https://links.test/c/abc';
const track = ({ html }: Page) => html.replaceAll('http://x', LINK);
const track8 = (octets: Buffer, leaf: Leaf) => trackPart({ leaf, content: octets, longLine: null }, track);
const html = (text: string) => Buffer.from(`<p>${text}</p>\r\n<a href="http://x">x</a>\r\n`, 'utf8');

t.test('it stays in the encoding that it has', async (t) => {
  const expected = (text: string) => html(text).toString().replace('http://x', LINK);
  t.same(track8(html('plain'), leafOf(null)), { encoding: '7bit', bytes: Buffer.from(expected('plain')) });
  const eight = track8(html('Größe'), leafOf('8bit'))!;
  t.equal(eight.encoding, '8bit');
  t.equal(eight.bytes.toString(), expected('Größe'));

  const base64 = track8(Buffer.from(html('Größe').toString('base64')), leafOf('base64'))!;
  t.equal(base64.encoding, 'base64');
  t.match(base64.bytes.toString(), /^[\w+/=\r\n]+$/);
  t.equal(Buffer.from(base64.bytes.toString(), 'base64').toString(), expected('Größe'));

  const quoted = Buffer.from('<p>Gr=C3=B6=C3=9Fe=\r\n</p>  \r\n<a href=3D"http:=\r\n//x">x</a>\r\n');
  const { encoding, bytes } = track8(quoted, leafOf('quoted-printable'))!;
  t.equal(encoding, 'quoted-printable');
  const soft = bytes.toString().replace(/=\r\n/g, '');
  t.equal(
    soft,
    `<p>Gr=C3=B6=C3=9Fe</p>\r\n<a href=3D"${LINK}">x</a>\r\n`,
    'without the blanks that were added on the way',
  );
});

t.test('a line that becomes too long gets another encoding', async (t) => {
  const line = `<p>${'x'.repeat(960)}</p><a href="http://x">`;
  const fits = Buffer.from(`${line}\r\n`);
  t.ok(line.length <= 998 && line.length - 8 + LINK.length > 998);
  const { encoding, bytes } = track8(fits, leafOf('7bit'))!;
  t.equal(encoding, 'quoted-printable');
  t.match(bytes.toString().replace(/=\r\n/g, ''), LINK);
  const unended = track8(Buffer.from(line), leafOf('7bit'))!;
  t.equal(unended.encoding, 'quoted-printable', 'the last line, without its end');
});

t.test('octets of other charsets stay, and are read as what they are', async (t) => {
  const cyrillic = Buffer.concat([
    Buffer.from('<a href="http://x">'),
    Buffer.from([0xcf, 0xd4, 0xd0]),
    Buffer.from('</a>'),
  ]);
  let seen = '';
  const changed = trackPart({ leaf: leafOf('8bit', 'koi8-r'), content: cyrillic, longLine: null }, (page) => {
    seen = page.shown;
    return track(page);
  })!;
  t.match(seen, 'отп');
  t.ok(changed.bytes.includes(Buffer.from([0xcf, 0xd4, 0xd0])));
  t.equal(changed.bytes.length, cyrillic.length + LINK.length - 8);
  const latin = Buffer.from('<a href="http://x">\xa0\xe4</a>', 'latin1');
  t.ok(track8(latin, leafOf('8bit', 'iso-8859-1'))!.bytes.includes(Buffer.from('\xa0\xe4', 'latin1')));
});

t.test('what leaves as it came', async (t) => {
  const none = (content: Buffer, leaf: Leaf, why: string) => t.equal(track8(content, leaf), null, why);
  none(Buffer.from('<p>no link</p>'), leafOf(null), 'nothing to insert');
  none(Buffer.from('<a href="http://x">\xe4</a>', 'latin1'), leafOf('8bit'), 'UTF-8 that is none');
  none(Buffer.from('<a href="http://x">'), leafOf(null, 'iso-2022-jp'), 'the octets of mark-up mean other things, too');
  none(Buffer.from('<a href="http://x">'), leafOf(null, 'utf-16'), 'two octets each');
  none(Buffer.from('<a href="http://x">'), leafOf(null, 'iso-8859-99'), 'a charset that nobody knows');
  none(
    Buffer.from('<pre>-----BEGIN PGP SIGNED MESSAGE-----</pre><a href="http://x">'),
    leafOf(null),
    'signed in the text',
  );
});
