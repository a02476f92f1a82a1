// What is found out about a body while it arrives, cut anywhere, must be what a reader of the whole body finds.
// The seed is printed; SEED=… runs it again.
import { createRequire } from 'node:module';
import t from 'tap';
import { hashBody } from '../../../../src/protocol/mail/dkim/dkim.ts';
import { type BodyFacts, WrittenBody } from '../../../../src/protocol/mail/written/written-body.ts';
import { SeededRandom } from '../../../fuzz/seeded-random.ts';
import { inPieces, randomBody } from '../random-bodies.ts';

// Has no types.
const { dkimBody } = createRequire(import.meta.url)('mailauth/lib/dkim/body/index.js');

const BODIES = 400;
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

function factsOf(chunks: readonly Buffer[]): BodyFacts {
  const body = new WrittenBody();
  for (const chunk of chunks) body.push(chunk);
  return body.end();
}

/** Read as a whole, by mailauth. */
function expected(whole: Buffer): BodyFacts {
  const oracle = dkimBody('relaxed/relaxed', 'rsa-sha256');
  oracle.update(whole);
  return {
    bytes: whole.length,
    bodyHash: oracle.digest('base64'),
    eightBit: /[\x80-\xff]/.test(whole.toString('latin1')),
  };
}

t.test(`${BODIES} random bodies in random pieces (SEED=${SEED})`, async (t) => {
  const wrong = [];
  let eightBit = 0;
  for (let seed = SEED; seed < SEED + BODIES; seed++) {
    const random = new SeededRandom(seed);
    const whole = Buffer.concat([randomBody(random), Buffer.from('\r\n')]);
    const facts = factsOf(inPieces(whole, random));
    if (facts.eightBit) eightBit++;
    const same = JSON.stringify(facts) === JSON.stringify(expected(whole)) && facts.bodyHash === hashBody(whole);
    if (!same) wrong.push({ seed, facts, expected: expected(whole) });
  }
  t.strictSame(wrong, []);
  t.ok(eightBit > 20 && eightBit < BODIES - 20, `of both kinds: ${eightBit}`);
});

t.test('every octet in a chunk of its own', async (t) => {
  for (const text of ['', '\r\n', 'x\r\n', ' \r\n\r\n', ' x \t y\t \r\n\r\n \r\n', '\r\n\r\nx\r\n', '.\r\n..\r\n']) {
    const whole = Buffer.from(text);
    const chunks = Array.from(whole, (_, at) => whole.subarray(at, at + 1));
    t.strictSame(factsOf(chunks), expected(whole), JSON.stringify(text));
  }
});
