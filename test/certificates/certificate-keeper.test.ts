// Certificates without a directory: what is attempted when, and what the store gets of it.
import t, { type Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { Vault } from '../../src/base/vault.ts';
import {
  CertificateKeeper,
  type CertificateKit,
  certificateKeyContext,
} from '../../src/certificates/certificate-keeper.ts';
import { renewalAt } from '../../src/certificates/next-attempt.ts';
import { temporaryPair } from '../../src/certificates/temporary-pair.ts';
import { keeperKit } from './keeper-kit.ts';

const NONE = new AbortController().signal;
const NAME = 'mail.a.test';
/** Nobody listens there. */
const DIRECTORY = 'https://localhost:1/dir';

async function startBench(t: Test) {
  const { store, kit, lines, time } = await keeperKit(t, { url: DIRECTORY, root: null, email: null, binding: null });
  const open = (change: Partial<CertificateKit> = {}) => CertificateKeeper.open({ ...kit, ...change }, [[NAME]]);
  const record = async () => (await store.certificates.listCertificates())[0]!;
  /** As another daemon would have stored it. */
  const issue = async (lifeMs: number, vault = kit.vault) => {
    const { cert, key } = await temporaryPair([NAME], time.at);
    const sealed = vault.seal(key, certificateKeyContext(NAME));
    const life = { notBefore: time.at, notAfter: time.at + lifeMs };
    const id = { directory: DIRECTORY, names: NAME };
    const issued = { chain: cert.toString(), key: sealed, notBefore: life.notBefore, notAfter: life.notAfter };
    await store.certificates.keepCertificate(id, issued, renewalAt(life, time.at));
    return issued.chain;
  };
  return { store, kit, time, lines, open, record, issue };
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

t.test('what another daemon has got is taken, if it can be used', async (t) => {
  const { kit, time, lines, open, issue } = await startBench(t);
  const keeper = await open({ lead: async () => false });
  const inUse = async () => (await keeper.source([NAME]).read()).cert.toString();
  let replaced = 0;
  keeper.source([NAME]).onReplaced(() => replaced++);
  const temporary = await inUse();
  t.equal(await keeper.run(NONE), `${NAME}: another daemon orders it`);
  t.equal(await inUse(), temporary);

  const first = await issue(90 * DAY_MS);
  t.equal(await keeper.run(NONE), 'nothing due');
  t.equal(await inUse(), first);
  t.same(keeper.ends(), [{ names: NAME, notAfter: time.at + 90 * DAY_MS }]);
  await keeper.run(NONE);
  t.equal(replaced, 1, 'once');

  time.at += 60 * DAY_MS;
  t.equal(await keeper.run(NONE), `${NAME}: another daemon orders it`);
  const second = await issue(45 * DAY_MS);
  t.equal(await keeper.run(NONE), 'nothing due');
  t.equal(await inUse(), second);

  await issue(-1);
  await keeper.run(NONE);
  await issue(90 * DAY_MS, new Vault([Buffer.alloc(32, 2)]));
  await keeper.run(NONE);
  await keeper.run(NONE);
  t.equal(await inUse(), second, 'not one that has ended, or can not be opened');
  t.equal(lines.filter((line) => line.includes('cannot be used')).length, 1, 'said once');
  const third = await issue(90 * DAY_MS, kit.vault);
  await keeper.run(NONE);
  t.equal(await inUse(), third);
});

t.test('a certificate that was not valid at the start by a wrong clock is taken later', async (t) => {
  const { time, open, issue } = await startBench(t);
  const issued = await issue(90 * DAY_MS);
  const now = time.at;
  time.at += 365 * DAY_MS;
  const keeper = await open({ lead: async () => false });
  t.same(keeper.ends(), [{ names: NAME, notAfter: null }]);
  time.at = now;
  t.equal(await keeper.run(NONE), 'nothing due');
  t.equal((await keeper.source([NAME]).read()).cert.toString(), issued);
});

t.test('whoever takes over knows what the one before has attempted', async (t) => {
  const { store, time, open, issue, record } = await startBench(t);
  let between: () => Promise<void> = async () => {};
  const keeper = await open({
    lead: async (names) => {
      t.equal(names, NAME);
      await between();
      return true;
    },
  });
  const next = time.at + 5 * MINUTE_MS;
  between = () => store.certificates.beginCertificateAttempt({ directory: DIRECTORY, names: NAME }, next);
  t.equal(await keeper.run(NONE), 'nothing due');
  t.match(await record(), { failures: 1, nextAttemptAt: next });
  time.at = next;
  let issued = '';
  between = async () => {
    issued = await issue(90 * DAY_MS);
  };
  t.equal(await keeper.run(NONE), 'nothing due');
  t.equal((await keeper.source([NAME]).read()).cert.toString(), issued);
});
