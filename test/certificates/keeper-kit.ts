// What a keeper of certificates needs in this process, with a clock of the test's; the directory is the test's own affair.
import path from 'node:path';
import type { Test } from 'tap';
import { Vault } from '../../src/base/vault.ts';
import type { CertificateKit } from '../../src/certificates/certificate-keeper.ts';
import { ChallengeAnswers } from '../../src/certificates/challenge-answers.ts';
import { createLogger } from '../../src/observe/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';

export async function keeperKit(t: Test, account: CertificateKit['account']) {
  const folder = testFolder(t);
  const store = await openSqliteStore({ file: path.join(folder, 'postrider.db') });
  t.teardown(() => store.close());
  const lines: string[] = [];
  const time = { at: Date.now() };
  const answers = new ChallengeAnswers();
  const kit: CertificateKit = {
    store,
    account,
    challenge: 'http-01',
    answers,
    vault: new Vault([Buffer.alloc(32, 1)]),
    clock: { now: () => time.at },
    log: createLogger({ level: 'info', to: { write: (line) => void lines.push(line) } }),
    random: () => 0.5,
    portProblem: async () => null,
    namesWithoutAddress: async () => [],
    lead: async () => true,
    keyFolder: folder,
  };
  return { store, answers, kit, lines, time };
}
