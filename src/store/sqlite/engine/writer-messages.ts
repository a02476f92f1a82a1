// Messages between the main thread and the writer thread. As objects, not as bytes from `v8.serialize`: its
// serializers keep all that they have written or read until the next major collection.
import { Fault } from '../../../base/errors.ts';
import type { GroupStats } from '../../verb-kinds.ts';
import type { CheckpointLimits } from './checkpoint-plan.ts';

export interface WriterTask {
  file: string;
  checkpointLimits: CheckpointLimits;
}

export type WriterOrder = { kind: 'calls'; calls: VerbCall[] } | { kind: 'close' };

/** Number, verb, arguments. */
export type VerbCall = [number, string, unknown[]];

export type WriterReport =
  | { kind: 'opened' }
  | { kind: 'not_opened'; fault: SentFault }
  | { kind: 'batch'; batch: WriterBatch };

export interface WriterBatch {
  answers: Answer[];
  /** Cached rows may have changed. */
  forget: boolean;
  /** They have deliveries due. */
  webhooksDue: string[];
  groups: GroupStats[];
  faults: { of: 'commit' | 'checkpoint'; fault: SentFault }[];
}

/** Number, whether it succeeded, and its value or its error. */
export type Answer = [number, true, unknown] | [number, false, SentFault];

export interface SentFault {
  message: string;
  permanence: 'temporary' | 'permanent';
  detail: string | null;
  cause: Error | null;
}

/** Restores buffers within a value from a message, in place: they arrive as Uint8Arrays, at any depth. */
export function withBuffers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = withBuffers(value[at]);
  } else if (value instanceof Map) {
    for (const [key, held] of value) value.set(key, withBuffers(held));
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    const fields = value as Record<string, unknown>;
    for (const name in fields) {
      const held = fields[name];
      if (typeof held === 'object' && held !== null) fields[name] = withBuffers(held);
    }
  }
  return value;
}

/** An error loses its class in a message, and a fault its extra fields. */
export function sendable(error: unknown): SentFault {
  const cause = (of: unknown) => (of instanceof Error ? of : null);
  if (!(error instanceof Fault)) {
    return { message: String(error), permanence: 'temporary', detail: null, cause: cause(error) };
  }
  const { message, permanence, detail } = error;
  return { message, permanence, detail, cause: cause(error.cause) };
}

export function faultOf({ message, permanence, detail, cause }: SentFault): Fault {
  return new Fault(message, { permanence, ...(detail !== null && { detail }), ...(cause && { cause }) });
}
