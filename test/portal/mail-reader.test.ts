// Mails of strangers in the viewer: read in their charsets, cut to what a page holds, and given up in time.
import t, { type Test } from 'tap';
import { silentLogger } from '../../src/observe/log.ts';
import { createMailReader, type MailReaderLimits } from '../../src/portal/mails/mail-reader.ts';
import { MAIL_LIMITS, type ShownMail } from '../../src/portal/mails/shown-mail.ts';
import { patience } from '../support/patience.ts';

function readerOf(t: Test, limits: Partial<MailReaderLimits> = {}) {
  const reader = createMailReader({
    log: silentLogger,
    limits: { mailMs: patience(5000), waitMs: patience(20_000), ...limits },
  });
  t.teardown(() => reader.close());
  return {
    reader,
    async read(...lines: (string | Buffer)[]): Promise<ShownMail> {
      const octets = Buffer.concat(lines.flatMap((line) => [Buffer.from(line as string), Buffer.from('\r\n')]));
      const reading = await reader.read(octets);
      if (reading.kind === 'unreadable') throw new Error(reading.reason);
      return reading.mail;
    },
  };
}

t.test('words, charsets and pictures', async (t) => {
  const { read } = readerOf(t);
  const latin = await read(
    ...['From: =?iso-8859-1?Q?J=F6?= <jo@x.test>', 'To: a@x.test, b@x.test', 'Subject: =?utf-8?B?R3LDvMOfZQ==?='],
    ...['Content-Type: text/plain; charset=iso-8859-1', '', Buffer.from('Gr\xfc\xdfe', 'latin1')],
  );
  t.match(latin, { from: '"Jö" <jo@x.test>', to: 'a@x.test, b@x.test', subject: 'Grüße', text: /Grüße/, html: null });
  t.same(latin.headers[1], ['To', 'a@x.test, b@x.test']);
  for (const charset of ['x-unknown', '', 'utf-7', '"; drop', 'gb18030', 'iso-2022-jp']) {
    const odd = await read(
      `Content-Type: text/plain; charset=${charset}`,
      '',
      'plain words',
      Buffer.from([0xff, 0xfe, 0x80]),
    );
    t.match(odd.text, 'plain words', charset);
  }
  const rich = await read(
    ...[
      'Content-Type: multipart/related; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<img src="cid:p1"> &lt;',
    ],
    ...[
      '--b',
      'Content-Type: image/png',
      'Content-ID: <p1>',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw0KGgo=',
      '--b',
    ],
    ...['Content-Type: application/x-msdownload; name="a.exe"', 'Content-Disposition: attachment', '', 'MZ', '--b--'],
  );
  t.match(rich.html, 'src="data:image/png;base64,iVBORw0KGgo="', "the mail's own picture is put in");
  t.match(rich.html, '&lt;', 'and nothing else is touched');
  t.match(rich.attachments.at(-1), { name: 'a.exe', type: 'application/x-msdownload', octets: Number });
  t.match(await read(''), { from: '', subject: '', text: null, html: null, attachments: [] }, 'nothing at all');
});

t.test('what is too much is cut, and said', async (t) => {
  const { read, reader } = readerOf(t);
  const long = await read('Subject: '.padEnd(50_000, 'x'), '', 'word '.repeat(100_000));
  t.equal(long.text?.length, MAIL_LIMITS.textChars);
  t.ok(long.subject.length <= MAIL_LIMITS.headerChars + 1);
  t.match(long.cuts, [/The text has \d+ characters/]);
  const many = await read(...Array.from({ length: 1000 }, (_, n) => `X-${n}: y`), '', 'hi');
  t.equal(many.headers.length, MAIL_LIMITS.headers);
  t.match(many.cuts, [/1000 fields/]);
  const parts = Array.from({ length: 200 }, () => '--b\r\nContent-Disposition: attachment; filename=x\r\n\r\nx');
  const full = await read('Content-Type: multipart/mixed; boundary=b', '', ...parts, '--b--');
  t.equal(full.attachments.length, MAIL_LIMITS.attachments);
  const huge = await reader.read(
    Buffer.from(`Subject: x\r\n\r\n${`${'a'.repeat(98)}\r\n`.repeat(MAIL_LIMITS.octets / 100 + 1)}`),
  );
  t.match(huge, { kind: 'read', mail: { subject: 'x', cuts: [/larger than 10 MiB/, /The text has/] } });
});

t.test('what cannot be taken apart is given up, and the next mail is read', async (t) => {
  const { read, reader } = readerOf(t);
  const nested = Array.from(
    { length: 20_000 },
    (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n`,
  );
  const deep = Buffer.from(`Content-Type: multipart/mixed; boundary=b0\r\n\r\n${nested.join('\r\n')}`);
  t.match(await reader.read(deep), { kind: 'unreadable', reason: /child nodes/ });
  t.match(await read('Subject: next', '', 'x'), { subject: 'next' });
});

t.test('a mail that takes too long costs its thread, and nobody else anything', async (t) => {
  const hasty = createMailReader({ log: silentLogger, limits: { mailMs: 1, waitMs: patience(20_000) } });
  const [first, second] = await Promise.all([hasty.read(Buffer.from('a')), hasty.read(Buffer.from('b'))]);
  for (const reading of [first, second]) t.match(reading, { kind: 'unreadable', reason: /took longer than/ });
  await hasty.close();
  t.match(await hasty.read(Buffer.from('c')), { kind: 'unreadable', reason: /restarting/ }, 'closed');

  const small = createMailReader({
    log: silentLogger,
    limits: { mailMs: patience(5000), waitMs: patience(20_000), memoryMb: 48 },
  });
  t.teardown(() => small.close());
  const lines = Buffer.from(`Subject: x\r\n\r\n${'a\r\n'.repeat(3_000_000)}`);
  t.match(await small.read(lines), { kind: 'unreadable', reason: /memory/ });
  t.match(await small.read(Buffer.from('Subject: next\r\n\r\nx')), { kind: 'read', mail: { subject: 'next' } });
});

t.test('only so many wait', async (t) => {
  const { reader } = readerOf(t, { mails: 2 });
  const readings = await Promise.all(
    Array.from({ length: 6 }, (_, n) => reader.read(Buffer.from(`Subject: ${n}\r\n\r\n`))),
  );
  t.same(
    readings.map((reading) => (reading.kind === 'read' ? reading.mail.subject : reading.reason)),
    ['0', '1', '2', ...Array(3).fill('too many mails are being read at once')],
  );
});
