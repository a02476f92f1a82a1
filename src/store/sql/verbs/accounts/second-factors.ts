// Second factors of users.

import type { SecondFactor, SecondFactorStore } from '../../../accounts.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { readUser } from './users.ts';

export function secondFactorVerbs(db: Transaction): Work<SecondFactorStore> {
  return {
    findSecondFactor: (userId) => readFactor(db, toId(userId)),
    *beginSecondFactor(userId, { masterKeyId, sealed }, at) {
      if (!(yield* readUser(db, userId))) return false;
      const begin = db.sql(
        `INSERT INTO second_factors (user_id, master_key_id, sealed, last_step, created_at) VALUES (+?, +?, +?, 0, +?)
           ON CONFLICT (user_id) DO UPDATE SET master_key_id = excluded.master_key_id, sealed = excluded.sealed,
             last_step = 0, created_at = excluded.created_at
           WHERE second_factors.confirmed_at IS NULL`,
      );
      return (yield* begin.run(toId(userId), masterKeyId, sealed, at)).changes === 1;
    },
    *confirmSecondFactor(userId, { step, at, recoveryCodeHashes }) {
      const confirm = db.sql(
        'UPDATE second_factors SET confirmed_at = +?, last_step = +? WHERE user_id = +? AND confirmed_at IS NULL',
      );
      if ((yield* confirm.run(at, step, toId(userId))).changes === 0) return false;
      yield* replaceCodes(db, toId(userId), recoveryCodeHashes);
      return true;
    },
    *takeStep(userId, step) {
      const take = 'UPDATE second_factors SET last_step = +? WHERE user_id = +? AND last_step < +?';
      return (yield* db.sql(take).run(step, toId(userId), step)).changes === 1;
    },
    *takeRecoveryCode(userId, codeHash) {
      const user = toId(userId);
      const take = db.sql('DELETE FROM recovery_codes WHERE user_id = +? AND code_hash = +?');
      return (yield* take.run(user, codeHash)).changes === 1 ? yield* codesLeft(db, user) : null;
    },
    *replaceRecoveryCodes(userId, codeHashes) {
      const user = toId(userId);
      const confirmed = 'SELECT 1 FROM second_factors WHERE user_id = +? AND confirmed_at IS NOT NULL';
      if ((yield* db.sql(confirmed).get(user)) === undefined) return false;
      yield* replaceCodes(db, user, codeHashes);
      return true;
    },
    *dropSecondFactor(userId) {
      const user = toId(userId);
      yield* db.sql('DELETE FROM recovery_codes WHERE user_id = +?').run(user);
      return (yield* db.sql('DELETE FROM second_factors WHERE user_id = +?').run(user)).changes === 1;
    },
  };
}

function* replaceCodes(db: Transaction, user: Buffer, hashes: readonly Buffer[]): Steps<void> {
  yield* db.sql('DELETE FROM recovery_codes WHERE user_id = +?').run(user);
  const add = db.sql('INSERT INTO recovery_codes (user_id, code_hash) VALUES (+?, +?)');
  for (const hash of hashes) yield* add.run(user, hash);
}

function* codesLeft(db: Transaction, user: Buffer): Steps<number> {
  return (yield* db.sql('SELECT count(*) FROM recovery_codes WHERE user_id = +?', 'column').get(user)) as number;
}

function* readFactor(db: Transaction, user: Buffer): Steps<SecondFactor | null> {
  const row = (yield* db.sql('SELECT * FROM second_factors WHERE user_id = +?').get(user)) as Row | undefined;
  if (!row) return null;
  return {
    secret: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
    lastStep: row.last_step as number,
    createdAt: row.created_at as number,
    confirmedAt: row.confirmed_at as number | null,
    recoveryCodes: yield* codesLeft(db, user),
  };
}
