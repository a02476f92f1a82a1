// Base32 (RFC 4648) without case and without padding.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decodeBase32, encodeBase32 } from '../../src/base/text/base32.ts';

// RFC 4648 section 10, in lower case without the padding.
const VECTORS = {
  '': '',
  f: 'my',
  fo: 'mzxq',
  foo: 'mzxw6',
  foob: 'mzxw6yq',
  fooba: 'mzxw6ytb',
  foobar: 'mzxw6ytboi',
};

t.test('the test vectors of the RFC', async (t) => {
  for (const [plain, encoded] of Object.entries(VECTORS)) {
    t.equal(encodeBase32(Buffer.from(plain)), encoded, plain);
    t.equal(decodeBase32(encoded)?.toString(), plain, encoded);
    t.equal(decodeBase32(encoded.toUpperCase())?.toString(), plain, 'a mail system may change the case');
  }
});

t.test('what was encoded is decoded', async (t) => {
  for (let length = 0; length <= 64; length++) {
    for (const bytes of [randomBytes(length), Buffer.alloc(length, 0xff), Buffer.alloc(length)]) {
      const text = encodeBase32(bytes);
      t.match(text, /^[a-z2-7]*$/);
      t.equal(text.length, Math.ceil((length * 8) / 5));
      t.ok(decodeBase32(text)?.equals(bytes), text);
    }
  }
});

t.test('a view into something larger is encoded alone', async (t) => {
  t.equal(encodeBase32(Buffer.from('xfoobarx').subarray(1, 7)), VECTORS.foobar);
});

t.test('nothing else is decoded', async (t) => {
  for (const text of ['0', 'm1', 'my======', 'mzxw6 ytb', 'mzxw6-ytb', 'mzxw6ytb\n', 'ſy', 'ｍy', 'mü']) {
    t.equal(decodeBase32(text), null, JSON.stringify(text));
  }
});

t.test('a value has one text', async (t) => {
  t.equal(decodeBase32('mz'), null, 'bits left over must be zero');
  t.equal(decodeBase32('mzxw6ytbo7'), null);
  for (const text of ['a', 'mza', 'mzxw6a']) {
    t.equal(decodeBase32(text), null, `${text}: of a length that no value has`);
  }
});
