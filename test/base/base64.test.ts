// Base64 from outside: what is accepted is what Node decodes, and all else is refused with its place.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decodeBase64 } from '../../src/base/text/base64.ts';
import { ProcessorTime } from '../support/patience.ts';

t.test('padding and line breaks are optional', async (t) => {
  for (const length of [0, 1, 2, 3, 4, 5, 56, 57, 58, 1000, 100_000]) {
    const bytes = randomBytes(length);
    const padded = bytes.toString('base64');
    const bare = padded.replaceAll('=', '');
    const broken = (text: string, columns: number, lineEnd: string) =>
      text.match(new RegExp(`.{1,${columns}}`, 'g'))?.join(lineEnd) ?? '';
    const forms = [
      ...[padded, bare, `${padded}\r\n`, `\n${bare}`, broken(padded, 76, '\r\n'), broken(bare, 64, '\n')],
      ...[broken(padded, 1, '\n'), broken(padded, 1, '\r'), broken(bare, 3, '\n\n\r')],
    ];
    for (const form of forms) {
      const decoded = decodeBase64(form);
      t.ok(decoded.ok && decoded.bytes.equals(bytes), `${length} bytes, ${JSON.stringify(form.slice(0, 20))}`);
    }
  }
});

t.test('anything else is refused', async (t) => {
  const cases: [string, RegExp][] = [
    ['A', /^is incomplete$/],
    ['AAAAA', /^is incomplete$/],
    ['A===', /^is incomplete$/],
    ['AA=', /^has wrong padding$/],
    ['AAA==', /^has wrong padding$/],
    ['AAAA=', /^has wrong padding$/],
    ['AAAA====', /^has wrong padding$/],
    ['=', /^has wrong padding$/],
    ['====', /^has wrong padding$/],
    ['AA==AA==', /^continues after its padding, at offset 4$/],
    ['AA=A', /^continues after its padding, at offset 3$/],
    ['AA-_', /^has "-" at offset 2; use the standard alphabet/],
    ['AAA_', /^has "_" at offset 3; use the standard alphabet/],
    ['data:image/png;base64,AAAA', /^begins with "data:"; leave out/],
    ['QU JD', /^has a space at offset 2; only line breaks may be between/],
    [' AAAA', /^has a space at offset 0;/],
    ['AAAA\r\n AAAA ', /^has a space at offset 6;/],
    ['AA\tAA', /^has a character at offset 2 that base64 does not have$/],
    ['AA\0A', /offset 2/],
    ['AAA\u0141', /offset 3/],
    ['AAA\u00c1', /offset 3/],
    ['😀', /offset 0/],
    ['AAAA\ud800', /offset 4/],
    ['AAA\u2028', /offset 3/],
    ['AAAA.', /offset 4/],
    ['{}', /offset 0/],
  ];
  for (const [index, [text, problem]] of cases.entries()) {
    t.match(decodeBase64(text), { ok: false, problem }, `case ${index}`);
  }
});

t.test('5 MiB cost about as much as one pass over the characters, whatever they are', async (t) => {
  const size = 5 * 1024 * 1024;
  const valid = 'QUJD'.repeat(size / 4);
  const cost = (work: () => unknown) => {
    const rounds = Array.from({ length: 3 }, () => {
      const time = new ProcessorTime();
      work();
      return time.usedMs;
    });
    return Math.min(...rounds);
  };
  const texts = [
    valid,
    `${valid.slice(4)}AA.A`,
    '\n'.repeat(size),
    '='.repeat(size),
    `${'\n'.repeat(size)}.`,
    'A\n'.repeat(size / 2),
  ];
  // Looking at each character once, in the same run: a pass that went back would take thousands of times as long.
  const onePass = cost(() => [...valid].length);
  for (const text of texts) {
    const costs = cost(() => decodeBase64(text));
    t.ok(costs < 10 * onePass + 10, `${costs} ms of processor time, one pass ${onePass}`);
  }
});
