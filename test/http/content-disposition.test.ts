// The name of a download: whatever it is, one header value with a name for old programs and one for the others.
import t from 'tap';
import { downloadAs } from '../../src/http/content-disposition.ts';

t.test('plain names stand in quotes alone', async (t) => {
  t.equal(downloadAs('invoice 4711 (a).pdf'), 'attachment; filename="invoice 4711 (a).pdf"');
});

t.test('others have a second form, and the first one keeps what is harmless', async (t) => {
  t.equal(downloadAs('Größe.pdf'), `attachment; filename="Gr__e.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf`);
  t.equal(downloadAs('漢😀'), `attachment; filename="__"; filename*=UTF-8''%E6%BC%A2%F0%9F%98%80`);
  t.equal(
    downloadAs(`a'b(c)*!~.x%41`),
    `attachment; filename="a'b(c)*!~.x_41"; filename*=UTF-8''a%27b%28c%29%2A!~.x%2541`,
  );
});

t.test('no name ends the value, the line or the folder', async (t) => {
  t.equal(
    downloadAs('x"; filename=evil\r\nSet-Cookie: a=b\\../e\0\ud800'),
    `attachment; filename="x_; filename=evil__Set-Cookie: a=b_.._e__"; filename*=UTF-8''x%22%3B%20filename%3Devil%0D%0ASet-Cookie%3A%20a%3Db%5C..%2Fe%00%EF%BF%BD`,
  );
  for (let code = 0; code < 0x3000; code++) {
    t.match(
      downloadAs(`a${String.fromCodePoint(code)}b`),
      /^attachment; filename="[^\x00-\x1f"\\%/\x7f-\uffff]+"(?:; filename\*=UTF-8''[\w.~!-]*(?:%[\dA-F]{2}[\w.~!-]*)*)?$/,
    );
  }
});
