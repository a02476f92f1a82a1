// Tokens of links in mail: what comes back from them, and that nothing else opens anything.
import { createHmac } from 'node:crypto';
import t from 'tap';
import {
  makeClickToken,
  makeOpenToken,
  makeUnsubscribeToken,
  readClickToken,
  readOpenToken,
  readUnsubscribeToken,
} from '../../src/links/link-token.ts';

const KEYS = { a: Buffer.alloc(32, 1), b: Buffer.alloc(32, 2) };
const keys = (id: string) => KEYS[id as keyof typeof KEYS];
const keyA = { id: 'a', key: KEYS.a };
const subject = {
  messageId: '019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11',
  tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10',
};
const click = { ...subject, linkIndex: 513, linkCount: 700, url: 'https://shop.example/a?b=c&d=ä#e' };
const unsubscribe = { ...subject, recipient: 'jö@example.org' };

const tokens = {
  open: { text: makeOpenToken(subject, keyA), read: readOpenToken, holds: subject },
  click: { text: makeClickToken(click, keyA), read: readClickToken, holds: click },
  unsubscribe: { text: makeUnsubscribeToken(unsubscribe, keyA), read: readUnsubscribeToken, holds: unsubscribe },
};

t.test('a token carries all that its link needs', async (t) => {
  for (const { text, read, holds } of Object.values(tokens)) {
    t.match(text, /^a[\w-]+$/, 'safe in a path and in an attribute without quotes');
    t.strictSame(read(text, keys), holds);
  }
});

t.test('keys rotate: an older one opens its tokens until it is gone', async (t) => {
  const old = makeClickToken(click, { id: 'b', key: KEYS.b });
  t.strictSame(readClickToken(old, keys), click);
  t.equal(
    readClickToken(old, (id) => (id === 'a' ? KEYS.a : undefined)),
    null,
  );
});

t.test('no token is good for another purpose', async (t) => {
  for (const [name, { text }] of Object.entries(tokens)) {
    for (const [other, { read }] of Object.entries(tokens)) {
      t.equal(read(text, keys) !== null, name === other, `${name} read as ${other}`);
    }
  }
});

t.test('every change of any character is noticed', async (t) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const { text, read } of Object.values(tokens)) {
    let opened = 0;
    for (let at = 0; at < text.length; at++) {
      for (const letter of letters) {
        const changed = text.slice(0, at) + letter + text.slice(at + 1);
        if (changed !== text && read(changed, keys) !== null) opened++;
      }
      const cuts = at === 0 ? [] : [text.slice(0, at), text.slice(at)];
      opened += cuts.filter((cut) => read(cut, keys) !== null).length;
    }
    t.equal(opened, 0);
  }
});

t.test('what is no token at all', async (t) => {
  const { text } = tokens.click;
  const strange = [
    '',
    'a',
    `${text}=`,
    `${text}A`,
    ` ${text}`,
    `${text}\n`,
    text.toUpperCase(),
    `a${'A'.repeat(10_000)}`,
    'a%00',
    `__proto__${text}`,
    text.replace(/^a/, 'c'),
    `${text}/../x`,
  ];
  for (const one of strange) t.equal(readClickToken(one, keys), null, JSON.stringify(one.slice(0, 30)));
});

t.test('an authentic token of the wrong length does not open', async (t) => {
  const forge = (purpose: string, content: Buffer) => {
    const mac = createHmac('sha256', KEYS.a).update(`postrider link ${purpose} a\0`).update(content).digest();
    return `a${Buffer.concat([mac.subarray(0, 16), content]).toString('base64url')}`;
  };
  t.strictSame(readOpenToken(forge('open', Buffer.alloc(32)), keys)?.messageId.length, 36, 'the forger knows the key');
  for (const length of [1, 31, 33, 64]) t.equal(readOpenToken(forge('open', Buffer.alloc(length)), keys), null);
  for (const length of [1, 32, 36]) t.equal(readClickToken(forge('click', Buffer.alloc(length)), keys), null);
  for (const length of [1, 32]) t.equal(readUnsubscribeToken(forge('unsubscribe', Buffer.alloc(length)), keys), null);
});
