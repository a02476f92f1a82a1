// The difference between an expected record and a published one, in words for the person who entered it: mistakes that
// DNS providers' forms invite. A pure function of the check; the check itself says what to do.
import { countPieces, parseTagList } from '../protocol/dns/published/dkim-record.ts';
import type { DomainCheck } from '../store/domains.ts';
import { TXT_STRING_MAX_OCTETS } from './txt-strings.ts';

/** One sentence for each difference; none when there is nothing to add to the check's own message. */
export function differences({ record, ok, expected, found }: DomainCheck): string[] {
  if (ok || found.length === 0) return [];
  const key = record === 'dkim' ? parseTagList(expected)?.get('p') : undefined;
  if (key !== undefined && countPieces(found, key) > 0) return [];
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
  const problems = inQuotes(text);
  if (given.length < wanted.length && wanted.startsWith(given)) {
    const share = `${given.length} of ${wanted.length} characters are present`;
    const cause =
      text.length <= TXT_STRING_MAX_OCTETS
        ? ' Many DNS forms keep only the first 255: enter the value as several quoted strings.'
        : '';
    return [...problems, `The value is truncated: ${share}.${cause}`];
  }
  if (given.length > wanted.length && given.startsWith(wanted)) {
    return [...problems, `There is extra text after the value: ${given.slice(wanted.length, wanted.length + 40)}`];
  }
  const [own, theirs] = [parseTagList(expected)?.get('p'), parseTagList(text)?.get('p')];
  if (own !== undefined && theirs && bare(own) !== bare(theirs)) {
    return [
      ...problems,
      `The key begins with ${shortened(theirs)} and should begin with ${shortened(own)}: it may be an older one, or another service's.`,
    ];
  }
  return problems;
}

function inQuotes(text: string): string[] {
  if (/^[“”„]|[“”„]$/.test(text.trim()))
    return ['The value has typographic quotation marks around it. Enter it without any.'];
  if (/^\s*["'\\]/.test(text))
    return ['The value contains quotation marks that belong around it. Enter it without any.'];
  return /&(?:quot|amp|#\d+);/.test(text) ? ['The value contains HTML (like &quot;). Copy it again.'] : [];
}

/** Without space and quotes, which forms add and remove. */
function bare(text: string): string {
  return text.replace(/[\s"'\\]+/g, '');
}

function shortened(key: string): string {
  // The first 44 characters are the same for all RSA keys of one size.
  const text = bare(key);
  return text.length > 60 ? `${text.slice(0, 8)}…${text.slice(44, 56)}…` : text;
}
