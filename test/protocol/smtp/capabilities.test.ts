// EHLO replies as servers write them, sloppy ones included.
import t from 'tap';
import { parseCapabilities } from '../../../src/protocol/smtp/capabilities.ts';

t.test('keywords, in any case', async (t) => {
  const capabilities = parseCapabilities([
    'mx.example.org PIPELINING is not offered on this line',
    'size 52428800',
    'STARTTLS',
    '8bitmime',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'CHUNKING',
    'DSN',
    'X-EXAMPLE 1 2',
    'AUTH=LOGIN PLAIN',
  ]);
  t.match(capabilities, {
    maxSizeBytes: 52_428_800,
    size: true,
    pipelining: false,
    startTls: true,
    eightBitMime: true,
    smtpUtf8: true,
    enhancedStatusCodes: true,
    chunking: true,
    dsn: true,
  });
  t.ok(capabilities.keywords.has('X-EXAMPLE'));
  t.ok(capabilities.keywords.has('AUTH'));
});

t.test('a server that knows only HELO', async (t) => {
  const { keywords, ...flags } = parseCapabilities([]);
  t.equal(keywords.size, 0);
  t.same(new Set(Object.values(flags)), new Set([null, false]));
});

t.test('sizes', async (t) => {
  const sizeOf = (line: string) => parseCapabilities(['mx', line]).maxSizeBytes;
  t.equal(sizeOf('SIZE'), null);
  t.equal(sizeOf('SIZE 0'), null, 'zero means no limit (RFC 1870 section 4)');
  t.equal(sizeOf('SIZE=1000'), 1000);
  t.equal(sizeOf('SIZE -5'), null);
  t.equal(sizeOf('SIZE unlimited'), null);
});
