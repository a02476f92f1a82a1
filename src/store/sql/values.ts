// Between JavaScript values and columns: IDs are bytes, booleans are 0 and 1, lists are JSON.
import { bytesToUuid, uuidToBytes } from '../../base/ids.ts';

export const toId = uuidToBytes;

export function fromId(bytes: unknown): string {
  return bytesToUuid(bytes as Uint8Array);
}

export function fromOptionalId(bytes: unknown): string | null {
  return bytes === null ? null : fromId(bytes);
}

export function toFlag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

/** Null: not given. */
export function toOptionalFlag(value: boolean | undefined): 0 | 1 | null {
  return value === undefined ? null : toFlag(value);
}

export type Row = Record<string, unknown>;

// Ranges of IDs: they are UUIDv7 (base/ids.ts), so a range of time is a range of IDs.

/** Of `LIMIT`: some databases know no other word for it. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export const BEFORE_ALL_IDS = Buffer.alloc(16, 0);
export const BEHIND_ALL_IDS = Buffer.alloc(16, 0xff);

const LAST_ID_TIME_MS = 2 ** 48 - 1;

/** Sorts before all IDs from that time on, and after all earlier ones. */
export function idAt(ms: number): Buffer {
  const id = Buffer.alloc(16);
  id.writeUIntBE(Math.min(Math.max(0, Math.floor(ms)), LAST_ID_TIME_MS), 0, 6);
  return id;
}
