// What an idempotency key may be, whichever door it comes through.

const MAX_CHARS = 200;

/**
 * ASCII only: beyond it, what a server reads depends on how it decodes the header, and two keys that are read as one would
 * lose a message.
 */
export function idempotencyKeyProblem(key: string): string | null {
  if (key === '') return 'must not be empty; omit the header instead.';
  if (key.length > MAX_CHARS) return `must have at most ${MAX_CHARS} characters.`;
  return /^[\x20-\x7e]*$/.test(key) ? null : 'must contain only printable ASCII characters.';
}
