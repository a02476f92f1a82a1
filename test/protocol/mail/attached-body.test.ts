// Messages with attachments: where each file goes, and that two readers find the names and bytes that were given.
// test/thorough/protocol/compose-oracle.test.ts does the same for many random ones.
import { randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { composeBody } from '../../../src/protocol/mail/compose/compose.ts';
import { testFolder } from '../../support/test-folder.ts';
import { readByPython, type Structure } from './python-reader.ts';
import { composeInput, composeWhole, type SampleInput, SUBMISSION_ID } from './sample-messages.ts';

const PDF: MailAttachment = {
  filename: 'Invoice.pdf',
  contentType: 'application/pdf',
  contentId: null,
  content: randomBytes(5000),
};
const LOGO: MailAttachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  contentId: 'logo',
  content: randomBytes(500),
};
const HTML = '<p>Hi <img src="cid:logo"></p>';

/** As mailparser reads it. */
async function read(raw: Buffer) {
  const skips = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  return simpleParser(raw, skips);
}

async function written(changes: Partial<SampleInput>) {
  const { raw, needs } = await composeWhole(composeInput(changes));
  return { raw, needs, text: raw.toString('latin1'), mail: await read(raw) };
}

const pythonsOf = (t: Test, mails: readonly Buffer[]) => readByPython(testFolder(t), mails);

t.test('the files are where readers expect them', async (t) => {
  const text = 'Hi';
  const cases: [string, Partial<SampleInput>, Structure][] = [
    ['text', { text, attachments: [PDF] }, ['multipart/mixed', 'text/plain', 'application/pdf']],
    ['HTML', { text: null, html: HTML, attachments: [PDF] }, ['multipart/mixed', 'text/html', 'application/pdf']],
    [
      'both',
      { text, html: HTML, attachments: [PDF] },
      ['multipart/mixed', ['multipart/alternative', 'text/plain', 'text/html'], 'application/pdf'],
    ],
    [
      'all',
      { text, html: HTML, attachments: [PDF, LOGO, { ...PDF, contentType: 'text/csv' }] },
      [
        'multipart/mixed',
        ['multipart/alternative', 'text/plain', ['multipart/related', 'text/html', 'image/png']],
        'application/pdf',
        'text/csv',
      ],
    ],
    [
      'both, inline files alone',
      { text, html: HTML, attachments: [LOGO] },
      ['multipart/alternative', 'text/plain', ['multipart/related', 'text/html', 'image/png']],
    ],
    [
      'HTML, inline files alone',
      { text: null, html: HTML, attachments: [LOGO] },
      ['multipart/related', 'text/html', 'image/png'],
    ],
    ['inline without HTML', { text, attachments: [LOGO] }, ['multipart/mixed', 'text/plain', 'image/png']],
    ['files alone', { text: null, attachments: [LOGO] }, ['multipart/mixed', 'image/png']],
    ['files and nothing', { text: '', html: '', attachments: [PDF] }, ['multipart/mixed', 'application/pdf']],
  ];
  const mails = await Promise.all(cases.map(async ([, changes]) => (await written(changes)).raw));
  const byPython = pythonsOf(t, mails);
  t.test('says Python', { skip: typeof byPython === 'string' ? byPython : false }, async (t) => {
    for (const [index, [name, , structure]] of cases.entries()) {
      const { compat32 } = byPython[index] as Exclude<typeof byPython, string>[number];
      t.strictSame(compat32.structure, structure, name);
      t.strictSame(compat32.defects, [], name);
    }
  });
  for (const [index, [name, changes]] of cases.entries()) {
    const mail = await read(mails[index]!);
    t.equal(mail.attachments.length, changes.attachments!.length, name);
    t.equal(mail.html || null, changes.html || null, name);
    t.equal(mail.text || null, changes.text === undefined ? 'Thank you.\n' : changes.text || null, name);
  }
});

t.test('inline files are related to the HTML by their content ID, all others are attachments', async (t) => {
  const { text, mail, needs } = await written({ html: HTML, attachments: [PDF, LOGO] });
  t.strictSame(
    mail.attachments.map((file) => [file.filename, file.contentDisposition, file.related ?? false, file.cid ?? null]),
    [
      ['logo.png', 'inline', true, 'logo'],
      ['Invoice.pdf', 'attachment', false, null],
    ],
  );
  t.match(text, /Content-Type: multipart\/related; type="text\/html";\r\n boundary="=_related_[0-9a-f]{32}"\r\n/);
  t.match(text, /\r\nMIME-Version: 1\.0\r\nContent-Type: multipart\/mixed;\r\n/);
  t.equal(text.match(/MIME-Version/g)?.length, 1);
  t.strictSame(needs, { smtputf8: false, eightBit: false });

  const withoutHtml = await written({ attachments: [LOGO] });
  t.match(withoutHtml.mail.attachments, [{ contentDisposition: 'attachment', cid: 'logo', filename: 'logo.png' }]);
});

t.test('text with a content ID is not shown below the HTML that refers to it', async (t) => {
  const notes = { ...LOGO, filename: 'notes.txt', contentType: 'text/plain', content: Buffer.from('notes') };
  const { mail } = await written({ html: HTML, text: 'Hi', attachments: [notes] });
  t.equal(mail.text, 'Hi');
  t.match(mail.attachments, [{ filename: 'notes.txt', related: true, cid: 'logo', content: notes.content }]);
});

t.test('boundaries: one for each level, and none is the beginning of another', async (t) => {
  const { text } = await written({ html: HTML, attachments: [PDF, LOGO] });
  const nested = await written({ html: HTML, attachments: [PDF] });
  for (const [whole, levels] of [
    [text, 3],
    [nested.text, 2],
  ] as const) {
    const boundaries = [...whole.matchAll(/boundary="([^"]+)"/g)].map(([, boundary]) => boundary!);
    t.equal(new Set(boundaries).size, levels);
    for (const one of boundaries)
      t.strictSame(
        boundaries.filter((other) => other.startsWith(one)),
        [one],
      );
    for (const boundary of boundaries) t.equal(whole.split(`\r\n--${boundary}--\r\n`).length, 2, 'ended once');
  }
});

t.test('text and HTML arrive as they were written, with large ones too', async (t) => {
  const long = (char: string) => `${char.repeat(70)}\n`.repeat(3000);
  for (const end of ['', '\n', '\n\n', '\r', ' ']) {
    for (const body of ['Hi', 'Grüße', '漢字', long('x'), long('ü'), long('漢')].map((text) => `${text}.${end}`)) {
      const given = { text: body, html: `<p>${body}`, attachments: [PDF, LOGO] };
      const { mail } = await written(given);
      const isSame = (one: string | false | undefined, other: string) =>
        typeof one === 'string' && one === other.replace(/\r/g, '\n');
      t.ok(isSame(mail.text, given.text), `text ${body.length} ${JSON.stringify(body.slice(0, 3) + end)}`);
      t.ok(isSame(mail.html, given.html), `HTML ${body.length} ${JSON.stringify(body.slice(0, 3) + end)}`);
      const alone = await written({ ...given, html: null });
      t.ok(isSame(alone.mail.text, given.text), `text alone ${body.length}`);
    }
  }
});

t.test('names and bytes arrive as they were given', async (t) => {
  const names = [
    'a.pdf',
    'Größe.pdf',
    '請求書.pdf',
    'חשבונית "x".pdf',
    '😀'.repeat(255),
    'x'.repeat(255),
    ' a  b ',
    "it's 100 %; *(a)=b, <c>",
    "utf-8''x",
    '<x>',
    '"x"',
    '"',
    '.',
  ];
  const contents = [Buffer.alloc(0), Buffer.from([0]), Buffer.from('\r\n.\r\n--=_mixed\r\n'), randomBytes(100_000)];
  const attachments = names.map((filename, index) => ({
    ...PDF,
    filename,
    content: contents[index % contents.length]!,
  }));
  const mails = [await written({ attachments }), await written({ html: HTML, attachments })];
  for (const { mail, text } of mails) {
    t.strictSame(
      mail.attachments.map(({ filename }) => filename),
      names,
    );
    for (const [index, file] of mail.attachments.entries()) t.ok(file.content.equals(attachments[index]!.content));
    const lines = text.slice(text.indexOf('\r\n\r\n')).split('\r\n');
    t.strictSame(
      lines.filter((line) => line.length > 76),
      [],
    );
  }
  const byPython = pythonsOf(
    t,
    mails.map(({ raw }) => raw),
  );
  await t.test('says Python', { skip: typeof byPython === 'string' ? byPython : false }, async (t) => {
    for (const reading of byPython as Exclude<typeof byPython, string>) {
      for (const { leaves } of [reading.compat32, reading.default]) {
        const files = leaves.slice(-names.length);
        t.strictSame(
          files.map(({ filename }) => filename),
          names,
        );
        t.strictSame(
          files.map(({ typeName }) => typeName),
          names,
          'in Content-Type, as Outlook reads it',
        );
        for (const [index, { content }] of files.entries()) {
          t.ok(Buffer.from(content, 'base64').equals(attachments[index]!.content));
        }
      }
    }
  });
});

t.test('the same input gives the same bytes; without attachments, those of before', async (t) => {
  const input = { text: 'Hi', html: HTML, boundarySeed: SUBMISSION_ID };
  const attachments = [PDF, LOGO];
  t.strictSame(await composeBody({ ...input, attachments }), await composeBody({ ...input, attachments }));
  t.strictSame(await composeBody({ ...input, attachments: [] }), await composeBody(input));
  await t.rejects(composeBody({ ...input, attachments, boundarySeed: 'x"\r\nBcc: x' }), TypeError);
});

t.test('the event loop runs between large attachments, and small ones do not wait for it', async (t) => {
  const turnsWith = async (...bytes: number[]) => {
    const attachments = bytes.map((length) => ({ ...PDF, content: Buffer.alloc(length) }));
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    await composeBody({ text: 'Hi', html: null, attachments, boundarySeed: SUBMISSION_ID });
    clearImmediate(next);
    return turns;
  };
  const MIB = 1024 * 1024;
  t.equal(await turnsWith(1000, 1000), 0);
  t.equal(await turnsWith(MIB / 2, MIB / 2), 0);
  t.equal(await turnsWith(2 * MIB), 0, 'nothing comes after it');
  t.ok((await turnsWith(MIB, 1)) >= 1);
  t.ok((await turnsWith(MIB, MIB, MIB, MIB)) >= 3);
});
