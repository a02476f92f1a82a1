// Brings the text of a reply into the form in which phrases are looked for: small words, one
// blank between them. What says nothing is left out: punctuation, addresses, IP numbers, and
// the codes that servers repeat on every line (RFC 2034 section 3), which in a report joined
// from several lines tear sentences apart.

// RFC 5321 section 4.5.3.1.5 allows 512 octets a line; what matters stands in the first ones.
const MAX_TEXT_CHARACTERS = 2_000;

// Sendmail writes `ann@rcpt.test...User unknown`: two dots end an address.
const MAIL_ADDRESS = /[^\s<>()[\]{}",;:'=@]{1,64}@(?:[^\s<>()[\]{}",;:'=@.]|\.(?!\.)){1,255}/g;
// `mail.example.com[192.0.2.1]`, as Postfix names hosts: what a name is made of says nothing either.
const NAMED_HOST = /[\w.-]{1,255}\[[0-9a-f:.]{2,45}\]/gi;
const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
const IPV6 = /\b(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){0,7}/gi;
const REPEATED_CODE = /\b[245]\d\d-(?=\S)|(?:\b[245]\d\d[- ])?#?\b[245]\.\d{1,3}\.\d{1,3}\b(?!\.?\w)/g;
const APOSTROPHES = /['’‘`´\u00a0]/g;
const BETWEEN_WORDS = /[^a-z0-9\u00aa-\u1fff\u2c00-\uffff]+/g;

/** With a blank at both ends, so that every word has one on both sides. */
export function wordsOf(text: string): string {
  let words = text.slice(0, MAX_TEXT_CHARACTERS);
  if (words.includes('@')) words = words.replace(MAIL_ADDRESS, ' ');
  if (words.includes('[')) words = words.replace(NAMED_HOST, ' ');
  if (words.includes(':')) words = words.replace(IPV6, ' ');
  words = words.replace(IPV4, ' ').replace(REPEATED_CODE, ' ').replace(APOSTROPHES, '');
  return ` ${spelledOut(words.toLowerCase().replace(BETWEEN_WORDS, ' ').trim())} `;
}

const CONTRACTION = /\b(does|do|did|is|was|are|were|could|would|should|has|have|had)nt\b/g;
const MISSPELT = /\bdos(?:e)?nt\b/g;
const CANNOT = /\bca(?:nt|n not)\b/g;
const BRITISH = /\b(recogn|(?:un)?author|organ|categor)is(?=[a-z])/g;
/** Kana, Han and Hangul: their texts have no blanks, or too few, so each sign is a word. */
const SIGN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;

/** One spelling for what has several, in texts and in phrases alike, so that a rule needs one of them only. */
export function spelledOut(words: string): string {
  const plain = words
    .replace(MISSPELT, 'does not')
    .replace(CONTRACTION, '$1 not')
    .replace(CANNOT, 'cannot')
    .replace(BRITISH, '$1iz');
  return plain.search(SIGN) < 0 ? plain : plain.replace(SIGN, ' $& ').replace(/ {2,}/g, ' ').trim();
}
