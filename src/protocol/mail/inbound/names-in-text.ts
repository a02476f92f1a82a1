// Finds names in a text: mail addresses, host names, and words that name a host. Readers that look for the meaning of a
// text remove them first: a server may be called `relay`, a mailbox `full`. Dotted words that are not names stay:
// `RESOLVER.ADR.RecipNotFound`, `unknown.Please`, `5.1.1.Unknown`.

/** Placeholders from the private use area, which no word contains. */
export const ADDRESS_SIGN = '\ue001';
export const HOST_SIGN = '\ue002';

// Sendmail writes `ann@rcpt.test...User unknown`: two dots end an address. `%40` is an @ in a URL.
const MAIL_ADDRESS =
  /(?:"[^"\n@]{1,64}"|[^\s<>()[\]{}",;:'=@/?&]{1,128})(?:@|%40)(?:[^\s<>()[\]{}",;:'=@./?&]|\.(?!\.|\s|$)){1,255}/gi;
/** `relay[192.0.2.1]`, as Postfix names hosts, and `at host relay`. */
const NAMED_HOST = /[\w.-]{1,255}\[[0-9a-f:.]{2,45}\]|(?<=\bat host )[\w.-]{1,255}/gi;
const DOTTED = /(?<![\w.-])(?:[\w-]{1,63}\.){1,9}(?:xn--[a-z\d-]{1,59}|[a-z]{2,63})(?![\w@-]|:\/\/|\.[\w-])/gi;

/** Parts of Exchange, exceptions and virus names. Labels of hosts are in lower case, or have no letters. */
const PROGRAM_PART =
  /^(?=[A-Z\d.]*[a-z])(?:RESOLVER|STOREDRV|QUEUE|ROUTING|SMTPSEND|CATEGORIZER|AGENT|Trojan|Worm|Win32|W32|W97M|Eicar|Heuristics|Phishing)(?:\.[A-Z\d][\w-]*)+$|[a-z]Exception\w*$/;
/** A file type or a reason after the last dot: no top-level domain is called so. */
const NO_DOMAIN =
  /\.(?:s?html?|php\d?|cgi|aspx?|jsp|exe|pdf|docx?|xlsx?|js|txt|gz|rar|nsf|nosuch\w{3,10}|\w{3,20}(?:notfound|unknown|exceeded|disabled))$|^(?:sendmail|submit)\.cf$/i;
/**
 * A full stop without its space. With two letters, a capitalized word begins a sentence; otherwise it is a country
 * code.
 */
const JOINED_SENTENCES =
  /^[a-z]+\.(?!(?:Com|Net|Org|Edu|Gov|Info|Biz)$)(?:[A-Z][a-z]{2,}|A[nst]|By|Do|Go|He|I[fnst]|My|No|O[fnr]|So|To|Up|Us|We)$/;
const ONLY_NUMBERS = /^[\d.]+\.[a-z]+$/i;

/** The text without names, for patterns that look for its meaning. */
export function withoutNames(text: string): string {
  let replaced = text;
  if (replaced.includes('@') || replaced.includes('%40')) replaced = replaced.replace(MAIL_ADDRESS, ADDRESS_SIGN);
  if (replaced.includes('[') || /at host/i.test(replaced)) replaced = replaced.replace(NAMED_HOST, HOST_SIGN);
  if (!replaced.includes('.')) return replaced;
  return replaced.replace(DOTTED, (name) => {
    if (PROGRAM_PART.test(name) || NO_DOMAIN.test(name)) return name;
    return JOINED_SENTENCES.test(name) || ONLY_NUMBERS.test(name) ? name.replaceAll('.', '. ') : HOST_SIGN;
  });
}
