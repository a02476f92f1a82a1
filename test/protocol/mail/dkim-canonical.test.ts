// Bodies of many kilobytes, clean and odd in turns, as mailauth hashes them: what is copied block by block must be what an
// octet-by-octet reader makes of it, in one piece and in many. The seed is printed; SEED=… runs it again.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import t from 'tap';
import { BodyCanonicalizer, canonicalBody } from '../../../src/protocol/mail/dkim/dkim-canonical.ts';
import { SeededRandom } from '../../fuzz/seeded-random.ts';
import { inPieces, randomBody } from './random-bodies.ts';

// Has no types.
const { dkimBody } = createRequire(import.meta.url)('mailauth/lib/dkim/body/index.js');

const BODIES = 400;
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

function canonicalByPieces(chunks: readonly Buffer[]): Buffer {
  const written: Buffer[] = [];
  const canonicalizer = new BodyCanonicalizer((octets) => written.push(Buffer.from(octets)));
  for (const chunk of chunks) canonicalizer.push(chunk);
  canonicalizer.end();
  return Buffer.concat(written);
}

t.test(`${BODIES} random bodies (SEED=${SEED})`, async (t) => {
  const wrong = [];
  for (let seed = SEED; seed < SEED + BODIES; seed++) {
    const random = new SeededRandom(seed);
    const body = randomBody(random);
    const oracle = dkimBody('relaxed/relaxed', 'rsa-sha256');
    oracle.update(body);
    const canonical = canonicalBody(body);
    if (createHash('sha256').update(canonical).digest('base64') !== oracle.digest('base64')) wrong.push(seed);
    if (!canonicalByPieces(inPieces(body, random)).equals(canonical)) wrong.push(`${seed} in pieces`);
  }
  t.strictSame(wrong, []);
});

t.test('every octet in a chunk of its own', async (t) => {
  for (const text of [
    '',
    ' ',
    '\r',
    '\r\n',
    'x',
    'x\r',
    ' \r',
    ' \rx',
    '\r\r\n',
    'x \r\n\r\n\r',
    '\n',
    ' \n\t\r\n',
    'x\r\n ',
  ]) {
    const body = Buffer.from(text);
    const canonical = canonicalBody(body).toString();
    t.equal(canonicalByPieces(Array.from(body, (_, at) => body.subarray(at, at + 1))).toString(), canonical, canonical);
  }
});

t.test('what may be dropped in the end is counted, not kept', async (t) => {
  const sizes: number[] = [];
  const canonicalizer = new BodyCanonicalizer((octets) => sizes.push(octets.length));
  const chunk = Buffer.from('\r\n'.repeat(32 * 1024));
  for (let times = 0; times < 160; times++) canonicalizer.push(chunk);
  t.strictSame(sizes, [], 'nothing is decided');
  canonicalizer.push(Buffer.from('x\r\n'));
  canonicalizer.end();
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.equal(total, 160 * chunk.length + 3, '10 MiB of empty lines and one with an x');
  t.ok(Math.max(...sizes) <= chunk.length, 'in pieces no larger than a chunk');
});
