// Attachments as a call gives them: each rule at its edges, and the field that is named when one is broken.
import t from 'tap';
import { type AttachmentBody, readAttachments } from '../../src/submission/attachments.ts';

const GOOD: AttachmentBody = { filename: 'a.pdf', content: 'SGk=' };

function problemOf(...given: Partial<AttachmentBody>[]): string | null {
  const read = readAttachments(given.map((changes) => ({ ...GOOD, ...changes })));
  if (Array.isArray(read)) return null;
  if (!read.field.startsWith('attachments')) throw new Error(`not the whole path: ${read.field}`);
  return `${read.index} ${read.field}: ${read.problem}`;
}

function accepted(changes: Partial<AttachmentBody>) {
  const read = readAttachments([{ ...GOOD, ...changes }]);
  return Array.isArray(read) ? read[0] : read;
}

t.test('what is given comes out decoded, in its order', async (t) => {
  t.strictSame(readAttachments([]), []);
  const given: AttachmentBody[] = [
    { filename: 'Größe.pdf', content: 'SGk', content_type: null, content_id: null },
    { filename: 'logo', content: 'AAEC\r\n/w==\r\n', content_type: 'image/png', content_id: 'logo@shop' },
    { filename: 'empty.txt', content: '' },
  ];
  t.strictSame(readAttachments(given), [
    { filename: 'Größe.pdf', contentType: 'application/pdf', contentId: null, content: Buffer.from('Hi') },
    { filename: 'logo', contentType: 'image/png', contentId: 'logo@shop', content: Buffer.from([0, 1, 2, 255]) },
    { filename: 'empty.txt', contentType: 'text/plain', contentId: null, content: Buffer.alloc(0) },
  ]);
});

t.test('50 are accepted, 51 are not', async (t) => {
  t.equal(problemOf(...Array(50).fill({})), null);
  t.equal(problemOf(...Array(51).fill({})), '50 attachments: must have at most 50 entries.');
});

t.test('file names', async (t) => {
  const good = [
    ...['a', 'x'.repeat(255), '漢'.repeat(255), '😀'.repeat(255), '.a', '...', ' ', 'a b', '"', '%2F', 'C:a', '\u2028'],
    ...['\u202egnp.exe', 'e\u0301', '=?utf-8?Q?x?=', "utf-8''x", ';', '\u00a0'],
  ];
  for (const [index, filename] of good.entries()) t.match(accepted({ filename }), { filename }, `case ${index}`);
  const bad: [string, string][] = [
    ['', 'must have 1 to 255 characters.'],
    ['x'.repeat(256), 'must have 1 to 255 characters.'],
    ['😀'.repeat(256), 'must have 1 to 255 characters.'],
    ['x'.repeat(5_000_000), 'must have 1 to 255 characters.'],
    ['a/b', 'must not contain "/"; leave out the path.'],
    ['..\\b', 'must not contain "\\"; leave out the path.'],
    ['/', 'must not contain "/"; leave out the path.'],
    ['.', 'must not be ".".'],
    ['..', 'must not be "..".'],
    ['a\r\nBcc: x@evil.example', 'must not contain control characters.'],
    ['a\0', 'must not contain control characters.'],
    ['a\tb', 'must not contain control characters.'],
    ['a\x7f', 'must not contain control characters.'],
    ['a\u0085', 'must not contain control characters.'],
    ['a\ud800', 'must be valid Unicode; it contains a lone surrogate.'],
  ];
  for (const [filename, problem] of bad) {
    t.equal(
      problemOf({}, { filename }),
      `1 attachments[1].filename: ${problem}`,
      JSON.stringify(filename.slice(0, 20)),
    );
  }
});

t.test('types', async (t) => {
  const good = [
    'application/pdf',
    'TEXT/Plain',
    'text/plain; charset=utf-8',
    'text/plain;charset="utf-8"; format=flowed',
    'text/calendar ; method=REQUEST ',
    'a/b; c="d; e=f, (g)"; h=%',
    'application/vnd.oasis.opendocument.text',
    "x-!#$&/-^_.+%'*`{|}~",
    `a/${'b'.repeat(253)}`,
  ];
  for (const given of good) t.match(accepted({ content_type: given }), { contentType: given.trim() }, given);
  const media = 'must be a media type such as "text/csv; charset=utf-8".';
  const bad: [string, string][] = [
    ['', media],
    ['pdf', media],
    ['a/', media],
    ['/b', media],
    ['a/b/c', media],
    ['a b/c', media],
    ['*/*;', media],
    ['a/b;', media],
    ['a/b; c', media],
    ['a/b; c=', media],
    ['a/b; c=d e', media],
    ['a/b; c="d', media],
    ['a/b; c="d\\"e"', media],
    ['a/b; c="é"', media],
    ['a/b; c="\t"', media],
    ['a/b\r\nBcc: x', media],
    ['a/b; c="\r\nBcc: x"', media],
    ['a/b; c=d\n', media],
    ['ä/b', media],
    ["a/b; name*=utf-8''x", media],
    ['a/b; name*0=x', media],
    [`a/${'b'.repeat(254)}`, 'must have at most 255 characters.'],
    ['message/rfc822', 'must not be message/* or multipart/*.'],
    ['Message/Delivery-Status; a=b', 'must not be message/* or multipart/*.'],
    ['multipart/mixed; boundary=x', 'must not be message/* or multipart/*.'],
    [' MULTIPART/related', 'must not be message/* or multipart/*.'],
    ['a/b; Name="x.pdf"', 'must not have the parameter "name"; filename is used for it.'],
    ['a/b; c=d; C=e', 'must not have the parameter "c" twice.'],
  ];
  for (const [given, problem] of bad) {
    t.equal(problemOf({ content_type: given }), `0 attachments[0].content_type: ${problem}`, JSON.stringify(given));
  }
});

t.test('without a type, that of the name', async (t) => {
  const types = {
    'a.pdf': 'application/pdf',
    'a.PNG': 'image/png',
    'a.b.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'a.csv': 'text/csv',
    README: 'application/octet-stream',
    'a.unknown': 'application/octet-stream',
    'a.__proto__': 'application/octet-stream',
    // What the table has is message/rfc822, and multipart/x-gzip.
    'a.eml': 'application/octet-stream',
    eml: 'application/octet-stream',
    'a.gzip': 'application/octet-stream',
    '請求書.pdf': 'application/pdf',
  };
  for (const [filename, contentType] of Object.entries(types))
    t.match(accepted({ filename }), { contentType }, filename);
});

t.test('content IDs', async (t) => {
  for (const id of ['a', 'A.b_c@d-9', 'x'.repeat(128)]) t.match(accepted({ content_id: id }), { contentId: id });
  for (const id of ['', 'x'.repeat(129), '<a>', 'a b', 'ä', 'a\n', 'cid:a', 'a%', 'a\r\nBcc: x', 'a/b']) {
    const problem = 'must be 1 to 128 letters, digits, ".", "_", "@" or "-".';
    t.equal(problemOf({ content_id: id }), `0 attachments[0].content_id: ${problem}`, JSON.stringify(id));
  }
  t.equal(problemOf({ content_id: 'a' }, { content_id: 'A' }, {}, {}), null);
  t.equal(
    problemOf({ content_id: 'a' }, {}, { content_id: 'a' }),
    '2 attachments[2].content_id: is the same as that of attachments[0]; it must be unique.',
  );
});

t.test('content', async (t) => {
  t.match(accepted({ content: '\nS\r\nG\nk=\r\n' }), { content: Buffer.from('Hi') });
  const bad: [string, string][] = [
    ['S Gk=', 'must be base64; it has a space at offset 1; only line breaks may be between its characters.'],
    ['SGk==', 'must be base64; it has wrong padding.'],
    ['S', 'must be base64; it is incomplete.'],
    ['Hello, world', 'must be base64; it has a character at offset 5 that base64 does not have.'],
    ['_-8=', 'must be base64; it has "_" at offset 0; use the standard alphabet, with "+" and "/".'],
  ];
  for (const [content, problem] of bad) {
    t.equal(problemOf({}, {}, {}, { content }), `3 attachments[3].content: ${problem}`, content);
  }
});
