// The XML in what DMARC reports come packed in: gzip (RFC 1952) or a zip archive with one file, told
// apart by their first octets, since names and types lie. What it unpacks to is bounded. The work
// is done off the main thread by zlib.
import { promisify } from 'node:util';
import { gunzip, inflateRaw } from 'node:zlib';

export type Unpacked = { kind: 'content'; content: Buffer } | { kind: 'refused'; reason: string };

const gunzipBounded = promisify(gunzip) as (octets: Buffer, options: object) => Promise<Buffer>;
const inflateBounded = promisify(inflateRaw) as (octets: Buffer, options: object) => Promise<Buffer>;

/** Null when it is nothing of the kind. */
export async function unpack(octets: Buffer, maxOctets: number): Promise<Unpacked | null> {
  if (octets.length < 4) return null;
  try {
    if (octets[0] === 0x1f && octets[1] === 0x8b) {
      return content(await gunzipBounded(octets, { maxOutputLength: maxOctets }), maxOctets);
    }
    if (octets.readUInt32LE(0) === LOCAL_FILE) return await unzip(octets, maxOctets);
    return /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|feedback|\w+:feedback)/.test(octets.toString('latin1', 0, 200))
      ? content(octets, maxOctets)
      : null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxOctets);
    return { kind: 'refused', reason: 'it cannot be unpacked' };
  }
}

const LOCAL_FILE = 0x04034b50;
const CENTRAL_ENTRY = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const END_OCTETS = 22;
const MAX_COMMENT_OCTETS = 65_535;
const [STORED, DEFLATED] = [0, 8];

/** APPNOTE.TXT sections 4.3.12 and 4.3.16: the directory at the end is what counts. */
async function unzip(octets: Buffer, maxOctets: number): Promise<Unpacked> {
  const end = endOfDirectory(octets);
  if (end < 0) return { kind: 'refused', reason: 'the zip archive has no directory' };
  const entries = octets.readUInt16LE(end + 10);
  if (entries !== 1) return { kind: 'refused', reason: `the zip archive has ${entries} files, and not one` };
  const entry = octets.readUInt32LE(end + 16);
  if (octets.readUInt32LE(entry) !== CENTRAL_ENTRY) return { kind: 'refused', reason: 'the zip archive is damaged' };
  const isEncrypted = (octets.readUInt16LE(entry + 8) & 1) === 1;
  if (isEncrypted) return { kind: 'refused', reason: 'the zip archive is encrypted' };
  const method = octets.readUInt16LE(entry + 10);
  const packedOctets = octets.readUInt32LE(entry + 20);
  const local = octets.readUInt32LE(entry + 42);
  const start = local + 30 + octets.readUInt16LE(local + 26) + octets.readUInt16LE(local + 28);
  const packed = octets.subarray(start, start + packedOctets);
  if (method === STORED) return content(packed, maxOctets);
  if (method !== DEFLATED) return { kind: 'refused', reason: `the zip archive is packed by method ${method}` };
  return content(await inflateBounded(packed, { maxOutputLength: maxOctets }), maxOctets);
}

function endOfDirectory(octets: Buffer): number {
  const first = Math.max(0, octets.length - END_OCTETS - MAX_COMMENT_OCTETS);
  for (let at = octets.length - END_OCTETS; at >= first; at--) {
    if (octets.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  return -1;
}

function content(octets: Buffer, maxOctets: number): Unpacked {
  return octets.length > maxOctets ? tooLarge(maxOctets) : { kind: 'content', content: octets };
}

function tooLarge(maxOctets: number): Unpacked {
  return { kind: 'refused', reason: `it unpacks to more than ${maxOctets / (1024 * 1024)} MiB` };
}
