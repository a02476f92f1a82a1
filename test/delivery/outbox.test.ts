// What sessions say reaches the main thread before the thread is held by work; test/base/per-tick.test.ts has the rest.
import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { BatchPerTick } from '../../src/base/per-tick.ts';
import { Vault } from '../../src/base/vault.ts';
import type { SessionMessage, SessionMessages } from '../../src/delivery/courier/messages.ts';
import { createPrepare } from '../../src/delivery/courier/prepare.ts';
import type { ContentReader, ContentResult } from '../../src/store/submissions.ts';

const MORE: SessionMessage = { kind: 'more' };

function openOutbox() {
  const posts: SessionMessages[] = [];
  return { posts, outbox: new BatchPerTick<SessionMessages[number]>((news) => posts.push(news)) };
}

t.test('what was said is posted before the work on a message begins', async (t) => {
  const { posts, outbox } = openOutbox();
  let postedBefore = -1;
  const read = async (): Promise<ContentResult> => {
    postedBefore = posts.length;
    return { kind: 'unreadable', reason: 'missing' };
  };
  const readSome: ContentReader['readSome'] = (ids) => Promise.all(ids.map(read));
  const contents: ContentReader = {
    ...{ read, readSome, attachments: async () => [], piece: () => Promise.reject(new Error('missing')), close() {} },
  };
  const key = { id: 'a', key: Buffer.alloc(32, 2) };
  const prepare = createPrepare({
    contents,
    ...{ vault: new Vault([Buffer.alloc(32, 1)]), tokenKey: key, bouncesDomain: 'bounces.test' },
    links: { url: 'https://links.test', key },
    serviceSigner: { domain: 'bounces.test', selector: 's', key: generateKeyPairSync('ed25519').privateKey },
    now: () => 0,
    beforeWork: () => outbox.flush(),
  });
  const prepared = prepare({ messageIds: ['a message'] }, 0);
  // Said after the work was ordered, so the outbox's own turn comes behind it.
  outbox.add([1, MORE]);
  t.match(await prepared, { kind: 'unreadable' });
  t.equal(postedBefore, 1);
});
