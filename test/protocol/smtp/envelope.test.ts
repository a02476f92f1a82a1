// Which commands a message leads to, what stops it before the first one, and injection.
import t from 'tap';
import { parseCapabilities } from '../../../src/protocol/smtp/capabilities.ts';
import {
  assertSafe,
  type Envelope,
  findUnsupported,
  mailCommand,
  rcptCommand,
} from '../../../src/protocol/smtp/envelope.ts';

const UNSAFE = { message: 'an address contains a character that SMTP does not allow' };
const plain: Envelope = {
  mailFrom: 'a@example.org',
  rcptTo: 'b@example.net',
  sizeBytes: 1000,
  smtputf8: false,
  eightBit: false,
};
const bare = parseCapabilities([]);
const full = parseCapabilities(['mx', 'SIZE 1000', '8BITMIME', 'SMTPUTF8']);

t.test('commands carry what is needed and offered', async (t) => {
  t.equal(mailCommand(plain, bare), 'MAIL FROM:<a@example.org>\r\n');
  t.equal(mailCommand(plain, full), 'MAIL FROM:<a@example.org> SIZE=1000\r\n');
  t.equal(mailCommand({ ...plain, eightBit: true }, full), 'MAIL FROM:<a@example.org> SIZE=1000 BODY=8BITMIME\r\n');
  t.equal(mailCommand({ ...plain, smtputf8: true }, full), 'MAIL FROM:<a@example.org> SIZE=1000 SMTPUTF8\r\n');
  t.equal(mailCommand({ ...plain, rcptTo: 'ü@example.net' }, full), 'MAIL FROM:<a@example.org> SIZE=1000 SMTPUTF8\r\n');
  t.equal(mailCommand({ ...plain, mailFrom: '' }, bare), 'MAIL FROM:<>\r\n');
  t.equal(rcptCommand({ ...plain, rcptTo: '"a b"@example.net' }), 'RCPT TO:<"a b"@example.net>\r\n');
});

t.test('what the server does not offer', async (t) => {
  t.equal(findUnsupported(plain, bare), null);
  t.equal(findUnsupported({ ...plain, smtputf8: true, eightBit: true }, full), null);
  t.match(findUnsupported({ ...plain, smtputf8: true }, bare), { need: 'smtputf8' });
  t.match(findUnsupported({ ...plain, mailFrom: 'ü@example.org' }, bare), { need: 'smtputf8' });
  t.match(findUnsupported({ ...plain, rcptTo: 'a@exämple.org' }, bare), { need: 'smtputf8' });
  t.match(findUnsupported({ ...plain, eightBit: true }, bare), { need: 'eightbit' });
  t.match(findUnsupported({ ...plain, sizeBytes: 1001 }, full), {
    need: 'size',
    why: /1000 bytes, but the message has 1001/,
  });
});

t.test('angle brackets inside quotes are a part of the address', async (t) => {
  for (const local of ['"<b>"', '"a>"', '"a\\"<b"', '"\\\\<"']) {
    const envelope = { ...plain, rcptTo: `${local}@example.net` };
    t.doesNotThrow(() => assertSafe(envelope), local);
    t.equal(rcptCommand(envelope), `RCPT TO:<${local}@example.net>\r\n`);
  }
});

t.test('addresses cannot break out of their command', async (t) => {
  t.doesNotThrow(() => assertSafe(plain));
  t.doesNotThrow(() => assertSafe({ ...plain, mailFrom: '' }));
  for (const evil of ['\r', '\n', '\0', '<', '>', '\t', '\u007f', '\u0085', '\ud800']) {
    t.throws(() => assertSafe({ ...plain, mailFrom: `a${evil}@example.org` }), UNSAFE);
    t.throws(() => assertSafe({ ...plain, rcptTo: `a${evil}@example.org` }), UNSAFE);
  }
  for (const evil of [
    '"a" <b>@example.org',
    '"a"b>@example.org',
    '"a\\"<b>@example.org',
    '"a<b@example.org',
    '"a\r"@b.org',
  ]) {
    t.throws(() => assertSafe({ ...plain, rcptTo: evil }), UNSAFE, evil);
  }
  t.throws(() => assertSafe({ ...plain, rcptTo: '' }), { message: 'the recipient is empty' });
});
