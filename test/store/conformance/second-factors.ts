// Conformance: second factors: one per user, no code twice, recovery codes once.
import type { Test } from 'tap';
import { type Bench, T0 } from './harness.ts';
import { newUser } from './members.ts';

const SECRET = { masterKeyId: 'm1', sealed: Buffer.from('sealed') };
const OTHER = { masterKeyId: 'm2', sealed: Buffer.from('other') };
const CODES = [Buffer.from('one'), Buffer.from('two')];

export const secondFactorCases = {
  'a second factor begins, is begun anew, and is confirmed once': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const user = await newUser(bench, null, 'operator');
    t.equal(await store.accounts.findSecondFactor(user.id), null);
    t.equal(await store.accounts.beginSecondFactor(bench.id(), SECRET, T0), false, 'nobody');
    t.equal(await store.accounts.beginSecondFactor(user.id, SECRET, T0), true);
    t.equal(await store.accounts.beginSecondFactor(user.id, OTHER, T0 + 1), true, 'the first was never confirmed');
    const begun = { secret: OTHER, lastStep: 0, createdAt: T0 + 1, confirmedAt: null, recoveryCodes: 0 };
    t.strictSame(await store.accounts.findSecondFactor(user.id), begun);
    t.equal(await store.accounts.replaceRecoveryCodes(user.id, CODES), false, 'not before it is confirmed');
    const confirmation = { step: 7, at: T0 + 2, recoveryCodeHashes: CODES };
    t.equal(await store.accounts.confirmSecondFactor(user.id, confirmation), true);
    const confirmed = { ...begun, lastStep: 7, confirmedAt: T0 + 2, recoveryCodes: 2 };
    t.strictSame(await store.accounts.findSecondFactor(user.id), confirmed);
    t.equal(await store.accounts.confirmSecondFactor(user.id, { ...confirmation, step: 9 }), false);
    t.equal(await store.accounts.beginSecondFactor(user.id, SECRET, T0), false, 'a confirmed one stays');
    t.strictSame(await store.accounts.findSecondFactor(user.id), confirmed);
  },

  'a step is taken once, and none before it': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const user = await newUser(bench, null, 'operator');
    t.equal(await store.accounts.takeStep(user.id, 1), false, 'without a second factor');
    await store.accounts.beginSecondFactor(user.id, SECRET, T0);
    await store.accounts.confirmSecondFactor(user.id, { step: 100, at: T0, recoveryCodeHashes: [] });
    const taken = await Promise.all([100, 99, 101, 101].map((step) => store.accounts.takeStep(user.id, step)));
    t.strictSame(taken, [false, false, true, false]);
  },

  'a recovery code is taken once, by its user': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const [user, other] = [await newUser(bench, null, 'operator'), await newUser(bench, null, 'operator')];
    for (const { id } of [user, other]) {
      await store.accounts.beginSecondFactor(id, SECRET, T0);
      await store.accounts.confirmSecondFactor(id, {
        step: 1,
        at: T0,
        recoveryCodeHashes: id === user.id ? CODES : [],
      });
    }
    t.equal(await store.accounts.takeRecoveryCode(other.id, CODES[0]!), null, "another's");
    t.equal(await store.accounts.takeRecoveryCode(user.id, CODES[0]!), 1);
    t.equal(await store.accounts.takeRecoveryCode(user.id, CODES[0]!), null, 'again');
    t.equal(await store.accounts.replaceRecoveryCodes(user.id, [Buffer.from('three')]), true);
    t.equal(await store.accounts.takeRecoveryCode(user.id, CODES[1]!), null, 'replaced');
    t.equal((await store.accounts.findSecondFactor(user.id))?.recoveryCodes, 1);
    t.equal(await store.accounts.dropSecondFactor(user.id), true);
    t.equal(await store.accounts.dropSecondFactor(user.id), false);
    t.equal(await store.accounts.takeRecoveryCode(user.id, Buffer.from('three')), null, 'gone with it');
    t.ok(await store.accounts.findSecondFactor(other.id));
  },
};
