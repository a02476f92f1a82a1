// What a daemon answers to challenges of orders that another one has under way.
import path from 'node:path';
import { crypto } from 'acme-client';
import t from 'tap';
import { Vault } from '../../src/base/vault.ts';
import { loadAccountKey } from '../../src/certificates/account-key.ts';
import { sharedAnswers } from '../../src/certificates/shared-answers.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';

const DIRECTORY = 'https://directory.test/dir';
const TOKEN = 'tbSbQd4V5IVwJvx_bMzfeJoQVH0lqLRUWoy-4gxlxu8';

t.test('a token is answered while an order is under way, and by the key of its account', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  let reads = 0;
  const { certificates, platformKeys } = store;
  const listCertificates = () => {
    reads++;
    return certificates.listCertificates();
  };
  const vault = new Vault([Buffer.alloc(32, 1)]);
  const counted = { certificates: { ...certificates, listCertificates }, platformKeys };
  const answer = sharedAnswers({ store: counted, vault, directory: DIRECTORY });
  const id = { directory: DIRECTORY, names: 'mail.a.test' };
  const order = { url: 'https://directory.test/order/1', key: vault.seal(Buffer.from('x'), 'x') };
  t.equal(await answer(TOKEN), null);

  await certificates.beginCertificateAttempt({ directory: 'https://other.test/', names: 'mail.a.test' }, 1);
  await certificates.keepCertificateOrder({ directory: 'https://other.test/', names: 'mail.a.test' }, order);
  await certificates.beginCertificateAttempt(id, 1);
  t.equal(await answer(TOKEN), null, 'no order at this directory');
  await certificates.keepCertificateOrder(id, order);
  t.equal(await answer(TOKEN), null, 'and no account');

  const key = await loadAccountKey({ store, vault, clock: { now: () => 1 } }, DIRECTORY);
  const { crv, kty, x, y } = crypto.getJwk(key) as unknown as Record<string, string>;
  const digest = await globalThis.crypto.subtle.digest('SHA-256', Buffer.from(JSON.stringify({ crv, kty, x, y })));
  t.equal(await answer(TOKEN), `${TOKEN}.${Buffer.from(digest).toString('base64url')}`);

  const before = reads;
  for (const odd of ['', 'short', `${TOKEN}/..`, `${TOKEN}%3Cscript%3E`, `${TOKEN}?a`, 'a'.repeat(129), `${TOKEN}.x`])
    t.equal(await answer(odd), null, odd);
  t.equal(reads, before, 'without a look at the store');

  await Promise.all(Array.from({ length: 100 }, () => answer(TOKEN)));
  t.ok(reads - before <= 2, `of 100 at once: ${reads - before}`);

  await certificates.keepCertificateOrder(id, null);
  t.equal(await answer(TOKEN), null, 'the order is over');
});

t.test('an order that is stored while another call reads is seen by the next one', async (t) => {
  const vault = new Vault([Buffer.alloc(32, 1)]);
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  await loadAccountKey({ store, vault, clock: { now: () => 1 } }, DIRECTORY);
  const id = { directory: DIRECTORY, names: 'mail.a.test' };
  await store.certificates.beginCertificateAttempt(id, 1);
  const first = Promise.withResolvers<void>();
  let reads = 0;
  const certificates = {
    ...store.certificates,
    async listCertificates() {
      const found = await store.certificates.listCertificates();
      if (++reads === 1) await first.promise;
      if (reads === 3) throw new Error('no database');
      return found;
    },
  };
  const answer = sharedAnswers({
    store: { certificates, platformKeys: store.platformKeys },
    vault,
    directory: DIRECTORY,
  });
  const early = answer(TOKEN);
  while (reads === 0) await new Promise(setImmediate);
  await store.certificates.keepCertificateOrder(id, { url: 'https://x', key: vault.seal(Buffer.from('x'), 'x') });
  const late = answer(TOKEN);
  first.resolve();
  t.equal(await early, null);
  t.match(await late, `${TOKEN}.`);
  await t.rejects(answer(TOKEN), { message: 'no database' });
  t.match(await answer(TOKEN), `${TOKEN}.`, 'a failure is not the end');
});
