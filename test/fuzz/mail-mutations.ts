// Mails that nobody wrote: real ones with octets changed, pieces lost, doubled, mixed with those of
// another, and with what has hurt parsers before. The same random choices make the same mail.
import type { SeededRandom } from './seeded-random.ts';

const HOSTILE = [
  '\0',
  '\r',
  '\n\n',
  '\r\n.\r\n',
  '--',
  '=',
  '=?utf-8?Q?=?=',
  '=?x?b?////?=',
  'Content-Type: multipart/report; boundary=""\n',
  'Content-Type: multipart/mixed; boundary=a\n\n--a\n',
  'Content-Type: message/delivery-status\n\n',
  'Content-Type: message/feedback-report\n\n',
  'Content-Transfer-Encoding: base64\n',
  'Final-Recipient: rfc822;\n',
  'Final-Recipient: rfc822; \\x{110000}@x\n',
  'Status: 5.9999.1\n',
  'Diagnostic-Code: smtp; 550\n',
  '{"notificationType":"Bounce","bounce":{"bouncedRecipients":[null,1,{}]}}',
  '&#99999999;',
  '\xff\xfe\xfd',
  `<${'a'.repeat(300)}@${'b'.repeat(300)}>`,
];
/** Rare, since they take most of the time. */
const LONG = [
  'a'.repeat(50_000),
  '@'.repeat(20_000),
  '<'.repeat(20_000),
  '--a\n'.repeat(5_000),
  ' \t'.repeat(20_000),
  '550 '.repeat(10_000),
];

/** `words`: what means something to the parser that the mails are for. */
export function mutateMail(mails: readonly Buffer[], random: SeededRandom, words: readonly string[] = HOSTILE): Buffer {
  let text = random.pick(mails).toString('latin1');
  const changes = 1 + random.below(6);
  for (let change = 0; change < changes; change++) {
    text = mutate(text, { mails, words: random.chance(0.5) ? words : HOSTILE }, random);
  }
  return Buffer.from(text, 'latin1');
}

interface MailMaterial {
  mails: readonly Buffer[];
  words: readonly string[];
}

function mutate(text: string, { mails, words }: MailMaterial, random: SeededRandom): string {
  // Most of what a parser decides on stands near the beginning.
  const reach = random.chance(0.7) ? Math.min(text.length, 4_000) : text.length;
  const [from, to] = [random.below(reach + 1), random.below(reach + 1)].sort((a, b) => a - b) as [number, number];
  switch (random.below(7)) {
    case 0:
      return text.slice(0, from) + String.fromCharCode(random.below(256)) + text.slice(from + 1);
    case 1:
      return text.slice(0, from) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(from);
    case 3:
      return text.slice(0, from) + random.pick(random.chance(0.01) ? LONG : words) + text.slice(from);
    case 4: {
      const other = random.pick(mails).toString('latin1');
      const start = random.below(other.length);
      return text.slice(0, from) + other.slice(start, start + random.below(3_000)) + text.slice(from);
    }
    case 5:
      return random.chance(0.5) ? text.replaceAll('\n', '\r\n') : text.replaceAll('\n', random.chance(0.2) ? '' : '\r');
    default:
      return text.slice(0, from);
  }
}
