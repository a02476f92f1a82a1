// DNS messages as bytes (RFC 1035 section 4, RFC 6891): encodes a query, decodes a response into plain records. Only
// record types that Postrider uses are kept; DNSSEC is left out on purpose.
import { decode, encode, RECURSION_DESIRED } from 'dns-packet';

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'PTR' | 'SOA' | 'TXT';

export interface MxRecord {
  /** Lower case without a final dot; empty for a null MX (RFC 7505). */
  exchange: string;
  preference: number;
}

/** Names are lower case without a final dot; the strings of a TXT record are joined (RFC 7208 section 3.3). */
export type DnsRecord = { name: string; ttlS: number } & (
  | { type: 'A' | 'AAAA' | 'CNAME' | 'NS' | 'PTR' | 'SOA' | 'TXT'; value: string }
  | { type: 'MX'; value: MxRecord }
);

export interface DnsAnswer {
  rcode: number;
  /** The server is authoritative for the zone. */
  aa: boolean;
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

export interface DnsQuery {
  id: number;
  name: string;
  type: RecordType;
  recursive: boolean;
  edns: boolean;
}

export type DnsReply =
  | { kind: 'answer'; answer: DnsAnswer }
  | { kind: 'truncated' }
  | { kind: 'malformed'; reason: string }
  /** Not a response to this query: a late, forged or misdirected datagram. */
  | { kind: 'unrelated' };

export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const;

/** Fits into one unfragmented packet on nearly every path (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232;
const HEADER_BYTES = 12;
const RESPONSE_BIT = 0x80;
const TRUNCATED_BIT = 0x02;

type DecodedPacket = ReturnType<typeof decode>;
type WireRecord = NonNullable<DecodedPacket['answers']>[number];

export function rcodeName(rcode: number): string {
  return Object.entries(RCODE).find(([, code]) => code === rcode)?.[0] ?? `RCODE ${rcode}`;
}

export function normalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** RFC 1035 section 2.3.4: labels of 1 to 63 octets, 253 characters in all. Names are expected as A-labels. */
export function isDnsName(name: string): boolean {
  if (!/^[\x21-\x7e]{1,253}$/.test(name)) return false;
  return name.split('.').every((label) => label.length >= 1 && label.length <= 63);
}

/** The root zone, as `normalName` writes it. */
export const ROOT = '';

/** Of the root, only its name servers are ever queried. */
export function isAskable(name: string, type: RecordType): boolean {
  return isDnsName(name) || (name === ROOT && type === 'NS');
}

export function isWithin(name: string, zone: string): boolean {
  return zone === ROOT || name === zone || name.endsWith(`.${zone}`);
}

export function encodeQuery(query: DnsQuery): Buffer {
  const edns = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: UDP_PAYLOAD_BYTES,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  } as const;
  return encode({
    type: 'query',
    id: query.id,
    flags: query.recursive ? RECURSION_DESIRED : 0,
    questions: [{ type: query.type, name: query.name, class: 'IN' }],
    additionals: query.edns ? [{ ...edns, options: [] }] : [],
  });
}

export function decodeReply(bytes: Buffer, query: DnsQuery): DnsReply {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== query.id) return { kind: 'unrelated' };
  if (!(bytes[2]! & RESPONSE_BIT)) return { kind: 'unrelated' };
  // Before decoding: some servers truncate in the middle of a record.
  if (bytes[2]! & TRUNCATED_BIT) return { kind: 'truncated' };
  let packet: DecodedPacket;
  try {
    packet = decode(bytes);
  } catch (thrown) {
    return { kind: 'malformed', reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  // The decoder reads a TXT record past the end of the message without an error, and ignores the length of other
  // records: after a wrong length it would read from the wrong offset.
  const end = endOfRecords(bytes);
  if (end > bytes.length) return { kind: 'malformed', reason: 'the message ends within a record' };
  if (end !== decode.bytes) return { kind: 'malformed', reason: 'a record is not as long as it says' };
  if (!repeatsQuestion(packet, query)) return { kind: 'unrelated' };
  return {
    kind: 'answer',
    answer: {
      rcode: fullRcode(packet),
      aa: packet.flag_aa,
      answers: readRecords(packet.answers),
      authorities: readRecords(packet.authorities),
      additionals: readRecords(packet.additionals),
    },
  };
}

/** By their lengths alone (RFC 1035 section 4.1.3); beyond the message if one does not fit. */
function endOfRecords(bytes: Buffer): number {
  const [questions = 0, ...sections] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at));
  const records = sections.reduce((sum, count) => sum + count, 0);
  let at = HEADER_BYTES;
  for (let question = 0; question < questions; question++) at = endOfName(bytes, at) + 4;
  for (let record = 0; record < records; record++) {
    const lengthAt = endOfName(bytes, at) + 8;
    if (lengthAt + 2 > bytes.length) return Number.POSITIVE_INFINITY;
    at = lengthAt + 2 + bytes.readUInt16BE(lengthAt);
  }
  return at;
}

/** RFC 1035 section 4.1.4: a pointer ends a name. */
function endOfName(bytes: Buffer, start: number): number {
  let at = start;
  for (let octet = bytes[at] ?? 0; octet > 0; octet = bytes[at] ?? 0) {
    if (octet >= 0xc0) return at + 2;
    at += 1 + octet;
  }
  return at + 1;
}

function repeatsQuestion(packet: DecodedPacket, query: DnsQuery): boolean {
  const questions = packet.questions ?? [];
  // A server that could not parse the query cannot repeat the question.
  if (questions.length === 0) return fullRcode(packet) === RCODE.FORMERR;
  const [question] = questions;
  return questions.length === 1 && question!.type === query.type && normalName(question!.name) === query.name;
}

/** RFC 6891 section 6.1.3: the OPT record has the upper eight bits of the code. */
function fullRcode(packet: DecodedPacket): number {
  const low = (packet.flags ?? 0) & 0xf;
  const opt = packet.additionals?.find((record) => record.type === 'OPT');
  return opt?.type === 'OPT' ? (opt.extendedRcode << 4) | low : low;
}

function readRecords(section: WireRecord[] | undefined): DnsRecord[] {
  return (section ?? []).flatMap((record) => readRecord(record) ?? []);
}

function readRecord(record: WireRecord): DnsRecord | null {
  if (record.type === 'OPT' || record.class !== 'IN') return null;
  const owner = { name: normalName(record.name), ttlS: record.ttl ?? 0 };
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return { ...owner, type: record.type, value: record.data };
    case 'PTR':
      // It is shown to people as it is, so it must be a valid name.
      return isDnsName(normalName(record.data)) ? { ...owner, type: 'PTR', value: normalName(record.data) } : null;
    case 'CNAME':
    case 'NS':
      return { ...owner, type: record.type, value: normalName(record.data) };
    case 'SOA':
      return { ...owner, type: 'SOA', value: normalName(record.data.mname) };
    case 'TXT':
      return { ...owner, type: 'TXT', value: joinStrings(record.data) };
    case 'MX': {
      const { exchange, preference } = record.data;
      return { ...owner, type: 'MX', value: { exchange: normalName(exchange), preference: preference ?? 0 } };
    }
    default:
      return null;
  }
}

function joinStrings(data: string | Buffer | (string | Buffer)[]): string {
  const parts = Array.isArray(data) ? data : [data];
  // Joined as bytes: a multi-byte character may be split between two strings.
  return Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString('utf8');
}
