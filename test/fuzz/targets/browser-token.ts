// The cookie by which a browser is known at the sign-in: tokens of several accounts, joined. What is recognized is
// what was made for this account, to the letter, and nothing else.
import { KnownBrowsers } from '../../../src/tenants/accounts/known-browsers.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { FuzzTarget } from '../target.ts';
import { changeText } from '../text-mutations.ts';

const NOW = Date.UTC(2026, 0, 31);
const KEYS = ['a', 'b', '7'].map((id, at) => ({ id, key: Buffer.alloc(32, at + 1) }));
const keys = (id: string) => KEYS.find((key) => key.id === id)?.key;
const clock = { now: () => NOW };
const BROWSERS = new KnownBrowsers({ clock, key: KEYS[0]!, keys });

const ACCOUNT = { id: 'jo', passwordHash: 'of jo' };
const OTHERS = [
  { id: 'ann', passwordHash: 'of ann' },
  { ...ACCOUNT, passwordHash: 'of jo, earlier' },
];
const WORDS = ['', '.', '..', ' ', '\0', ';', '=', '%2e', 'A', '-', '_', '\ud800', 'x'.repeat(47), 'x'.repeat(3000)];
const MOST_CHARS = 192;

interface CookieInput {
  text: string;
  own: string[];
}

export const browserTokenTarget: FuzzTarget = {
  name: 'browser-token',
  open() {
    const reached = { known: 0, stranger: 0 };
    return {
      reached,
      show: ({ text }: CookieInput) => JSON.stringify(text),
      mutate(random: SeededRandom): CookieInput {
        const own = random.times(2, () => make(ACCOUNT, random));
        const seeds = [...own, ...OTHERS.map((account) => make(account, random))];
        let text = random.times(1 + random.below(4), () => random.pick(seeds)).join('.');
        for (let change = random.below(3); change > 0; change--)
          text = changeText(text, { seeds, words: WORDS }, random);
        return { text, own };
      },
      run({ text, own }: CookieInput) {
        const expected = text.length <= MOST_CHARS && text.split('.').some((token) => own.includes(token));
        const isKnown = BROWSERS.recognize(ACCOUNT, text) !== null;
        reached[isKnown ? 'known' : 'stranger']++;
        if (isKnown !== expected) return isKnown ? 'what nobody made was recognized' : 'what was made was refused';
        const next = BROWSERS.remember(ACCOUNT, text).value;
        if (next.length >= MOST_CHARS || !/^[\w.-]+$/.test(next)) return `no cookie: ${JSON.stringify(next)}`;
        return BROWSERS.recognize(ACCOUNT, next) === null ? 'the new token was refused' : null;
      },
    };
  },
};

function make(account: typeof ACCOUNT, random: SeededRandom): string {
  const bytes = (count: number) => Buffer.from(Uint8Array.from({ length: count }, () => random.below(256)));
  const maker = new KnownBrowsers({ clock, key: random.pick(KEYS), keys, random: bytes });
  return maker.remember(account, null).value;
}
