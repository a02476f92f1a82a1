// Certificates without a directory: what is attempted when, and what the store gets of it.
import path from 'node:path';
import t, { type Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { Vault } from '../../src/base/vault.ts';
import { CertificateKeeper, type CertificateKit } from '../../src/certificates/certificate-keeper.ts';
import { ChallengeAnswers } from '../../src/certificates/challenge-answers.ts';
import { createLogger } from '../../src/observe/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';

const NONE = new AbortController().signal;
const NAME = 'mail.a.test';
/** Nobody listens there. */
const DIRECTORY = 'https://localhost:1/dir';

async function startBench(t: Test) {
  const folder = testFolder(t);
  const store = await openSqliteStore({ file: path.join(folder, 'postrider.db') });
  t.teardown(() => store.close());
  const lines: string[] = [];
  const time = { at: Date.now() };
  const kit: CertificateKit = {
    store,
    account: { url: DIRECTORY, root: null, email: null, binding: null },
    challenge: 'http-01',
    answers: new ChallengeAnswers(),
    vault: new Vault([Buffer.alloc(32, 1)]),
    clock: { now: () => time.at },
    log: createLogger({ level: 'info', to: { write: (line) => void lines.push(line) } }),
    random: () => 0.5,
    portProblem: async () => null,
    namesWithoutAddress: async () => [],
    keyFolder: folder,
  };
  const open = (change: Partial<CertificateKit> = {}) => CertificateKeeper.open({ ...kit, ...change }, [[NAME]]);
  const record = async () => (await store.certificates.listCertificates())[0]!;
  return { store, kit, time, lines, open, record };
}

t.test('an attempt while the clock is years ahead does not stop those of the years until then', async (t) => {
  const { time, open, record } = await startBench(t);
  const now = time.at;
  time.at += 3 * 365 * DAY_MS;
  const keeper = await open();
  t.match(await keeper.run(NONE), 'failed');
  t.ok((await record()).nextAttemptAt > time.at);
  time.at = now;
  t.match(await keeper.run(NONE), 'failed', 'it is due as soon as the clock is right');
  t.match(await record(), { failures: 2, nextAttemptAt: now + 10 * MINUTE_MS });
  t.equal(await keeper.run(NONE), 'nothing due');
});
