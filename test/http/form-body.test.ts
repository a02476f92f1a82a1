// What forms send, as browsers write it, and what is none of it.
import t from 'tap';
import { parseFormBody } from '../../src/http/form-body.ts';

const URLENCODED = 'application/x-www-form-urlencoded; charset=UTF-8';

t.test('fields', async (t) => {
  const form = parseFormBody(URLENCODED, Buffer.from('name=J%C3%B6rg+M&scope=a&scope=b&empty='));
  t.equal(form?.fields.get('name'), 'Jörg M');
  t.same(form?.fields.getAll('scope'), ['a', 'b']);
  t.equal(form?.fields.get('empty'), '');
});

t.test('files come with their bytes, fields beside them', async (t) => {
  const sent = new FormData();
  sent.set('reason', 'manual\r\nand more');
  const bytes = Buffer.from([0, 13, 10, 45, 45, 255, 13, 10]);
  sent.set('list', new File([bytes], 'a "list".csv', { type: 'text/csv' }));
  const request = new Request('http://localhost/', { method: 'POST', body: sent });
  const body = Buffer.from(await request.arrayBuffer());
  const form = parseFormBody(request.headers.get('content-type')!, body);
  t.equal(form?.fields.get('reason'), 'manual\r\nand more');
  t.equal(form?.files.get('list')?.name, 'a "list".csv');
  t.same(form?.files.get('list')?.bytes, bytes);
});

t.test('what is no form, or breaks off, is none', async (t) => {
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
  const multipart = (text: string, type = 'multipart/form-data; boundary=b') => parseFormBody(type, Buffer.from(text));
  t.equal(multipart(`${part}--b--\r\n`)?.fields.get('a'), '1', 'the sample is right');
  t.equal(multipart(`${part}--b--\r\n`, 'multipart/form-data; boundary="b"')?.fields.get('a'), '1');
  t.equal(parseFormBody(undefined, Buffer.from('a=1')), null);
  t.equal(parseFormBody('application/json', Buffer.from('{}')), null);
  const none = '--b\r\nContent-Disposition: form-data; name="f"; filename=""\r\n\r\n\r\n--b--\r\n';
  t.same(multipart(none)?.files.get('f'), { name: '', bytes: Buffer.alloc(0) }, 'no file was chosen');
  t.equal(multipart(part), null, 'without its end');
  t.equal(multipart('--b\r\nContent-Disposition: form-data; name="a"\r\n'), null, 'without a content');
  t.equal(multipart('--b\r\nX: y\r\n\r\n1\r\n--b--'), null, 'without a name');
  t.equal(multipart(`${part}--b--`, 'multipart/form-data'), null, 'without a boundary');
  t.equal(multipart(`${part.repeat(101)}--b--`), null, 'too many parts');
});
