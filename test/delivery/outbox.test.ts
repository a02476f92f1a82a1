// What sessions say reaches the main thread in its order, in one post per turn of the event loop, and
// before the thread is held by work.
import { generateKeyPairSync } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Vault } from '../../src/base/vault.ts';
import type { CourierNews, SessionWord } from '../../src/delivery/courier/messages.ts';
import { createPrepare } from '../../src/delivery/courier/prepare.ts';
import { Outbox } from '../../src/delivery/courier/session-port.ts';
import type { ContentReader, ContentResult } from '../../src/store/submissions.ts';

const MORE: SessionWord = { kind: 'more' };
const OVER: SessionWord = { kind: 'over' };
const untried = (id: string): SessionWord => ({ kind: 'untried', messageIds: [id] });

function openOutbox() {
  const posts: CourierNews[] = [];
  return { posts, outbox: new Outbox((news) => posts.push(news)) };
}

t.test('what is said in one turn is one post, in its order', async (t) => {
  const { posts, outbox } = openOutbox();
  outbox.add(2, untried('a'));
  outbox.add(1, MORE);
  outbox.add(2, untried('b'));
  outbox.add(2, OVER);
  t.same(posts, [], 'nothing is posted before the turn is over');
  await nextTurn();
  t.same(posts, [
    [
      [2, untried('a')],
      [1, MORE],
      [2, untried('b')],
      [2, OVER],
    ],
  ]);
  await nextTurn();
  t.equal(posts.length, 1, 'nothing is said twice, and silence is no post');
});

t.test('each turn has a post of its own', async (t) => {
  const { posts, outbox } = openOutbox();
  outbox.add(1, MORE);
  await nextTurn();
  outbox.add(1, OVER);
  await nextTurn();
  t.same(posts, [[[1, MORE]], [[1, OVER]]]);
});

t.test('a flush posts at once, and what comes behind it is posted behind it', async (t) => {
  const { posts, outbox } = openOutbox();
  outbox.flush();
  t.same(posts, [], 'with nothing to say');
  outbox.add(1, untried('a'));
  outbox.flush();
  t.same(posts, [[[1, untried('a')]]]);
  outbox.add(1, OVER);
  t.equal(posts.length, 1);
  await nextTurn();
  t.same(posts, [[[1, untried('a')]], [[1, OVER]]]);
});

t.test('what is said while a post is made is not lost', async (t) => {
  const posts: CourierNews[] = [];
  const outbox = new Outbox((news) => {
    posts.push(news);
    if (posts.length === 1) outbox.add(1, OVER);
  });
  outbox.add(1, MORE);
  outbox.flush();
  await nextTurn();
  t.same(posts, [[[1, MORE]], [[1, OVER]]]);
});

t.test('what was said is posted before the work on a message begins', async (t) => {
  const { posts, outbox } = openOutbox();
  let postedBefore = -1;
  const read = (): ContentResult => {
    postedBefore = posts.length;
    return { kind: 'unreadable', reason: 'missing' };
  };
  const contents: ContentReader = { read, readSome: (ids) => ids.map(read), close() {} };
  const key = { id: 'a', key: Buffer.alloc(32, 2) };
  const prepare = createPrepare({
    contents,
    ...{ vault: new Vault([Buffer.alloc(32, 1)]), tokenKey: key, bouncesDomain: 'bounces.test' },
    links: { url: 'https://links.test', key },
    serviceSigner: { domain: 'bounces.test', selector: 's', key: generateKeyPairSync('ed25519').privateKey },
    now: () => 0,
    beforeWork: () => outbox.flush(),
  });
  const prepared = prepare(['a message'], 0);
  // Said after the work was ordered, so the outbox's own turn comes behind it.
  outbox.add(1, MORE);
  t.match(await prepared, { kind: 'unreadable' });
  t.equal(postedBefore, 1);
});
