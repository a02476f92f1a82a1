// The file in a packed report: gzip (RFC 1952) or a zip archive with one file, recognized by their first bytes, since
// names and types are often wrong. The unpacked size is limited. zlib works off the main thread.
import { promisify } from 'node:util';
import { crc32, gunzip, type InflateRaw, inflateRaw } from 'node:zlib';

export type Unpacked = { kind: 'content'; content: Buffer } | { kind: 'refused'; reason: string };

const gunzipBounded = promisify(gunzip) as (octets: Buffer, options: object) => Promise<Buffer>;
const inflateBounded = promisify(inflateRaw) as (octets: Buffer, options: object) => Promise<Buffer>;

const inflateWithEngine = promisify(inflateRaw) as unknown as (
  octets: Buffer,
  options: object,
) => Promise<{ buffer: Buffer; engine: InflateRaw }>;

/** By its first bytes. */
export function isPacked(start: Buffer): boolean {
  return start.length >= 4 && (isGzip(start) || start.readUInt32LE(0) === LOCAL_FILE);
}

function isGzip(octets: Buffer): boolean {
  return octets[0] === 0x1f && octets[1] === 0x8b;
}

/** Null when it is not packed. */
export async function unpack(octets: Buffer, maxOctets: number): Promise<Unpacked | null> {
  if (!isPacked(octets)) return null;
  try {
    return await (isGzip(octets) ? ungzip : unzip)(octets, maxOctets);
  } catch (error) {
    return refusalFor(error, maxOctets);
  }
}

function refusalFor(error: unknown, maxOctets: number): Unpacked {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxOctets);
  if (code === 'Z_BUF_ERROR') return { kind: 'refused', reason: 'its compressed data ends in the middle' };
  if (code === 'Z_DATA_ERROR') return { kind: 'refused', reason: 'its compressed data is damaged' };
  if (error instanceof RangeError) return { kind: 'refused', reason: 'the zip archive is damaged' };
  return { kind: 'refused', reason: `it cannot be unpacked (${code || 'unknown error'})` };
}

/** Some gateways append bytes to the gzip data (Mimecast, seen in 2026): the data itself marks its end. */
async function ungzip(octets: Buffer, maxOctets: number): Promise<Unpacked> {
  try {
    return content(await gunzipBounded(octets, { maxOutputLength: maxOctets }), maxOctets);
  } catch (error) {
    const first = await firstMember(octets, maxOctets).catch(() => null);
    if (first === null) throw error;
    return content(first, maxOctets);
  }
}

const TRAILER_BYTES = 8;

/** RFC 1952 section 2.3: the first member, if its checksum and length are right; otherwise null. */
async function firstMember(octets: Buffer, maxOctets: number): Promise<Buffer | null> {
  const start = behindGzipHeader(octets);
  const { buffer, engine } = await inflateWithEngine(octets.subarray(start), {
    maxOutputLength: maxOctets,
    info: true,
  });
  const end = start + engine.bytesWritten;
  if (octets.length < end + TRAILER_BYTES) return null;
  const isWhole = octets.readUInt32LE(end) === crc32(buffer) && octets.readUInt32LE(end + 4) === buffer.length;
  return isWhole ? buffer : null;
}

const [HAS_CRC, HAS_EXTRA, HAS_NAME, HAS_COMMENT] = [2, 4, 8, 16];

function behindGzipHeader(octets: Buffer): number {
  const flags = octets.readUInt8(3);
  let at = 10;
  if (flags & HAS_EXTRA) at += 2 + octets.readUInt16LE(at);
  for (const flag of [HAS_NAME, HAS_COMMENT]) if (flags & flag) at = octets.indexOf(0, at) + 1 || octets.length;
  return flags & HAS_CRC ? at + 2 : at;
}

const LOCAL_FILE = 0x04034b50;
const CENTRAL_ENTRY = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const [STORED, DEFLATED] = [0, 8];

/** APPNOTE.TXT sections 4.3.12 and 4.3.16: the directory at the end is authoritative. */
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
  const first = Math.max(0, octets.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = octets.length - END_BYTES; at >= first; at--) {
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
