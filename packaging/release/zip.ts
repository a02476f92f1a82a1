// Writes zip files (PKWARE's APPNOTE 6.3) whose bytes depend on names, contents and one time only: zip, jar and
// composer write the time of each file, its mode, and the order in which the file system lists it. No folders, no
// zip64: a package of a client library has some hundred small files.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  content: Buffer;
}

const VERSION_NEEDED = 20;
/** Made by a Unix, so that the upper half of the external attributes is a mode. */
const MADE_BY_UNIX = (3 << 8) | VERSION_NEEDED;
const NAMES_ARE_UTF8 = 0x0800;
const DEFLATED = 8;
const PLAIN_FILE_MODE = 0o100644;
const MAX_ENTRIES = 0xffff;

/** MS-DOS's date and time, here in UTC: years from 1980, steps of two seconds. */
function dosTime(epoch: number): { date: number; time: number } {
  const at = new Date(epoch * 1000);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return { date, time };
}

/** The fields that a local header (section 4.3.7) and its copy in the central directory (4.3.12) share. */
function commonFields(entry: ZipEntry, packed: Buffer, epoch: number): Buffer {
  const { date, time } = dosTime(epoch);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION_NEEDED, 0);
  fields.writeUInt16LE(NAMES_ARE_UTF8, 2);
  fields.writeUInt16LE(DEFLATED, 4);
  fields.writeUInt16LE(time, 6);
  fields.writeUInt16LE(date, 8);
  fields.writeUInt32LE(crc32(entry.content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(entry.content.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(entry.name), 22);
  return fields;
}

function directoryEntry(common: Buffer, name: string, offset: number): Buffer {
  const start = Buffer.alloc(6);
  start.write('PK\x01\x02', 'latin1');
  start.writeUInt16LE(MADE_BY_UNIX, 4);
  const end = Buffer.alloc(14);
  end.writeUInt32LE(PLAIN_FILE_MODE * 2 ** 16, 6);
  end.writeUInt32LE(offset, 10);
  return Buffer.concat([start, common, end, Buffer.from(name)]);
}

/** In the given order; `epoch` is in seconds since 1970. */
export function zip(entries: readonly ZipEntry[], epoch: number): Buffer {
  if (entries.length > MAX_ENTRIES) throw new Error(`${entries.length} files are too many for a zip file`);
  const chunks: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const packed = deflateRawSync(entry.content, { level: 9 });
    const common = commonFields(entry, packed, epoch);
    directory.push(directoryEntry(common, entry.name, offset));
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(entry.name), packed]);
    chunks.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...chunks, ...directory, end]);
}
