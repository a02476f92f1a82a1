// The owners of a tenant are told by mail of new keys and webhooks; nobody else is.
import t from 'tap';
import { silentLogger } from '../../src/observe/log.ts';
import { createOwnerNotices } from '../../src/tenants/owner-notices.ts';
import { openAccounts, T0, type TestMail } from './accounts/account-stage.ts';

const HOUR_MS = 3_600_000;

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
    ...{ store, clock: { now: () => T0 }, log: silentLogger, baseUrl: 'https://mail.test/' },
    notify(to, notice) {
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

t.test('three mails an hour for each tenant, and one that sums up the rest', async (t) => {
  const { store, tenant, user } = await openAccounts(t);
  const [acme, other] = [await tenant(), await tenant()];
  await user(acme, 'one@acme.test');
  await user(other, 'else@other.test');
  const mails: TestMail[] = [];
  let now = T0;
  const notices = createOwnerNotices({
    ...{ store, clock: { now: () => now }, log: silentLogger, baseUrl: 'https://mail.test' },
    notify: (to, notice) => void mails.push({ to, ...notice }),
  });
  const { signal } = new AbortController();
  let count = 0;
  const add = (to = acme) =>
    notices.webhookAdded(to.id, { id: `w${++count}`, host: `h${count}.test`, by: 'one@acme.test' });
  const told = async () => {
    // It waits for what is under way, and sums up what is left: here nothing is.
    for (let round = 0; round < 20; round++) await store.accounts.listMembers(acme.id);
    return mails.splice(0).map(({ subject }) => subject);
  };
  for (let index = 0; index < 20; index++) add();
  add(other);
  t.same(await told(), Array(4).fill('A webhook was added'), 'the other tenant has its own');
  now += HOUR_MS - 1;
  t.equal(await notices.timer.run(signal), '0 summed');
  t.same(await told(), []);
  now += 1;
  t.equal(await notices.timer.run(signal), '1 summed');
  await told().then((subjects) => t.same(subjects, ['17 API keys and webhooks were added']));
  t.equal(await notices.timer.run(signal), '0 summed', 'once');

  for (let index = 0; index < 4; index++) add();
  t.same(await told(), Array(3).fill('A webhook was added'), 'the next hour begins anew');
  now += 2 * HOUR_MS;
  notices.keyAdded(acme.id, { id: 'k', name: 'deploy', by: 'one@acme.test' });
  t.same(
    (await told()).sort(),
    ['An API key or webhook was added', 'An API key was created'],
    'the sum does not wait for the timer',
  );

  for (let index = 0; index < 100; index++) add();
  await notices.close();
  const sum = mails.at(-1)!;
  t.match(sum, { to: ['one@acme.test'], subject: '98 API keys and webhooks were added' });
  t.match(sum.text, /\n\nWebhook by one@acme\.test: h\d+\.test\nWebhook by/);
  t.match(sum.text, /\n… and 48 more\n\n/, 'the mail is bounded, too');
});

t.test('a name cannot pass for a line of ours', async (t) => {
  const { store, tenant, user } = await openAccounts(t);
  const acme = await tenant();
  await user(acme, 'one@acme.test');
  const mails: TestMail[] = [];
  const notices = createOwnerNotices({
    ...{ store, clock: { now: () => T0 }, log: silentLogger, baseUrl: 'https://mail.test' },
    notify: (to, notice) => void mails.push({ to, ...notice }),
  });
  const name = 'x\r\n\r\nAll is well:\u2028https://evil.test';
  for (const id of ['1', '2', '3', '4']) notices.keyAdded(acme.id, { id, name, by: 'one@acme.test' });
  await notices.close();
  t.equal(mails.length, 4);
  for (const { subject, text } of mails) {
    t.notMatch(subject, /evil/);
    t.match(text, /x All is well: https:\/\/evil\.test\n/);
    t.notMatch(text, /^All is well/m);
  }
});
