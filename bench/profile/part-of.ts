// Which part a sample belongs to: that of the nearest function, from the one that ran up to the first caller, whose
// source has a part of its own. Native code, such as SQLite or OpenSSL, so counts for the function that called it.
import { CALLER, OWNERS, type Owner, type Part } from './parts.ts';
import type { Frame } from './samples.ts';

export type Role = 'main' | 'writer' | 'courier' | 'other';

/** Files of Node that only sockets need. */
const SOCKETS = /^node:(?:net$|_tls|internal\/(?:streams?\/|stream_base_commons$|js_stream))/;

export function partOf(frames: readonly Frame[], role: Role): Part {
  for (const frame of frames) {
    const owner = ownerOf(frame);
    if (owner !== undefined && owner !== CALLER) return owner;
  }
  // Nothing of ours was at work: Node itself.
  if (frames.some(({ file }) => SOCKETS.test(file))) return role === 'courier' ? 'SMTP' : 'HTTP';
  return 'event loop';
}

/** By the most exact entry of the table. */
export function ownerOf({ file, name }: Frame): Owner | undefined {
  const exact = OWNERS[`${file} ${name}`] ?? OWNERS[file];
  if (exact !== undefined) return exact;
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
    const owner = OWNERS[file.slice(0, end + 1)];
    if (owner !== undefined) return owner;
  }
  return undefined;
}
