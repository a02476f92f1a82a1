// certificate list | renew, beside the database of a daemon that does not run.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { DAY_MS, MINUTE_MS, toTimestamp } from '../../src/base/clock.ts';
import { temporaryPair } from '../../src/certificates/temporary-pair.ts';
import { directoryUrl } from '../../src/config/acme-names.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newProgram } from '../support/program.ts';

const CONFIG = `
[tls]
acme = true
acme_terms_accepted = true
[service]
base_url = "https://mail.acme.test"
links_url = "https://links.acme.test"
`;
const WEB = 'links.acme.test mail.acme.test';
const SMTP = 'mail.acme.test';
const DIRECTORY = directoryUrl('production');

async function prepare(t: Test, config = CONFIG) {
  const program = newProgram();
  t.teardown(program.remove);
  const own = fs.readFileSync(program.configFile, 'utf8').replace(/^\[service\]\n(?:\w+ = .*\n)*/m, '');
  fs.writeFileSync(program.configFile, own + config);
  await program.json('migrate');
  async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
  return { ...program, withStore };
}

t.test('what is there, what failed, and when it goes on', async (t) => {
  const { json, run, withStore } = await prepare(t);
  const none = { state: 'none', not_after: null, next_attempt_at: null, failures: 0, remark: 'no daemon runs' };
  t.match(await json('certificate', 'list'), {
    directory: DIRECTORY,
    certificates: [
      { names: ['links.acme.test', 'mail.acme.test'], listeners: ['http'], ...none },
      { names: ['mail.acme.test'], listeners: ['smtp'], ...none },
    ],
  });
  const now = Date.now();
  const { cert } = await temporaryPair([SMTP], now);
  const key = { masterKeyId: 'm', sealed: Buffer.from('x') };
  const issued = { chain: cert.toString(), key, notBefore: now - DAY_MS, notAfter: now + 30 * DAY_MS };
  await withStore(async ({ certificates }) => {
    const smtp = { directory: DIRECTORY, names: SMTP };
    await certificates.keepCertificate(smtp, issued, now + 19 * DAY_MS);
    await certificates.keepCertificate({ ...smtp, names: 'old.acme.test' }, issued, now);
    const web = { directory: DIRECTORY, names: WEB };
    await certificates.beginCertificateAttempt(web, now + 5 * MINUTE_MS);
    await certificates.failCertificateAttempt(web, { reason: 'no such host\x1b[2J', at: now }, 0);
  });
  t.match(await json('certificate', 'list'), {
    certificates: [
      {
        state: 'none',
        next_attempt_at: toTimestamp(now + 5 * MINUTE_MS),
        failures: 1,
        last_failure: { reason: /^no such host/, at: toTimestamp(now) },
      },
      {
        state: 'valid',
        issuer: 'Temporary certificate of Postrider',
        not_after: toTimestamp(now + 30 * DAY_MS),
        next_attempt_at: toTimestamp(now + 19 * DAY_MS),
        last_failure: null,
      },
    ],
  });
  const { stdout } = await run('certificate', 'list');
  t.match(stdout, /^links\.acme\.test mail\.acme\.test +http +none +- .* failed at \S+: no such host/m);
  t.match(stdout, /^mail\.acme\.test +smtp +valid .* Temporary certificate of Postrider$/m);
  t.notMatch(stdout, '\x1b');

  await withStore(({ certificates }) =>
    certificates.keepCertificate({ directory: DIRECTORY, names: SMTP }, { ...issued, notAfter: now - 1 }, now),
  );
  t.match(await json('certificate', 'list'), { certificates: [{}, { state: 'expired' }] });
});

t.test('renewing makes it due at once, and is in the audit log', async (t) => {
  const { json, run, withStore } = await prepare(t);
  const later = Date.now() + DAY_MS;
  const id = { directory: DIRECTORY, names: SMTP };
  await withStore(({ certificates }) => certificates.beginCertificateAttempt(id, later));
  t.match(await json('certificate', 'renew', 'links.acme.test'), { names: [WEB], daemon_runs: false });
  const next = () => withStore(async ({ certificates }) => (await certificates.listCertificates())[0]?.nextAttemptAt);
  t.equal(await next(), later, 'only that with the name');
  const said = await run('certificate', 'renew', '--reason', 'port 80 is open now');
  t.equal(
    said.stdout,
    `Ordered when the daemon starts: ${WEB}; ${SMTP}. postrider certificate list shows the result.\n`,
  );
  t.ok((await next())! <= Date.now());
  const [latest] = await withStore(({ audit }) => audit.listAllAudit({ before: null, limit: 1 }));
  t.match(latest, {
    action: 'certificate.renewed',
    data: { names: `${WEB}; ${SMTP}`, reason: 'port 80 is open now' },
  });
  t.match(await run('certificate', 'renew', 'other.test'), {
    code: 1,
    stderr: /no certificate is for other\.test; there are: links\.acme\.test mail\.acme\.test; mail\.acme\.test$/m,
  });
});

t.test('without tls.acme, and with certificates of one’s own', async (t) => {
  const off = await prepare(t, '');
  for (const verb of ['list', 'renew']) {
    t.match(await off.run('certificate', verb), { code: 1, stderr: /tls\.acme is off/ });
  }
});
