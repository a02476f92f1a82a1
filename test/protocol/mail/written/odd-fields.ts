// Header fields that an application or the relays in front of it may add to a mail, as octets: some leave with it, some
// are taken out; and the spellings of a field that all mean the same.
import type { SeededRandom } from '../../../fuzz/seeded-random.ts';

/** In another order than the one in which they are tried. */
const TAKEN_OUT = /^(resend-)?idempotency-key$|^(resent-)?bcc$|^return-path$|^feedback-id$|^authentication-results$/;
const TAKEN_OUT_PREFIX = /^(cfbl|x-postrider)-/;

const oddFields = (idempotencyKey: string) => [
  'Bcc: secret@example.com,\r\n other@example.com',
  'Return-Path: <jo@acme.example>',
  'Feedback-ID: a:b:c:d',
  'CFBL-Address: fbl@acme.example; report=arf',
  'Authentication-Results: mx.acme.example;\r\n\tdkim=pass',
  'X-Postrider-Tag: kind=receipt',
  'X-Postrider-Message-ID: 1',
  `Resend-Idempotency-Key: ${idempotencyKey}`,
  'Received: from a.acme.example (a.acme.example [192.0.2.1])\r\n\tby b.acme.example; Thu, 26 Nov 2026 10:00:00 +0000',
  'X-Mailer: =?utf-8?Q?Gr=C3=B6=C3=9Fe?=',
  'X-Utf8: Größe 漢字\u00a0',
  'X-Spaces:   a \t b\r\n  \t c   ',
  'X-Empty:',
  'X-Blank-Fold: a\r\n  \r\n b',
  'DKIM-Signature: v=1; a=rsa-sha256; d=other.example; s=x;\r\n h=from; bh=AAAA; b=AAAA',
];

/** Each character is an octet. */
export function someOddFields(random: SeededRandom, idempotencyKey: string): string[] {
  const some = oddFields(idempotencyKey).filter(() => random.chance(0.3));
  return some.map((field) => Buffer.from(field).toString('latin1'));
}

export function leaves(field: string): boolean {
  const key = field.slice(0, field.indexOf(':')).trim().toLowerCase();
  return !TAKEN_OUT.test(key) && !TAKEN_OUT_PREFIX.test(key);
}

/** In front of the colon (RFC 5322 section 4.5.3). Python's email package takes such a line for the end of the header. */
const OBSOLETE_BLANKS = ['', '', '', ' ', '\t'];

export function respelled(field: string, random: SeededRandom, blanks = OBSOLETE_BLANKS): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon);
  const spelled = random.pick([name, name, name.toLowerCase(), name.toUpperCase()]);
  // mailparser takes no field with a blank there for one that it knows.
  const blank = /^(From|Subject|Message-ID)$/.test(name) ? '' : random.pick(blanks);
  return spelled + blank + field.slice(colon);
}

/** In any order. */
export function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const placed = items.map((item) => ({ item, at: random.next() }));
  return placed.sort((one, other) => one.at - other.at).map(({ item }) => item);
}
