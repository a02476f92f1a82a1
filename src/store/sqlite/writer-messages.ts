// What the main thread and the writer's thread say to each other. What has values in it goes as bytes:
// V8's own form keeps buffers what they are, which a message by itself does not.
import { deserialize, serialize } from 'node:v8';
import { Fault } from '../../base/errors.ts';
import type { CheckpointLimits } from './checkpoint-plan.ts';
import type { GroupStats } from './writing-connection.ts';

export interface WriterTask {
  file: string;
  checkpointLimits: CheckpointLimits;
}

export type WriterOrder = { kind: 'calls'; bytes: Uint8Array } | { kind: 'watch_deliveries' } | { kind: 'close' };

/** Number, verb, arguments. */
export type Call = [number, string, unknown[]];

export type WriterReport =
  | { kind: 'opened' }
  | { kind: 'not_opened'; bytes: Uint8Array }
  | { kind: 'news'; bytes: Uint8Array }
  | { kind: 'due'; webhookIds: string[] };

export interface WriterNews {
  answers: Answer[];
  /** What is recalled may have changed. */
  forget: boolean;
  groups: GroupStats[];
  faults: { of: 'commit' | 'checkpoint'; fault: SentFault }[];
}

/** Number, whether it went well, and its value or what went wrong. */
export type Answer = [number, true, unknown] | [number, false, SentFault];

export interface SentFault {
  message: string;
  permanence: 'temporary' | 'permanent';
  detail: string | null;
  cause: Error | null;
}

export function toBytes(said: Call[] | WriterNews | SentFault): Uint8Array {
  return serialize(said);
}

export function callsFrom(bytes: Uint8Array): Call[] {
  return deserialize(bytes) as Call[];
}

export function newsFrom(bytes: Uint8Array): WriterNews {
  return deserialize(bytes) as WriterNews;
}

export function faultFrom(bytes: Uint8Array): Fault {
  return faultOf(deserialize(bytes) as SentFault);
}

/** An error loses its class on the way, and a fault what it carries besides. */
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
