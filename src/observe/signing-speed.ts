// How fast this machine makes RSA-2048 signatures, which are most of the work of sending, and whether OpenSSL's other
// code path would be faster. OpenSSL detects the processor once, at the start of a process, so each path is measured in
// its own process.
import { execFile } from 'node:child_process';
import { generateKeyPair } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** OpenSSL's override for the processor's features; null: what it detects. */
export type SigningWay = string | null;

/** Without ADX, OpenSSL uses AVX2, which it does not prefer, but which is faster on some processors. */
export const WITHOUT_ADX = ':~0x80000';

export interface SigningSpeed {
  perSecond: number;
  /** Null where there is no alternative. */
  other: { way: SigningWay; perSecond: number } | null;
}

// A neighbour on the same core, or on the machine of a virtual one, slows one round, so the best one counts.
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
 * The path in use, and the alternative if there is one: AVX-512 (IFMA) is faster than either. A configured override is
 * always compared with OpenSSL's own choice: an empty value switches off nearly everything, and a machine may have
 * moved to another processor.
 */
export function waysWith(inUse: SigningWay, flags: ReadonlySet<string>): SigningWay[] {
  if (inUse !== null) return [inUse, null];
  const hasChoice = flags.has('adx') && flags.has('avx2') && !flags.has('avx512ifma');
  return hasChoice ? [null, WITHOUT_ADX] : [null];
}

/** Flags of Linux on x86; empty elsewhere. */
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
    child.stdin!.on('error', () => {}); // it has ended already; its exit code says why
    child.stdin!.end(key);
  });
}
