// What an endpoint of the API is: data that the pipeline reads, and one function that answers.
// A new group of endpoints is one more file that returns a list of these.
import type { Refusal } from '../base/refusals.ts';
import type { PathParams } from '../http/router.ts';
import type { NewAuditEntry } from '../store/audit.ts';
import type { Scope } from '../store/tenants.ts';
import type { Answer } from './answer.ts';
import type { Caller } from './authorization.ts';
import type { BodyShape } from './body-shape.ts';

export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:id` and `:…_id` stand for a UUID. */
  pattern: string;
  /** Null: any valid key. */
  scope: Scope | null;
  body: 'json' | 'none';
  /** Whether the Idempotency-Key header means something here. */
  idempotent?: true;
  /** What is refused whatever the body says; asked before a large body is read. */
  refuseEarly?(call: EarlyCall): Promise<Refusal | null>;
  answer(call: ApiCall): Promise<Answer | Refusal>;
}

/** As much as is known before the body. */
export interface EarlyCall extends Pick<Caller, 'key'> {
  idempotencyKey: string | null;
}

/** A call that has passed every check up to its body. */
export interface ApiCall extends Caller {
  /** From the path, in lower case; empty when the pattern has none. */
  id: string;
  /** Everything in the path; those whose name ends in `id` are UUIDs in lower case. */
  params: PathParams;
  query(): URLSearchParams;
  header(name: string): string | undefined;
  idempotencyKey: string | null;
  bodyBytes: number;
  /**
   * Writes what was changed into the audit log: after the change, so that the log never tells of something that did not
   * happen, and before the answer. Whatever writes does so, except for sending, which has its events.
   */
  audit(action: string, data: NewAuditEntry['data']): Promise<void>;
  /** For a call that does the work of several: what they cost, less what was charged already. */
  countAs(calls: number): void;
  /** For what templates made of the call, in bytes: charged and limited as a body is. */
  countRendered(bytes: number): Refusal | null;
  /** Parses the body: only when asked, because that of a replay counts for nothing. Once at the most. */
  read<Body>(shape: BodyShape<Body>): Body | Refusal | Promise<Body | Refusal>;
}
