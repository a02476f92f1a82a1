// The mailto of List-Unsubscribe: it names its message to us, and nothing else does.
import t from 'tap';
import { makeReturnPath, readReturnPath } from '../../../src/protocol/mail/addresses/return-path.ts';
import {
  makeUnsubscribeAddress,
  readUnsubscribeAddress,
} from '../../../src/protocol/mail/addresses/unsubscribe-address.ts';

const KEY = { id: 'a', key: Buffer.alloc(32, 3) };
const keys = (id: string) => (id === 'a' ? KEY.key : undefined);
const MESSAGE = '019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11';

t.test('there and back', async (t) => {
  const localPart = makeUnsubscribeAddress(MESSAGE, KEY);
  t.match(localPart, /^u[a-z2-7]{26}a[a-z2-7]{16}$/, 'within the 64 octets of a local part, in any case');
  t.equal(readUnsubscribeAddress(localPart, keys), MESSAGE);
  t.equal(readUnsubscribeAddress(localPart.toUpperCase(), keys), MESSAGE);
});

t.test('a return path is no unsubscription, and the other way round', async (t) => {
  const unsubscribe = makeUnsubscribeAddress(MESSAGE, KEY);
  const returnPath = makeReturnPath(MESSAGE, KEY);
  t.equal(readUnsubscribeAddress(returnPath, keys), null);
  t.equal(readReturnPath(unsubscribe, keys), null);
  t.equal(readUnsubscribeAddress(`u${returnPath.slice(1)}`, keys), null, 'the purpose is authenticated');
  t.equal(readReturnPath(`b${unsubscribe.slice(1)}`, keys), null);
});

t.test('forged ones', async (t) => {
  const localPart = makeUnsubscribeAddress(MESSAGE, KEY);
  for (let at = 0; at < localPart.length; at++) {
    const changed = localPart.slice(0, at) + (localPart[at] === 'b' ? 'c' : 'b') + localPart.slice(at + 1);
    t.equal(readUnsubscribeAddress(changed, keys), null, changed);
  }
  for (const other of ['', 'u', `${localPart}x`, localPart.slice(1), 'postmaster']) {
    t.equal(readUnsubscribeAddress(other, keys), null, other);
  }
  t.equal(
    readUnsubscribeAddress(localPart, () => undefined),
    null,
    'its key is gone',
  );
});
