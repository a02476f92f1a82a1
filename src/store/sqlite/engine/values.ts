// Between JavaScript values and columns: ids are bytes, booleans are 0 and 1, lists are JSON.
import { bytesToUuid, uuidToBytes } from '../../../base/ids.ts';

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

export type Row = Record<string, unknown>;
