// Return path and feedback id: what we made is read back, nothing else is.
import { createSecretKey } from 'node:crypto';
import t from 'tap';
import { IdSource } from '../../../src/base/ids.ts';
import { makeFeedbackId, readFeedbackId } from '../../../src/protocol/mail/addresses/feedback-id.ts';
import { makeReturnPath, readReturnPath } from '../../../src/protocol/mail/addresses/return-path.ts';

const ids = new IdSource();
const oldKey = { id: '1', key: Buffer.alloc(32, 1) };
const newKey = { id: 'b', key: createSecretKey(Buffer.alloc(32, 2)) };
const lookup = (id: string) => [oldKey, newKey].find((key) => key.id === id)?.key;

/** Every text that differs from the given one in one character. */
function* alterations(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'a' ? 'c' : 'a';
    yield text.slice(0, at) + other + text.slice(at + 1);
  }
}

t.test('return path', async (t) => {
  for (const key of [oldKey, newKey]) {
    const messageId = ids.next();
    const local = makeReturnPath(messageId, key);
    t.match(local, /^b[a-z2-7]{26}[a-z0-9][a-z2-7]{16}$/);
    t.equal(readReturnPath(local, lookup), messageId);
    t.equal(readReturnPath(local.toUpperCase(), lookup), messageId, 'without case');
    for (const altered of alterations(local)) t.equal(readReturnPath(altered, lookup), null, altered);
    t.equal(
      readReturnPath(local, () => undefined),
      null,
      'the key is gone',
    );
    t.equal(
      readReturnPath(local, () => Buffer.alloc(32, 9)),
      null,
      'another key under this id',
    );
    for (const wrong of ['', 'b', local.slice(0, -1), `${local}a`, `${local.slice(0, -1)}=`, 'postmaster']) {
      t.equal(readReturnPath(wrong, lookup), null, wrong);
    }
  }
  t.throws(() => makeReturnPath(ids.next(), { id: '', key: oldKey.key }), TypeError);
});

t.test('feedback id', async (t) => {
  const messageId = ids.next();
  const token = makeFeedbackId(messageId, oldKey);
  t.ok(token.startsWith(`${messageId}:`));
  t.equal(readFeedbackId(token, lookup), messageId);
  t.equal(readFeedbackId(token.toUpperCase(), lookup), messageId, 'without case');
  t.equal(readFeedbackId(` ${token.slice(0, 20)}\r\n ${token.slice(20)} `, lookup), messageId, 'folded');
  for (const altered of alterations(token)) t.equal(readFeedbackId(altered, lookup), null, altered);
  for (const wrong of ['', messageId, `${token}:x`, `${token}a`, ' '.repeat(10_000), `${messageId}:`]) {
    t.equal(readFeedbackId(wrong, lookup), null);
  }
});

t.test('a proof made for one purpose is worth nothing for the other', async (t) => {
  const messageId = ids.next();
  const proof = makeReturnPath(messageId, oldKey).slice(27);
  t.equal(readFeedbackId(`${messageId}:${proof}`, lookup), null);
});
