// How fast this machine makes RSA-2048 signatures, which are most of the work of sending, and whether OpenSSL's
// other way to calculate would be faster. OpenSSL looks at the processor once, when a process begins: so each
// way is measured in a process of its own.
import { execFile } from 'node:child_process';
import { generateKeyPair } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What OpenSSL is to believe of the processor; null: what it sees. */
export type SigningWay = string | null;

/** Without ADX OpenSSL takes AVX2, which it does not prefer, but which is faster on some processors. */
export const WITHOUT_ADX = ':~0x80000';

export interface SigningSpeed {
  perSecond: number;
  /** Null where there is no choice. */
  other: { way: SigningWay; perSecond: number } | null;
}

// A neighbour that is at work for a moment slows one round, and the best of them counts.
const ROUNDS = 3;
const ROUND_MS = 100;
const CHILD_MS = 10_000;
const PROGRAM = fileURLToPath(new URL('./sign-for-a-while.ts', import.meta.url));

export async function measureSigning(inUse: SigningWay): Promise<SigningSpeed> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const best = new Map<SigningWay, number>();
  const ways = waysWith(inUse, await processorFlags());
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ways) best.set(way, Math.max(best.get(way) ?? 0, await signaturesPerSecond(way, key)));
  }
  const [, other] = ways;
  return {
    perSecond: best.get(inUse)!,
    other: other === undefined ? null : { way: other, perSecond: best.get(other)! },
  };
}

/**
 * The one in use, and the other one if there is a choice: AVX-512 (IFMA) is faster than either. What somebody has
 * chosen is always compared with what OpenSSL does by itself: an empty value switches off nearly everything, and
 * a machine may have moved to another processor.
 */
export function waysWith(inUse: SigningWay, flags: ReadonlySet<string>): SigningWay[] {
  if (inUse !== null) return [inUse, null];
  const hasChoice = flags.has('adx') && flags.has('avx2') && !flags.has('avx512ifma');
  return hasChoice ? [null, WITHOUT_ADX] : [null];
}

/** Of Linux on x86; nothing elsewhere. */
async function processorFlags(): Promise<Set<string>> {
  const text = await readFile('/proc/cpuinfo', 'latin1').catch(() => '');
  return new Set(/^flags\s*:(.*)$/m.exec(text)?.[1]?.trim().split(' '));
}

function signaturesPerSecond(way: SigningWay, key: string): Promise<number> {
  const env = way === null ? {} : { OPENSSL_ia32cap: way };
  return new Promise((resolve, reject) => {
    const options = { env, timeout: CHILD_MS, killSignal: 'SIGKILL' } as const;
    const child = execFile(process.execPath, [PROGRAM, String(ROUND_MS)], options, (error, stdout) => {
      if (error) reject(error);
      else resolve(Number(stdout));
    });
    child.stdin!.on('error', () => {}); // it has ended already, which its exit code tells
    child.stdin!.end(key);
  });
}
