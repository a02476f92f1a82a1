// The header fields of attachments, byte by byte: names in any language, in lines that every server takes, and no name
// that makes a field of its own. What readers make of them: attached-body.test.ts.
import { simpleParser } from 'mailparser';
import t from 'tap';
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { attachmentFields } from '../../../src/protocol/mail/compose/attachment-fields.ts';

function attachment(changes: Partial<MailAttachment>): MailAttachment {
  return {
    filename: 'a.pdf',
    contentType: 'application/pdf',
    contentId: null,
    content: Buffer.from('x'),
    ...changes,
  };
}

const fieldsOf = (changes: Partial<MailAttachment>) => attachmentFields(attachment(changes), 'attachment');

t.test('a short ASCII name is in quotes', async (t) => {
  t.equal(
    fieldsOf({ filename: 'Invoice 4711.pdf' }),
    [
      'Content-Type: application/pdf; name="Invoice 4711.pdf"',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="Invoice 4711.pdf"',
      '',
    ].join('\r\n'),
  );
  t.match(fieldsOf({ filename: 'a "b" \\c.txt' }), 'attachment; filename="a \\"b\\" \\\\c.txt"\r\n');
});

t.test('any other name: encoded words for Outlook, RFC 2231 for the others', async (t) => {
  t.equal(
    fieldsOf({ filename: 'Größe (1).pdf' }),
    [
      'Content-Type: application/pdf; name="=?utf-8?B?R3LDtsOfZSAoMSkucGRm?="',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment;',
      " filename*=utf-8''Gr%C3%B6%C3%9Fe%20%281%29.pdf",
      '',
    ].join('\r\n'),
  );
  t.equal(
    fieldsOf({ filename: `${'漢'.repeat(20)}.pdf` }),
    [
      'Content-Type: application/pdf;',
      ' name="=?utf-8?B?5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi5ryi?=',
      ' =?utf-8?B?5ryi5ryi5ryi5ryi5ryi5ryi5ryiLnBkZg==?="',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment;',
      ` filename*0*=utf-8''${'%E6%BC%A2'.repeat(6)};`,
      ...[1, 2].map((index) => ` filename*${index}*=${'%E6%BC%A2'.repeat(6)};`),
      ` filename*3*=${'%E6%BC%A2'.repeat(2)}.pdf`,
      '',
    ].join('\r\n'),
  );
  t.match(fieldsOf({ filename: '=?utf-8?Q?x?=' }), "filename*=utf-8''%3D%3Futf-8%3FQ%3Fx%3F%3D\r\n");
  t.match(fieldsOf({ filename: `${'long '.repeat(20)}.pdf` }), / filename\*0\*=utf-8''[long%20]+;\r\n filename\*1\*=/);
});

t.test('type, parameters and content ID', async (t) => {
  t.equal(
    fieldsOf({ contentType: 'text/csv; charset=utf-8;header="a; b"', contentId: 'logo@shop' }),
    [
      'Content-Type: text/csv; charset=utf-8; header="a; b"; name="a.pdf"',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="a.pdf"',
      'Content-ID: <logo@shop>',
      '',
    ].join('\r\n'),
  );
  t.match(attachmentFields(attachment({}), 'inline'), 'Content-Disposition: inline; filename="a.pdf"\r\n');
  t.match(fieldsOf({ contentId: 'i'.repeat(128) }), `\r\nContent-ID: <${'i'.repeat(128)}>\r\n`);
});

t.test('lines stay short, whatever the name is', async (t) => {
  const names = ['ä', '漢', '😀', '"', '%', ' ', 'x', 'e\u0301', '👩‍👩‍👧'].flatMap((char) =>
    [1, 5, 20, 64, 255].map((length) => [...char.repeat(length)].slice(0, 255).join('')),
  );
  for (const filename of names) {
    const lines = fieldsOf({ filename }).split('\r\n');
    t.ok(
      lines.every((line) => line.length <= 76 && /^[ -~]*$/.test(line)),
      JSON.stringify(filename.slice(0, 20)),
    );
    for (const [word] of lines.join('').matchAll(/=\?[^ "]*\?=/g)) t.ok(word.length <= 75);
    const words = /name="(=\?[^"]*)"/.exec(lines.join(''))?.[1];
    // A reader of a subject decodes its words.
    if (words) t.equal((await simpleParser(`Subject: ${words}\r\n\r\n`)).subject, filename, 'Outlook reads it');
  }
});

t.test('nothing can end a line', async (t) => {
  const filename = 'x\r\nBcc: a@evil.example\r\n\r\nbody\0\u0085\n"; filename="y\ud800';
  const fields = fieldsOf({ filename, contentId: 'logo' });
  const names = fields.split(/\r\n(?![ \t])/).map((field) => field.split(':', 1)[0]);
  t.strictSame(names, ['Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition', 'Content-ID', '']);
  t.notMatch(fields, /[^\r\n -~]|\r(?!\n)|(?<!\r)\n/);
  t.match(fieldsOf({ filename: 'a\r\nX-A: b' }), '; filename="a  X-A: b"\r\n');
  t.match(fieldsOf({ filename: 'ä\r\n\u0085' }), "filename*=utf-8''%C3%A4%20%20%20\r\n");
  for (const broken of ['a/b\r\nBcc: x', 'a/b\0', 'a/ü']) {
    t.throws(() => fieldsOf({ contentType: broken }), TypeError);
    t.throws(() => fieldsOf({ contentId: broken }), TypeError);
  }
});
