// The result of a look-up: a value, never an exception. `no_domain` and `no_records` are definite statements of DNS;
// `unavailable` says nothing about the name and requires a retry later.

export type DnsResult<T> =
  | { kind: 'found'; records: T[]; ttlMs: number }
  | { kind: 'no_domain' }
  | { kind: 'no_records' }
  | { kind: 'unavailable'; reason: string };
