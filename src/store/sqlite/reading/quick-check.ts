// The program that checks a whole database file, read-only: prints the problems as a JSON list.
import { describeError } from '../../../base/errors.ts';
import type { Row } from '../../sql/values.ts';
import { openForReading } from '../engine/database-file.ts';

const MAX_PROBLEMS = 20;

try {
  const db = openForReading(process.argv[2]!);
  const rows = db.pragma(`quick_check(${MAX_PROBLEMS})`) as Row[];
  const lines = rows.map(({ quick_check }) => String(quick_check));
  process.stdout.write(JSON.stringify(lines.filter((line) => line !== 'ok')));
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
