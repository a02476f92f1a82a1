import t from 'tap';
import { ALPHANUMERIC, randomText } from '../../src/tenants/random-text.ts';

t.test('has the length that was asked for, of letters and digits', async (t) => {
  for (const length of [0, 1, 12, 43, 500]) t.match(randomText(length), new RegExp(`^[0-9A-Za-z]{${length}}$`));
});

t.test('throws away the bytes that would favour the first characters', async (t) => {
  const bytes = [247, 248, 255, 0, 61];
  const text = randomText(3, (count) => Buffer.from(bytes.splice(0, count)));
  t.equal(text, `${ALPHANUMERIC.at(-1)}${ALPHANUMERIC[0]}${ALPHANUMERIC.at(-1)}`);
});
