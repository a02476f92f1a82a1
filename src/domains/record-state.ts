// How a needed record stands in DNS, in the words that people read. Loads nothing, for commands that only show it.
import type { CheckReason, DomainCheck } from '../store/domains.ts';

/** `wrong` is something that stands there and is not right; `unknown` says nothing about the record. */
export type RecordState = 'right' | 'wrong' | 'missing' | 'unknown';

export interface RecordVerdict {
  state: RecordState;
  /** Half a sentence about the name. */
  message: string;
}

const STATES: Record<CheckReason, RecordState> = {
  not_found: 'missing',
  mismatch: 'wrong',
  invalid_record: 'wrong',
  multiple_records: 'wrong',
  dns_unavailable: 'unknown',
};

/** The same of a record of a tenant's domain. */
export function stateOfCheck({ ok, reason }: Pick<DomainCheck, 'ok' | 'reason'>): RecordState {
  return ok ? 'right' : STATES[reason ?? 'not_found'];
}
