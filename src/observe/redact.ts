// Keeps secrets, subjects and bodies out of the log, whatever somebody hands to it by mistake:
// by the name of a field, and by the look of a text. The last line of defence, not the first.

const HIDDEN = '[hidden]';

/** Compared in lower case without `-` and `_`: `private_key`, `privateKey`, `set-cookie`. */
const SECRET_NAME =
  /^(authorization|proxyauthorization|cookie|setcookie|key|keys|pem|pass|subject|html|text|body|content|data|raw)$|password|passphrase|passwd|secret|token|privatekey|apikey|masterkey|tlskey|credential|sealed/;

const MAX_DEPTH = 5;
const MAX_ITEMS = 50;
const MAX_TEXT = 2000;

/** What each of the replacements below begins with, or has in it. */
const SUSPICIOUS = /pr_|:\/\/|-----BEGIN |bearer/i;

/** A copy that may be logged. */
export function redact(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactFields(facts, 0);
}

/** Secrets that are known by their look: API keys, bearer tokens, PEM private keys, passwords in URLs. */
export function redactText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  // Nearly every text has none of them, and every message has a dozen texts: one look, not four replacements.
  if (!SUSPICIOUS.test(short)) return short;
  return short
    .replace(/\b(pr_[A-Za-z0-9]+)_[A-Za-z0-9]{8,}/g, `$1_${HIDDEN}`)
    .replace(/\b(bearer\s+)[^\s"',]+/gi, `$1${HIDDEN}`)
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN)
    .replace(/(:\/\/[^/\s:@]*):[^/\s@]*@/g, `$1:${HIDDEN}@`);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) copy[name] = redactField(name, value, depth);
  return copy;
}

function redactField(name: string, value: unknown, depth: number): unknown {
  const isEmpty = value === null || value === undefined || typeof value === 'boolean';
  if (!isEmpty && SECRET_NAME.test(name.toLowerCase().replace(/[-_]/g, ''))) return HIDDEN;
  return redactValue(value, depth);
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[…]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1));
  return redactFields(value, depth + 1);
}

/** What Error keeps from JSON: the message, where it happened, what caused it. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const own = redactFields({ ...error }, depth + 1);
  const cause = error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1) };
  const stack = error.stack === undefined ? {} : { stack: redactText(error.stack) };
  return { ...own, type: error.name, message: redactText(error.message), ...stack, ...cause };
}
