// A process of its own for data-lock.test.ts: locks the folder of its argument, says so, and
// holds the lock until its standard input ends.
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';

try {
  const lock = lockDataFolder(process.argv[2]!);
  process.stdout.write('locked\n');
  process.stdin.resume().once('end', () => lock.release());
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
}
