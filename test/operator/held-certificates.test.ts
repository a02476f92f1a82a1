// What people read about the service's certificates: of directories and in files.
import path from 'node:path';
import t from 'tap';
import { directoryUrl } from '../../src/config/acme-names.ts';
import { loadConfig } from '../../src/config/load.ts';
import { heldCertificates } from '../../src/operator/held-certificates.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { testFolder } from '../support/test-folder.ts';

const T0 = Date.UTC(2026, 10, 26);
const DAY_MS = 86_400_000;
const ACME = {
  'tls.acme': true,
  'tls.acme_terms_accepted': true,
  'service.base_url': 'https://mail.a.test',
  'service.ehlo_name': 'mx.a.test',
};

t.test('those of a directory, with the last failure and the next attempt', async (t) => {
  const authority = createTestAuthority();
  t.teardown(authority.close);
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const { config } = loadConfig({ env: {}, defaultFile: null, defaults: ACME });
  const none = { issued: null, renewsAt: null, failure: null };
  const held = () => heldCertificates(config, { store, clock: { now: () => T0 } });
  t.strictSame(await held(), [
    { names: 'mail.a.test', ...none },
    { names: 'mx.a.test', ...none },
  ]);
  const [http, smtp] = ['mail.a.test', 'mx.a.test'].map((names) => ({ directory: directoryUrl('production'), names }));
  const key = { masterKeyId: 'm', sealed: Buffer.from('sealed') };
  const chain = authority.issue('mail.a.test').cert + authority.ca;
  await store.certificates.beginCertificateAttempt(http!, T0);
  await store.certificates.keepCertificate(
    http!,
    { chain, key, notBefore: T0, notAfter: T0 + 90 * DAY_MS },
    T0 + 60 * DAY_MS,
  );
  await store.certificates.beginCertificateAttempt(smtp!, T0 + DAY_MS);
  await store.certificates.failCertificateAttempt(smtp!, { reason: 'no such name', at: T0 }, 0);
  for (const other of [{ names: 'old.a.test' }, { directory: 'https://acme.test/dir' }])
    await store.certificates.beginCertificateAttempt({ ...http!, ...other }, T0 + 99 * DAY_MS);
  const issued = { by: 'Test only, worth nothing', from: T0, until: T0 + 90 * DAY_MS };
  t.strictSame(await held(), [
    { names: 'mail.a.test', issued, renewsAt: T0 + 60 * DAY_MS, failure: null },
    { names: 'mx.a.test', issued: null, renewsAt: T0 + DAY_MS, failure: { reason: 'no such name', at: T0 } },
  ]);
});

t.test('what is not even tried says why', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const { config } = loadConfig({ env: {}, defaultFile: null, defaults: ACME });
  const waitsFor = (names: readonly string[]) => (names[0] === 'mx.a.test' ? 'port 80 is taken' : null);
  const held = await heldCertificates(config, { store, clock: { now: () => T0 }, waitsFor });
  t.match(held, [{ failure: null }, { failure: { reason: 'port 80 is taken', at: T0 } }]);
});

t.test('one for both listeners is shown once', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const defaults = { ...ACME, 'service.ehlo_name': 'mail.a.test' };
  const { config } = loadConfig({ env: {}, defaultFile: null, defaults });
  const held = await heldCertificates(config, { store, clock: { now: () => T0 } });
  t.same(
    held.map(({ names }) => names),
    ['mail.a.test'],
  );
});

t.test('those in files, each once, and a file that is none', async (t) => {
  const authority = createTestAuthority();
  t.teardown(authority.close);
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const { config } = loadConfig({ env: {}, defaultFile: null });
  t.strictSame(await heldCertificates(config, { store, clock: { now: () => T0 } }), []);
  const { certFile } = authority.issue('a.test', 'b.test');
  Object.assign(config.http, { tls_cert: certFile });
  Object.assign(config.smtp, { tls_cert: certFile });
  Object.assign(config.submission, { tls_cert: '/nowhere.pem' });
  const [found, gone, ...others] = await heldCertificates(config, { store, clock: { now: () => T0 } });
  t.match(found, {
    names: 'a.test, b.test',
    issued: { by: 'Test only, worth nothing' },
    renewsAt: null,
    failure: null,
  });
  const days = (found!.issued!.until - found!.issued!.from) / DAY_MS;
  t.equal(days, 2);
  t.match(gone, { names: '/nowhere.pem', issued: null, failure: { reason: /ENOENT/, at: null } });
  t.same(others, []);
});
