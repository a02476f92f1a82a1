// What the main thread and a thread that reads large bodies say to each other: bytes go there and
// are gone here; what comes back has passed every check that needs no more than the body.

import { SECOND_MS } from '../../base/clock.ts';
import type { Refusal } from '../../base/refusals.ts';
import type { JsonObject } from '../json-body.ts';

const SHAPE_NAMES = [
  'send-email',
  'send-batch',
  'add-suppression',
  'import-suppressions',
  'register-domain',
  'register-webhook',
  'template',
  'change-webhook',
  'move-submission',
  'resend-email',
  'resend-batch',
  'resend-update',
] as const;
/** A file in schema/api or schema/resend without its ending. */
export type ShapeName = (typeof SHAPE_NAMES)[number];

export interface BodyJob {
  bytes: Uint8Array;
  shape: ShapeName;
}

export type BodyResult =
  | {
      kind: 'read';
      /** Free of nulls. */
      body: JsonObject;
      /** What the body has as JsonTexts, taken out of it. */
      texts: (string | null)[];
    }
  | { kind: 'refused'; refusal: Refusal };

export interface BodyLimits {
  /** After it the thread is killed. The most laborious 5 MiB take a fifth of a second on an idle machine. */
  jobMs: number;
  /** Heap of one thread. */
  memoryMb: number;
  threads: number;
  /** How long a body waits for its turn. */
  waitMs: number;
  /** Of the bodies of one tenant that wait. */
  bytesPerTenant: number;
}

export const BODY_LIMITS: BodyLimits = {
  jobMs: 4 * SECOND_MS,
  memoryMb: 192,
  threads: 2,
  // Below the 11 s after which the HTTP engine gives up on clients that are slow to read.
  waitMs: 6 * SECOND_MS,
  bytesPerTenant: 32 * 1024 * 1024,
};
