// What the DNS of the sandbox says: every domain's mail goes to the capture server, and domains
// under verified.test publish what their owners were asked to publish (RFC 1034, RFC 2308 for
// the answers without data). Nothing else exists, so nothing here leads out of the machine.
import type { Answer } from 'dns-packet';
import { isWithin, normalName, RCODE } from '../protocol/dns/lookup/wire.ts';

/** The name that all MX records point to, which the capture server goes by. */
export const CAPTURE_HOST = 'mx.capture.test';
/** Domains of this name and under it verify. */
export const VERIFIED_ZONE = 'verified.test';

export interface SandboxZone {
  /** Besides VERIFIED_ZONE: the service's own domains. */
  zones: readonly string[];
  /** The TXT records of a name within the zones; null or empty when there are none. */
  expectedTxt(name: string): Promise<readonly string[] | null>;
}

export interface ZoneAnswer {
  rcode: number;
  /** Whether the sandbox speaks for the name, rather than as a resolver. */
  aa: boolean;
  answers: Answer[];
  authorities: Answer[];
}

const NAME_SERVER = 'ns.capture.test';
const OWN_ADDRESS = '127.0.0.1';
// Short: what a tenant registers a moment later must be seen.
const TTL_S = 5;
const TXT_STRING_OCTETS = 255;

export async function answerQuestion(question: { name: string; type: string }, zone: SandboxZone): Promise<ZoneAnswer> {
  const name = normalName(question.name);
  const apex = [VERIFIED_ZONE, ...zone.zones].find((candidate) => isWithin(name, candidate));
  const answers = await recordsOf({ name, type: question.type }, apex, zone);
  const aa = apex !== undefined;
  if (answers.length > 0) return { rcode: RCODE.NOERROR, aa, answers, authorities: [] };
  const rcode = canReceiveMail(name) ? RCODE.NOERROR : RCODE.NXDOMAIN;
  return { rcode, aa, answers, authorities: [startOfAuthority(apex ?? topDomain(name))] };
}

async function recordsOf(
  question: { name: string; type: string },
  apex: string | undefined,
  zone: SandboxZone,
): Promise<Answer[]> {
  const { name, type } = question;
  switch (type) {
    case 'MX': {
      const data = { preference: 10, exchange: CAPTURE_HOST };
      return canReceiveMail(name) ? [{ name, type, ttl: TTL_S, data }] : [];
    }
    case 'A':
      return isOwnHost(name) ? [{ name, type, ttl: TTL_S, data: OWN_ADDRESS }] : [];
    case 'NS':
      return name === apex ? [{ name, type, ttl: TTL_S, data: NAME_SERVER }] : [];
    case 'TXT': {
      const texts = apex === undefined ? null : await zone.expectedTxt(name);
      return (texts ?? []).map((text) => ({ name, type, ttl: TTL_S, data: splitText(text) }));
    }
    default:
      return [];
  }
}

/** Any domain does; names for records about a domain, and for addresses, are none. */
function canReceiveMail(name: string): boolean {
  const isSpecial = name === '' || isWithin(name, 'arpa');
  return !isSpecial && !name.split('.').some((label) => label.startsWith('_'));
}

/** RFC 6761 section 6.3: localhost is always the machine itself. */
function isOwnHost(name: string): boolean {
  return name === CAPTURE_HOST || name === NAME_SERVER || isWithin(name, 'localhost');
}

/** RFC 1035 section 3.3.14: one record, in strings of at most 255 octets. */
function splitText(text: string): Buffer[] {
  const octets = Buffer.from(text);
  const count = Math.max(1, Math.ceil(octets.length / TXT_STRING_OCTETS));
  return Array.from({ length: count }, (_, index) =>
    octets.subarray(index * TXT_STRING_OCTETS, (index + 1) * TXT_STRING_OCTETS),
  );
}

function topDomain(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1) || '.';
}

function startOfAuthority(name: string): Answer {
  const data = { mname: NAME_SERVER, rname: 'hostmaster.capture.test', serial: 1, refresh: 3600, retry: 600 };
  return { name, type: 'SOA', ttl: TTL_S, data: { ...data, expire: 86_400, minimum: TTL_S } };
}
