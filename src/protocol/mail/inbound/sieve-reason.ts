// The reason of Sieve's `reject` (RFC 5429): a text by the recipient, of any length and in any words, after the
// server's sentence (Dovecot, Cyrus). The fields may be those of the server before it.

const SENTENCE = /^your message(?: to <.{1,300}>)? was automatically rejected\b/i;
const GIVEN = /^(?:the following reason was given|reason(?: given)?|with the (?:following )?reason)\s*:?\s*$/i;
const MAX_LINES_OF_THE_SENTENCE = 3;
const MAX_LINES = 100;
const MAX_CHARACTERS = 2_000;

/** Sentence and text together; null: there is no such sentence, or no text after it. */
export function reasonOfSieve(lines: readonly string[]): string | null {
  const at = lines.findIndex((line) => SENTENCE.test(line.trim()));
  if (at < 0) return null;
  const nearby = lines.slice(at, at + MAX_LINES).map((line) => line.trim());
  const sentenceEnd = nearby.slice(0, MAX_LINES_OF_THE_SENTENCE).findIndex((line) => /[.:]$/.test(line) || line === '');
  const sentence = nearby
    .slice(0, sentenceEnd + 1)
    .join(' ')
    .trim();
  const text = nearby
    .slice(sentenceEnd + 1)
    .filter((line) => line !== '' && !GIVEN.test(line))
    .join(' ');
  // If everything is on one line, the sentence does not end with a colon.
  if (text === '' && /[.:]$/.test(sentence)) return null;
  return [sentence.replace(/\.$/, ':'), text].join(' ').replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS);
}
