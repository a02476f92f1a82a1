// Random mails of parts, cut anywhere: those without a line that is too long stay octet by octet; mailparser and Python
// read the same parts in the others before and after; and where a line can't be made to fit, its number is named.
// The seed is printed; SEED=… runs it again.
import { simpleParser } from 'mailparser';
import t from 'tap';
import { SeededRandom } from '../../../fuzz/seeded-random.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { type PythonMail, readByPython } from '../python-reader.ts';
import { inPieces } from '../random-bodies.ts';
import { fitLines } from './fitted-mail.ts';
import { randomMailOfParts } from './random-parts.ts';

const MAILS = 500;
const SEED = Number(process.env.SEED ?? Date.now() % 1e6);

interface Fitted {
  seed: number;
  raw: Buffer;
  leaving: Buffer;
}

t.test(`${MAILS} random mails (SEED=${SEED})`, async (t) => {
  const wrong: unknown[] = [];
  const changed: Fitted[] = [];
  const reached = { same: 0, changed: 0, refused: 0 };
  for (let seed = SEED; seed < SEED + MAILS; seed++) {
    const { raw, hasLongLine, refusedLine } = randomMailOfParts(seed);
    const random = new SeededRandom(seed);
    const { problem, leaving } = fitLines(raw, (body) => inPieces(body, random));
    const line = problem === null ? null : Number(/^Line (\d+) is longer/.exec(problem)?.[1]);
    if (line !== refusedLine) wrong.push({ seed, problem, refusedLine });
    reached[refusedLine !== null ? 'refused' : hasLongLine ? 'changed' : 'same']++;
    if (refusedLine !== null) continue;
    if (!hasLongLine && !leaving.equals(raw)) wrong.push({ seed, problem: 'not the same octets' });
    if (hasLongLine) changed.push({ seed, raw, leaving });
    const tooLong = leaving
      .toString('latin1')
      .split('\r\n')
      .filter((line) => line.length > 998);
    if (tooLong.length > 0) wrong.push({ seed, problem: 'leaves with long lines' });
  }
  t.strictSame(wrong, []);
  t.ok(
    Object.values(reached).every((count) => count > MAILS / 100),
    JSON.stringify(reached),
  );
  await t.test('mailparser', async (t) => {
    const differences = [];
    for (const { seed, raw, leaving } of changed) {
      const [came, left] = [await readByMailparser(raw), await readByMailparser(leaving)];
      if (came !== left) differences.push({ seed, came, left });
    }
    t.strictSame(differences.slice(0, 1), []);
  });
  await t.test('Python', async (t) => {
    const came = readByPython(
      testFolder(t),
      changed.map(({ raw }) => raw),
    );
    const left = readByPython(
      testFolder(t),
      changed.map(({ leaving }) => leaving),
    );
    if (typeof came === 'string' || typeof left === 'string') throw new Error(String(came));
    const differences = changed.flatMap(({ seed }, index) => {
      const [one, other] = [came[index]!, left[index]!];
      const isSame =
        partsOf(one.compat32) === partsOf(other.compat32) && partsOf(one.default) === partsOf(other.default);
      return isSame ? [] : [{ seed, one, other }];
    });
    t.strictSame(differences.slice(0, 1), []);
  });
});

function partsOf({ structure, leaves, defects }: PythonMail): string {
  return JSON.stringify([structure, leaves, defects]);
}

async function readByMailparser(raw: Buffer): Promise<string> {
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };
  const { text, html, attachments } = await simpleParser(raw, options);
  const files = attachments.map(({ contentType, content }) => [contentType, content.toString('hex')]);
  return JSON.stringify([text, html, files]);
}
