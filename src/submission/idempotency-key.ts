// What an idempotency key may be, whichever door it comes through.

const MAX_CHARS = 200;

/**
 * ASCII only: beyond it, what a server reads depends on how it decodes the header, and two keys that are read as one would
 * lose a message.
 */
export function idempotencyKeyProblem(key: string): string | null {
  // One engine strips what is not ASCII from both ends of a header, so that such a key arrives as an empty one.
  if (key === '')
    return 'is empty, or only characters outside ASCII. Use printable ASCII characters, or omit the header.';
  if (key.length > MAX_CHARS) return `must have at most ${MAX_CHARS} characters.`;
  return /^[\x20-\x7e]*$/.test(key) ? null : 'must contain only printable ASCII characters.';
}
