// Exchanges the names in a mail: what its writers called their hosts and mailboxes becomes something that
// sounds like a reason (`relay`, `unknown-user`, `full@`). No verdict may change with it. Names are taken
// from where a name must be (addresses, fields of MTAs, `host … said`), then exchanged in the whole mail.

/** What hosts and mailboxes are called instead; a number makes each of them different. */
export const NAMES = [
  'relay',
  'unknown-user',
  'greylist',
  'full',
  'spam.blocked',
  'delayed.autoreply',
  'no-such-domain.does-not-exist',
  'support.contact',
] as const;

/** Top-level domains, as servers write them: of generic and country domains, some like a type of file or a word. */
export const SUFFIXES = [
  'test',
  'cf',
  'Com',
  'de',
  'CO.UK',
  'info',
  'sh',
  'Cf',
  'pl',
  'zip',
  'xn--p1ai',
  'IT',
] as const;

export interface Exchanged {
  octets: Buffer;
  /** The new name of an address, in lower case. */
  of(address: string): string;
}

const HOST = String.raw`[A-Za-z0-9_](?:[\w-]{0,62}\.)+[A-Za-z]{2,24}`;
const ADDRESS = new RegExp(String.raw`([A-Za-z0-9!#$&*+/?^_.~-]{1,64})@(${HOST})(?![\w-])`, 'g');
/** Where the name of a host must be. */
const HOSTS = [
  new RegExp(String.raw`^(?:reporting|remote|received-from|arrival)-mta\s*:\s*(?:\w+\s*;)?\s*(${HOST})`, 'gim'),
  new RegExp(String.raw`\b(?:from|by|host|at|server|to|helo|ehlo)[ =]\s?<?(${HOST})(?=[\s\[(>):,;]|\.\s|$)`, 'gim'),
  new RegExp(String.raw`(?<![\w.@-])(${HOST})\s?\[(?:\d{1,3}\.){3}\d{1,3}\]`, 'g'),
  new RegExp(String.raw`(?<![\w.@-])(${HOST})\s?\((?:[\w.-]+ )?\[?(?:\d{1,3}\.){3}\d{1,3}\]?\)`, 'g'),
  new RegExp(String.raw`\bhttps?://(${HOST})(?=[/:?\s]|$)`, 'gi'),
];
const ANY_HOST = new RegExp(String.raw`(?<![\w.@-])${HOST}(?![\w-]|\.\w)`, 'g');
/** What a program or an office is called says what it is, and is not a name that somebody chose. */
const OFFICE =
  /daemon|post_?master|bounce|owner|request|(?:un)?subscribe|admin|help|majordomo|listserv|sympa|mailman|lyris|virus|scan|filter|system|complaint|abuse|no-?reply|imss?$|^mailer$|^uucp$|feedback|fbl|staff|scomp|arf|exchange[\da-f]{8}|^b?mta-|^(?:join|leave)-/i;

export function exchangeNames(octets: Buffer, name: (typeof NAMES)[number], suffix: string): Exchanged {
  const { text, code } = withoutCoding(octets.toString('latin1'));
  const kept = new Set([...text.matchAll(/boundary\s*=\s*"?([^";\s]+)/gi)].map((match) => match[1]!));
  const addresses = [...text.matchAll(ADDRESS)];
  const offices = addresses.map((match) => match[1]!.toLowerCase()).filter((one) => OFFICE.test(one));
  const hosts = numbered([
    ...addresses.map((match) => match[2]!),
    ...HOSTS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!)),
  ]);
  // `talk@` and `talk-owner@` are one name.
  const hasOffice = (mailbox: string) =>
    OFFICE.test(mailbox) || offices.some((office) => office.startsWith(`${mailbox.toLowerCase()}-`));
  const mailboxes = numbered(addresses.map((match) => match[1]!).filter((one) => !hasOffice(one)));
  const newHost = (host: string) => {
    const number = hosts.get(host.toLowerCase());
    return number === undefined ? host : `${name}.h${number}.exchanged.${suffix}`;
  };
  const newAddress = (_: string, mailbox: string, host: string) => {
    const number = mailboxes.get(mailbox.toLowerCase());
    return `${number === undefined ? mailbox : `${name}.m${number}`}@${newHost(host)}`;
  };
  const exchanged = text
    .split('\n')
    .map((line) => {
      if ([...kept].some((boundary) => line.includes(boundary))) return line;
      return line.replace(ADDRESS, newAddress).replace(ANY_HOST, newHost);
    })
    .join('\n');
  return {
    octets: Buffer.from(code(exchanged), 'latin1'),
    of: (address) => address.toLowerCase().replace(ADDRESS, newAddress),
  };
}

const BARE = [
  new RegExp(String.raw`^((?:reporting|remote|received-from)-mta\s*:\s*(?:\w+\s*;)?\s*)(${HOST})`, 'gim'),
  new RegExp(String.raw`(\bat host )(${HOST})(?=[\s.,])`, 'gi'),
  new RegExp(String.raw`(\bhost )(${HOST})(?= ?\[[\d.]+\])`, 'gi'),
];

/** The same for the hosts that report and refuse alone, by names without a dot, where nothing but a name can be. */
export function exchangeHosts(octets: Buffer, name: string): Buffer {
  const exchange = (text: string, pattern: RegExp) => text.replace(pattern, (_, before: string) => before + name);
  return Buffer.from(BARE.reduce(exchange, octets.toString('latin1')), 'latin1');
}

function numbered(names: readonly string[]): Map<string, number> {
  return new Map([...new Set(names.map((name) => name.toLowerCase()))].map((name, number) => [name, number]));
}

const BASE64_PART =
  /(^content-transfer-encoding:[ \t]*base64[^\n]*\n(?:[!-9;-~]+:[^\n]*\n|[ \t][^\n]*\n)*\r?\n)([A-Za-z0-9+/=\r\n]+)/gim;
const MARK = '\u0000base64 ';

/** Base64 in plain, and lines of quoted-printable joined, so that names are whole. `code` puts base64 back. */
function withoutCoding(mail: string): { text: string; code(text: string): string } {
  const isQuoted = /^content-transfer-encoding:[ \t]*quoted-printable/im.test(mail);
  const joined = isQuoted ? mail.replace(/^((?!--).*)(?<!\?)=\r?\n/gm, '$1') : mail;
  const text = joined.replace(BASE64_PART, (_, header: string, body: string) => {
    return `${header}${MARK}${Buffer.from(body, 'base64').toString('latin1')}${MARK}\n`;
  });
  const parts = new RegExp(`${MARK}([^]*?)${MARK}`, 'g');
  return {
    text,
    code: (plain) => plain.replace(parts, (_, part: string) => Buffer.from(part, 'latin1').toString('base64')),
  };
}
