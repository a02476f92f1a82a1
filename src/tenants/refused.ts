// What the services of this folder return when a request is refused: a value whose sentence can
// be shown as it is, with the field that it is about, so that callers can use their own names.

export interface Refused {
  kind: 'refused';
  /** The field at fault, or null when the request as a whole is refused. */
  field: string | null;
  message: string;
}

export function refused(field: string | null, message: string): Refused {
  return { kind: 'refused', field, message };
}

// Enough for any label, and short enough for a table.
const NAME_MAX_CHARS = 200;

/** What is wrong with a display name, or null. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'must not be empty';
  if (name.length > NAME_MAX_CHARS) return `must have at most ${NAME_MAX_CHARS} characters`;
  if (/\p{Cc}/u.test(name)) return 'must not have control characters';
  return null;
}
