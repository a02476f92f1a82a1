// Addresses and mailboxes of the API. What is accepted says the same when it is written and read again.
import {
  type Address,
  envelopeForm,
  parseAddress,
  recipientKey,
  suppressionKey,
} from '../../../src/protocol/mail/addresses/address.ts';
import { parseMailbox } from '../../../src/protocol/mail/addresses/mailbox.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget, seedLines } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const WORDS = [
  ...['@', '"', '\\', '\\"', '<', '>', '<>', '.', '..', ' ', '\t', '\r\n', '\0', '(', ')', ',', ';', ':', '[', ']'],
  ...['[IPv6:', '::', '192.0.2.1', '256.1.1.1', 'xn--', 'xn--a', 'xn--zca', '-', '_', '%', '%40', '=?utf-8?Q?=40?='],
  ...['\u00df', '\u0130', '\u017f', '\u212a', 'e\u0301', '\u200d', '\u00ad', '\u3002', '\uff0e', '\uff20', '\u202e'],
  ...['\u00a0', '\u2028', '\ufeff', '\ud800', '\udc00', '\u{10ffff}', '\u0085', 'a'.repeat(63), 'a'.repeat(64)],
];
const LONG_WORDS = [
  '<'.repeat(20_000),
  '"'.repeat(20_000),
  ' '.repeat(20_000),
  'a.'.repeat(10_000),
  '\\"'.repeat(10_000),
];
/** Twice what a name and an address may have, and room for white space. */
const MOST_OCTETS = 254;

export const addressTarget: FuzzTarget = {
  name: 'address',
  open() {
    const material: Material = { seeds: seedLines('address.jsonl'), words: WORDS, longWords: LONG_WORDS };
    const reached = { address: 0, mailbox: 0, refused: 0 };
    return {
      mutate: (random: SeededRandom) => (random.chance(0.3) ? grown(random) : mutateText(material, random)),
      reached,
      run(text: string) {
        const isAddress = parseAddress(text).ok;
        reached[isAddress ? 'address' : parseMailbox(text).ok ? 'mailbox' : 'refused']++;
        return addressProblem(text) ?? mailboxProblem(text);
      },
    };
  },
};

/** From the grammar, mostly right. */
function grown(random: SeededRandom): string {
  const atom = () =>
    random.times(1 + random.below(4), () => random.pick(['a', 'B', '0', '!', '~', 'ü', '你', '🚲'])).join('');
  const quoted = () =>
    `"${random.times(random.below(6), () => random.pick(['a', '.', '@', ' ', '\\"', '\\\\', '<', '>', 'ü', '\\ '])).join('')}"`;
  const local = random.chance(0.4) ? quoted() : random.times(1 + random.below(3), atom).join('.');
  const label = () => random.pick(['a', 'x-y', 'XN--BCHER-KVA', 'bücher', 'ß', '例え', '1', 'a'.repeat(63)]);
  const domain = random.chance(0.1)
    ? random.pick(['[192.0.2.1]', '[IPv6:::1]', '[IPv6:1:2:3:4:5:6:7:8]', '[IPv6:1::192.0.2.1]', '[x]'])
    : random.times(1 + random.below(4), label).join('.');
  const address = `${local}@${domain}`;
  return random.chance(0.5) ? address : `${random.pick(['', 'Jo ', '"J <o>" ', quoted(), '😀<'])}<${address}>`;
}

function addressProblem(text: string): string | null {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed.reason === '' ? 'refused without a reason' : null;
  return keptProblem(parsed.address, text);
}

function keptProblem(address: Address, text: string): string | null {
  if (`${address.local}@${address.domain}` !== text) return 'local part and domain are not what was written';
  const wire = envelopeForm(address);
  if (/[\p{Cc}]/u.test(wire)) return 'a control character goes into the envelope';
  const octets = Buffer.byteLength(`${address.local}@${address.asciiDomain}`);
  if (octets > MOST_OCTETS) return `an address of ${octets} octets was accepted`;
  const again = parseAddress(wire);
  if (!again.ok) return `its envelope form ${wire} is refused: ${again.reason}`;
  return (
    difference('recipient keys', recipientKey(address), recipientKey(again.address)) ??
    difference('suppression keys', suppressionKey(address), suppressionKey(again.address)) ??
    readableKeyProblem(recipientKey(address))
  );
}

/** The key of a recipient is an address of the same recipient. */
function readableKeyProblem(key: string): string | null {
  const parsed = parseAddress(key);
  if (!parsed.ok) return `the recipient key ${key} is not an email address: ${parsed.reason}`;
  return difference('a key of a key', key, recipientKey(parsed.address));
}

function mailboxProblem(text: string): string | null {
  const parsed = parseMailbox(text);
  if (!parsed.ok) return parsed.reason === '' ? 'refused without a reason' : null;
  const { name, address } = parsed.mailbox;
  if (/[\p{Cc}]/u.test(name)) return 'a control character in the name';
  const escaped = name.replace(/["\\]/g, '\\$&');
  const written = `"${escaped}" <${address.local}@${address.domain}>`;
  const again = parseMailbox(written);
  // Escapes may make the name longer than a name may be.
  if (!again.ok) return escaped.length > 900 ? null : `${written} is refused: ${again.reason}`;
  return difference('written and read again', parsed.mailbox, again.mailbox);
}
