// What an application asks for in header fields: as written by hand, and as mail libraries write them.
import { spawnSync } from 'node:child_process';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import t from 'tap';
import type { Control } from '../../../../src/protocol/mail/written/control-headers.ts';
import { readWrittenHeader } from '../../../../src/protocol/mail/written/written-header.ts';

const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };
const NOTHING: Control = { idempotencyKey: null, tags: null, metadata: null, sendAt: null, tracking: {} };

function controlOf(header: Buffer): Control | string {
  const result = readWrittenHeader(header, ADDED);
  return 'problem' in result ? result.problem : result.control;
}

const read = (...lines: string[]) =>
  controlOf(Buffer.from(`${['From: jo@acme.example', ...lines].join('\r\n')}\r\n\r\n`));

t.test('the idempotency key has three names', async (t) => {
  const key = (header: string, value: string) => ({ ...NOTHING, idempotencyKey: { header, value } });
  const ours = 'X-Postrider-Idempotency-Key';
  t.strictSame(read(`${ours}: order 1234 `), key(ours, 'order 1234'));
  t.strictSame(read('idempotency-key:a'), key('Idempotency-Key', 'a'));
  t.strictSame(read('Resend-Idempotency-Key: a'), key('Resend-Idempotency-Key', 'a'));
  t.strictSame(read('Idempotency-Key: a', `${ours}: a`, 'Idempotency-Key: a'), key('Idempotency-Key', 'a'));
  t.strictSame(read('Idempotency-Key:'), key('Idempotency-Key', ''), 'its limits are checked elsewhere');
  t.equal(
    read('Idempotency-Key: a', 'resend-idempotency-key: b'),
    'Idempotency-Key and Resend-Idempotency-Key: The key is given twice with different values.',
  );
  t.equal(
    read('X-POSTRIDER-Idempotency-Key: a', 'X-Postrider-Idempotency-Key: A'),
    'X-Postrider-Idempotency-Key: This header is given twice with different values.',
  );
});

t.test('tags', async (t) => {
  const tags = (...values: string[]) => read(...values.map((value) => `X-Postrider-Tag: ${value}`));
  t.strictSame(tags('kind=receipt', 'x-postrider = a=b ', 'empty='), {
    ...NOTHING,
    tags: { kind: 'receipt', 'x-postrider': 'a=b', empty: '' },
  });
  t.strictSame(tags('a=1', 'a=1'), { ...NOTHING, tags: { a: '1' } });
  t.strictSame(tags('__proto__=1', 'constructor=2'), {
    ...NOTHING,
    tags: Object.fromEntries([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]),
  });
  t.equal(tags('a=1', 'a=2'), 'X-Postrider-Tag: One name is given with different values.');
  for (const value of ['', 'a', '=a', ' = a']) t.equal(tags(value), 'X-Postrider-Tag: must be name=value.', value);
  const many = Array.from({ length: 11 }, (_, index) => `t${index}=x`);
  t.equal(Object.keys((tags(...many.slice(1)) as Control).tags!).length, 10);
  t.equal(tags(...many), 'X-Postrider-Tag: There must be at most 10 tags.');
});

t.test('metadata', async (t) => {
  const metadata = (...lines: string[]) => read(`X-Postrider-Metadata: ${lines.join('\r\n')}`);
  t.strictSame(metadata('{"order": "1234",', '\t"name": "Jö"}'), {
    ...NOTHING,
    metadata: { order: '1234', name: 'Jö' },
  });
  t.strictSame(metadata('{}'), { ...NOTHING, metadata: {} });
  t.strictSame(metadata('{"__proto__":"1"}'), { ...NOTHING, metadata: JSON.parse('{"__proto__":"1"}') });
  const problem = 'X-Postrider-Metadata: must be a JSON object whose values are strings, like {"order":"1234"}.';
  for (const value of [
    '',
    'x',
    '1',
    'null',
    '"a"',
    '["a"]',
    '{"a":1}',
    '{"a":null}',
    '{"a":{}}',
    '{"a":"b"',
    '{a:"b"}',
  ]) {
    t.equal(metadata(value), problem, value);
  }
  t.equal(metadata(...Array.from({ length: 200 }, () => ` ${'['.repeat(900)}`)), problem, 'nested deeply');
  t.equal(
    read('X-Postrider-Metadata: {}', 'X-Postrider-Metadata: {}'),
    'X-Postrider-Metadata: This header is given twice.',
  );
});

t.test('the time and tracking', async (t) => {
  t.strictSame(read('X-Postrider-Send-At: 2026-12-24T18:00:00+01:00'), {
    ...NOTHING,
    sendAt: '2026-12-24T18:00:00+01:00',
  });
  t.strictSame(read('X-Postrider-Send-At: soon'), { ...NOTHING, sendAt: 'soon' }, 'is read elsewhere');
  t.equal(read('X-Postrider-Send-At: a', 'x-postrider-send-at: a'), 'X-Postrider-Send-At: This header is given twice.');
  const tracking = (value: string) => read(`X-Postrider-Tracking: ${value}`);
  const tracked = (opens: boolean, clicks: boolean) => ({ ...NOTHING, tracking: { opens, clicks } });
  t.strictSame(tracking('off'), tracked(false, false));
  t.strictSame(tracking('Opens'), tracked(true, false));
  t.strictSame(tracking('clicks'), tracked(false, true));
  t.strictSame(tracking('opens, clicks'), tracked(true, true));
  t.strictSame(tracking('clicks,opens'), tracked(true, true));
  for (const value of ['', 'on', 'off, opens', 'opens clicks', 'opens,', 'false']) {
    t.equal(tracking(value), 'X-Postrider-Tracking: must be off, opens, clicks, or "opens, clicks".', value);
  }
});

t.test('a header that is misspelt is not lost without a word', async (t) => {
  const meant = { Tags: 'Tag', sendat: 'Send-At', Metdata: 'Metadata', 'Idempotency-Kye': 'Idempotency-Key' };
  for (const [wrong, right] of Object.entries(meant)) {
    const name = `X-Postrider-${wrong}`;
    t.equal(read(`${name}: a=b`), `${name}: There is no such header; did you mean X-Postrider-${right}?`);
  }
  for (const other of ['Message-ID', 'Forwarded', 'Campaign', '', 'x'.repeat(900)]) {
    t.strictSame(read(`x-postrider-${other}: 1`), NOTHING, 'others are just removed');
  }
  t.strictSame(read('X-Postrider: a'), NOTHING);
});

// As applications pass them to their library, which may fold and encode them as it likes.
const KEY = 'order-'.repeat(30);
const METADATA = { customer: 'Jö Größe 😀', note: 'a long note '.repeat(20), path: '/x'.repeat(100) };
const GIVEN: [string, string][] = [
  ['X-Postrider-Idempotency-Key', KEY],
  ['X-Postrider-Tag', 'kind=receipt'],
  ['X-Postrider-Tag', 'shop=b'],
  ['X-Postrider-Metadata', JSON.stringify(METADATA)],
  ['X-Postrider-Send-At', '2026-12-24T18:00:00+01:00'],
  ['X-Postrider-Tracking', 'opens, clicks'],
];
const EXPECTED: Control = {
  idempotencyKey: { header: 'X-Postrider-Idempotency-Key', value: KEY },
  tags: { kind: 'receipt', shop: 'b' },
  metadata: METADATA,
  sendAt: '2026-12-24T18:00:00+01:00',
  tracking: { opens: true, clicks: true },
};

function headerOf(mail: Buffer): Buffer {
  return mail.subarray(0, mail.indexOf('\r\n\r\n') + 4);
}

t.test('as Nodemailer writes them', async (t) => {
  const headers = GIVEN.map(([key, value]) => ({ key, value }));
  const composer = new MailComposer({ from: 'jo@acme.example', to: 'ann@example.com', text: 'x', headers });
  const mail = await composer.compile().build();
  t.strictSame(controlOf(headerOf(Buffer.from(mail.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1'))), EXPECTED);
});

const PYTHON = `
import email.message, email.mime.text, email.policy, json, sys
given = json.load(sys.stdin)
new = email.message.EmailMessage(policy=email.policy.SMTP)
old = email.mime.text.MIMEText('x')
for mail in new, old:
    mail['From'] = 'jo@acme.example'
    for name, value in given:
        mail[name] = value
new.set_content('x')
sys.stdout.buffer.write(new.as_bytes() + b'%%%' + old.as_bytes(policy=email.policy.compat32.clone(linesep='\\r\\n')))
`;

t.test('as Python writes them', async (t) => {
  const run = spawnSync('python3', ['-c', PYTHON], { input: Buffer.from(JSON.stringify(GIVEN)), encoding: 'latin1' });
  const missing = run.error ? `python3 can't be run (Debian: apt-get install python3): ${run.error.message}` : false;
  await t.test('by both of its packages', { skip: missing }, async (t) => {
    t.equal(run.status, 0, run.stderr);
    const [asNew = '', asOld = ''] = run.stdout.split('%%%');
    t.strictSame(controlOf(headerOf(Buffer.from(asNew, 'latin1'))), EXPECTED, 'EmailMessage');
    t.strictSame(controlOf(headerOf(Buffer.from(asOld, 'latin1'))), EXPECTED, 'MIMEText');
  });
});
