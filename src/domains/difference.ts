// What is different between a record that is expected and what was found, in words for whoever entered it: the mistakes
// that DNS providers' forms invite. A pure function of the check; what follows from it says the check itself.
import { parseTagList } from '../protocol/dns/dkim-record.ts';
import type { DomainCheck } from '../store/domains.ts';
import { TXT_STRING_MAX_OCTETS } from './txt-strings.ts';

/** One sentence for each thing that is noticed; none when nothing can be said beyond the check's own message. */
export function differences({ record, ok, expected, found }: DomainCheck): string[] {
  if (ok || found.length === 0) return [];
  const meant = found.filter((text) => isMeantAs(record, text));
  if (meant.length > 1) return [`There are ${meant.length} records of this kind; only one is allowed.`];
  const [text] = meant;
  if (text === undefined) return ['The existing record is unrelated to this one and can stay.'];
  return record === 'dkim' ? inKey(expected, text) : inQuotes(text);
}

const MEANT_AS = {
  dkim: /v\s*=\s*["']?dkim|(?:^|;)\s*p\s*=/i,
  spf: /^[\s"'\\]*v\s*=\s*spf1/i,
  dmarc: /v\s*=\s*["']?dmarc/i,
};

function isMeantAs(record: DomainCheck['record'], text: string): boolean {
  return MEANT_AS[record].test(text);
}

function inKey(expected: string, text: string): string[] {
  const [wanted, given] = [bare(expected), bare(text)];
  const said = inQuotes(text);
  if (given.length < wanted.length && wanted.startsWith(given)) {
    const share = `${given.length} of ${wanted.length} characters are present`;
    const cause =
      text.length <= TXT_STRING_MAX_OCTETS
        ? ' Many DNS forms keep only the first 255: enter the value as several quoted strings.'
        : '';
    return [...said, `The value is truncated: ${share}.${cause}`];
  }
  if (given.length > wanted.length && given.startsWith(wanted)) {
    return [...said, `There is extra text after the value: ${given.slice(wanted.length, wanted.length + 40)}`];
  }
  const [own, theirs] = [parseTagList(expected)?.get('p'), parseTagList(text)?.get('p')];
  if (own !== undefined && theirs && bare(own) !== bare(theirs)) {
    return [
      ...said,
      `The key begins with ${shortened(theirs)} and should begin with ${shortened(own)}: it may be an older one, or another service's.`,
    ];
  }
  return said;
}

function inQuotes(text: string): string[] {
  if (/^[“”„]|[“”„]$/.test(text.trim()))
    return ['The value has typographic quotation marks around it. Enter it without any.'];
  if (/^\s*["'\\]/.test(text))
    return ['The value contains quotation marks that belong around it. Enter it without any.'];
  return /&(?:quot|amp|#\d+);/.test(text) ? ['The value contains HTML (like &quot;). Copy it again.'] : [];
}

/** Space and quotes are what forms add and take away. */
function bare(text: string): string {
  return text.replace(/[\s"'\\]+/g, '');
}

function shortened(key: string): string {
  // The first 44 characters of every RSA key of one size are the same.
  const text = bare(key);
  return text.length > 60 ? `${text.slice(0, 8)}…${text.slice(44, 56)}…` : text;
}
