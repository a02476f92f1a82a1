// Bodies of many kilobytes, clean and odd in turns: the first is what canonicalization copies, the latter what it must
// change, at any distance from the ends of its blocks.
import type { SeededRandom } from '../../fuzz/seeded-random.ts';

const ODD = [
  '\t',
  '  ',
  ' ',
  ' \r\n',
  '\t \r\n',
  '\r\n',
  '\r\n\r\n',
  ' x',
  'y ',
  '\r\n ',
  '.\r\n',
  '=20\r\n',
  'ü',
  '\r',
];
const RARE = ['z'.repeat(997), 'z'.repeat(998), 'z'.repeat(1000), '\r\n'.repeat(9000), ' '.repeat(9000)];

export function randomBody(random: SeededRandom): Buffer {
  const clean = () => `${'QUJD'.repeat(19)}\r\n`.repeat(random.below(301)) + 'z'.repeat(random.below(101));
  const odd = () => random.times(random.below(4), () => random.pick(random.chance(0.1) ? RARE : ODD)).join('');
  return Buffer.from(random.times(1 + random.below(5), () => clean() + odd()).join(''));
}

/** Cut anywhere: often small, often between a CR and its LF, sometimes empty. */
export function inPieces(body: Buffer, random: SeededRandom): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = random.pick([0, 1, 2, 3, 77, 8191, 8192, 20_000, random.below(70_000)]);
    const cr = body.indexOf('\r', at);
    const end = random.chance(0.3) && cr >= 0 ? cr + 1 : at + size;
    chunks.push(body.subarray(at, end));
    at = Math.min(Math.max(at, end), body.length);
  }
  return chunks;
}
