// How fast a processor signs is told by processor time: on a busy machine it signs as fast, only later.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const PROGRAM = fileURLToPath(new URL('../../src/observe/sign-for-a-while.ts', import.meta.url));
const SIGNED_MS = 300;
const SHARED_BY = 6;
const ONE_CORE = ['--cpu-list', '0'];

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

function signaturesPerSecond(): Promise<number> {
  const args = [...ONE_CORE, process.execPath, PROGRAM, String(SIGNED_MS)];
  return new Promise((resolve, reject) => {
    const child = execFile('taskset', args, (error, stdout) => (error ? reject(error) : resolve(Number(stdout))));
    child.stdin!.end(key);
  });
}

t.test('others that sign on the same core change little', async (t) => {
  const alone = await signaturesPerSecond();
  const beside = await Promise.all(Array.from({ length: SHARED_BY }, signaturesPerSecond));
  const middle = beside.sort((a, b) => a - b)[SHARED_BY / 2]!;
  t.ok(
    middle > alone / 2,
    `${Math.round(middle)} a second of processor time beside ${SHARED_BY - 1} others, ${Math.round(alone)} alone`,
  );
});
