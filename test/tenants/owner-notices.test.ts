// The owners of a tenant are told by mail of new keys and webhooks; nobody else is.
import t from 'tap';
import { silentLogger } from '../../src/observe/log.ts';
import { createOwnerNotices } from '../../src/tenants/owner-notices.ts';
import { openAccounts, type TestMail } from './account-stage.ts';

t.test('owners are told of keys and webhooks', async (t) => {
  const { store, tenant, user } = await openAccounts(t);
  const acme = await tenant();
  await user(acme, 'one@acme.test');
  await user(acme, 'two@acme.test');
  await user(acme, 'member@acme.test', 'member');
  await user(await tenant(), 'else@other.test');
  const mails: TestMail[] = [];
  const twice = Promise.withResolvers<void>();
  const notices = createOwnerNotices({
    ...{ store, log: silentLogger, baseUrl: 'https://mail.test/' },
    tell(to, notice) {
      if (mails.push({ to, ...notice }) === 2) twice.resolve();
    },
  });
  notices.keyAdded(acme.id, { id: 'k1', name: 'deploy', by: 'one@acme.test' });
  notices.webhookAdded(acme.id, { id: 'w1', host: 'hooks.example.com', by: 'the API key "deploy"' });
  await twice.promise;
  const [key, webhook] = mails.sort((a, b) => (a.key < b.key ? -1 : 1));
  t.match(key, {
    to: ['one@acme.test', 'two@acme.test'],
    key: 'key-added:k1',
    text: /created by one@acme\.test:\n\ndeploy\n/,
  });
  t.match(webhook, { key: 'webhook-added:w1', text: /the API key "deploy"[^\n]*\n\nhooks\.example\.com\n/ });
  t.match(key?.text, 'https://mail.test/portal/keys\n');
});
