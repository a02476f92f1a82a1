// What a look-up says: a value, never an exception. `no_domain` and `no_records` are definite statements of
// the DNS; `unavailable` says nothing about the name and calls for a later repetition.

export type DnsResult<T> =
  | { kind: 'found'; records: T[]; ttlMs: number }
  | { kind: 'no_domain' }
  | { kind: 'no_records' }
  | { kind: 'unavailable'; reason: string };
