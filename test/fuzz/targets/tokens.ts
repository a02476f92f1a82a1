// What we hand out and get back: return paths, unsubscribe addresses, feedback ids, and the tokens of links.
// What is recognised is what was made, for that purpose, and nothing else.
import { bytesToUuid } from '../../../src/base/ids.ts';
import { recognise } from '../../../src/inbound/recipients.ts';
import * as link from '../../../src/links/link-token.ts';
import { makeFeedbackId, readFeedbackId } from '../../../src/protocol/mail/addresses/feedback-id.ts';
import { makeReturnPath, readReturnPath } from '../../../src/protocol/mail/addresses/return-path.ts';
import {
  makeUnsubscribeAddress,
  readUnsubscribeAddress,
} from '../../../src/protocol/mail/addresses/unsubscribe-address.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzTarget, seedLines } from '../target.ts';
import { changeText } from '../text-mutations.ts';

const KEYS = ['a', 'b', '7'].map((id, at) => ({ id, key: Buffer.alloc(32, at + 1) }));
const keyLookup = (id: string) => KEYS.find((key) => key.id === id)?.key;
const BOUNCES = 'bounces.postrider.test';
const BOOK = {
  bouncesDomain: BOUNCES,
  ehloName: 'mail.postrider.test',
  dmarcReportAddress: `reports@${BOUNCES}`,
  tokenKeys: keyLookup,
};

interface Made {
  purpose: string;
  text: string;
  /** What reading it must give. */
  value: unknown;
}

interface TokenInput {
  text: string;
  made: Made[];
}

function changed(made: Made[], words: readonly string[], random: SeededRandom): TokenInput {
  const seeds = made.map(({ text }) => text);
  let text = random.pick(seeds);
  for (let change = random.below(4); change > 0; change--) {
    text = random.chance(0.5)
      ? exchanged(text, random.pick(seeds), random)
      : changeText(text, { seeds, words }, random);
  }
  return { text, made };
}

/** The same length, so that more than its length is looked at. */
function exchanged(text: string, other: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + other.slice(at);
    case 1:
      return text.slice(0, at) + random.pick([...'abcdefgz234567AZ019-_=:kiK\u212a\u0130']) + text.slice(at + 1);
    case 2:
      return random.pick([...'bucafBU']) + text.slice(1);
    default:
      return random.chance(0.5) ? text.toUpperCase() : text.toLowerCase();
  }
}

function randomId(random: SeededRandom): string {
  return bytesToUuid(Uint8Array.from({ length: 16 }, () => random.below(256)));
}

const WORDS = [
  '',
  ' ',
  '\0',
  '\r\n',
  ':',
  '=',
  '==',
  '@',
  '"',
  '+x',
  '-',
  '_',
  '\ud800',
  'K',
  '\u0130',
  'a'.repeat(3000),
];

export const bounceAddressTarget: FuzzTarget = {
  name: 'bounce-address',
  open() {
    const reached = { return_path: 0, unsubscribe: 0, role: 0, dmarc: 0, unknown: 0 };
    return {
      reached,
      show: ({ text }: TokenInput) => JSON.stringify(text),
      mutate(random: SeededRandom): TokenInput {
        const made = random.times(2, () => messageTokens(randomId(random), random)).flat();
        return random.chance(0.01)
          ? { made, text: random.pick(['Abuse', 'postmaster', 'fbl', 'dmarc', 'reports', 'postmaster+x', '"abuse"']) }
          : changed(made, WORDS, random);
      },
      run(input: TokenInput) {
        reached[recognise(`${input.text}@${BOUNCES}`, BOOK).kind]++;
        return messageTokenProblem(input) ?? recipientProblem(input);
      },
    };
  },
};

function messageTokens(messageId: string, random: SeededRandom): Made[] {
  const key = random.pick(KEYS);
  return [
    { purpose: 'return_path', text: makeReturnPath(messageId, key), value: messageId },
    { purpose: 'unsubscribe', text: makeUnsubscribeAddress(messageId, key), value: messageId },
    { purpose: 'feedback_id', text: makeFeedbackId(messageId, key), value: messageId },
  ];
}

function messageTokenProblem({ text, made }: TokenInput): string | null {
  const read: [purpose: string, value: string | null][] = [
    ['return_path', readReturnPath(text, keyLookup)],
    ['unsubscribe', readUnsubscribeAddress(text, keyLookup)],
    ['feedback_id', readFeedbackId(text, keyLookup)],
  ];
  // Mail systems change the case, and fold feedback ids.
  const normal = (one: string) => one.replace(/\s+/g, '').toLowerCase();
  return firstProblem(read, (purpose) => made.find((one) => one.purpose === purpose && one.text === normal(text)));
}

/** Null values must not have been made, all others must. */
function firstProblem(
  read: readonly (readonly [purpose: string, value: unknown])[],
  madeFor: (purpose: string) => Made | undefined,
): string | null {
  for (const [purpose, value] of read) {
    const expected = madeFor(purpose);
    // White space is no part of an address, so what was made may be refused with some in it.
    if (value === null) continue;
    if (!expected) return `a ${purpose} that nobody made was taken for ${JSON.stringify(value)}`;
    if (JSON.stringify(value) !== JSON.stringify(expected.value)) {
      return `the ${purpose} of ${JSON.stringify(expected.value)} was read as ${JSON.stringify(value)}`;
    }
  }
  return null;
}

function recipientProblem({ text, made }: TokenInput): string | null {
  const recipient = recognise(`${text}@${BOUNCES}`, BOOK);
  switch (recipient.kind) {
    case 'return_path':
    case 'unsubscribe': {
      const expected = made.find((one) => one.purpose === recipient.kind && one.text === text.toLowerCase());
      return expected?.value === recipient.messageId ? null : `${text} was let in as ${recipient.kind}`;
    }
    case 'role':
      return ['postmaster', 'abuse', 'fbl'].includes(text.toLowerCase()) ? null : `${text} was let in as a role`;
    case 'dmarc':
      return ['dmarc', 'reports'].includes(text.toLowerCase()) ? null : `${text} was let in for DMARC`;
    case 'unknown':
      return made.some((one) => one.text === text && one.purpose !== 'feedback_id') ? `${text} was refused` : null;
  }
}

export const linkTokenTarget: FuzzTarget = {
  name: 'link-token',
  open() {
    const urls = seedLines('urls.txt');
    const reached = { open: 0, click: 0, unsubscribe: 0, 'none of ours': 0 };
    return {
      reached,
      show: ({ text }: TokenInput) => JSON.stringify(text),
      mutate(random: SeededRandom): TokenInput {
        return changed([...linkTokens(urls, random), ...linkTokens(urls, random)], WORDS, random);
      },
      run({ text, made }: TokenInput) {
        const read: [purpose: string, value: unknown][] = [
          ['open', link.readOpenToken(text, keyLookup)],
          ['click', link.readClickToken(text, keyLookup)],
          ['unsubscribe', link.readUnsubscribeToken(text, keyLookup)],
        ];
        const own = made.find((one) => one.text === text);
        reached[(read.find(([, value]) => value !== null)?.[0] ?? 'none of ours') as keyof typeof reached]++;
        if (own && read.find(([purpose]) => purpose === own.purpose)![1] === null)
          return `a ${own.purpose} token was refused`;
        // Only one text is the token, to the letter.
        return firstProblem(read, (purpose) => (own?.purpose === purpose ? own : undefined));
      },
    };
  },
};

function linkTokens(urls: readonly string[], random: SeededRandom): Made[] {
  const key = random.pick(KEYS);
  const subject = { messageId: randomId(random), tenantId: randomId(random) };
  const click = { ...subject, linkIndex: random.below(1000), linkCount: random.below(1000), url: random.pick(urls) };
  const unsubscribe = { ...subject, recipient: random.pick(['jo@a.test', '"q q"@a.test', 'ü@ü.test']) };
  return [
    { purpose: 'open', text: link.makeOpenToken(subject, key), value: subject },
    { purpose: 'click', text: link.makeClickToken(click, key), value: click },
    { purpose: 'unsubscribe', text: link.makeUnsubscribeToken(unsubscribe, key), value: unsubscribe },
  ];
}
