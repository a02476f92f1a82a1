// Keeps secrets, subjects and bodies out of the log if they are passed to it by mistake: by field name, and by patterns
// in texts. The last line of defence, not the first.

const HIDDEN = '[hidden]';

/** Compared in lower case without `-` and `_`: `private_key`, `privateKey`, `set-cookie`. */
const SECRET_NAME =
  /^(authorization|proxyauthorization|cookie|setcookie|key|keys|pem|pass|subject|html|text|body|content|data|raw)$|password|passphrase|passwd|secret|token|privatekey|apikey|masterkey|tlskey|credential|sealed/;

const MAX_DEPTH = 5;
const MAX_ITEMS = 50;
const MAX_TEXT = 2000;
/** Names come from our own source, hardly more than a hundred; names beyond the limit are not cached. */
const MAX_CACHED_NAMES = 1000;

/** Matches whatever one of the replacements below would match. */
const SUSPICIOUS = /pr_|:\/\/|-----BEGIN |bearer/i;

/** Hides secrets with a recognizable form: API keys, bearer tokens, PEM private keys, passwords in URLs. */
export function redactText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  // Nearly all texts contain none of them, and every message has a dozen texts: test once instead of four replacements.
  if (!SUSPICIOUS.test(short)) return short;
  return short
    .replace(/\b(pr_[A-Za-z0-9]+)_[A-Za-z0-9]{8,}/g, `$1_${HIDDEN}`)
    .replace(/\b(bearer\s+)[^\s"',]+/gi, `$1${HIDDEN}`)
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN)
    .replace(/(:\/\/[^/\s:@]*):[^/\s@]*@/g, `$1:${HIDDEN}@`);
}

export class Redactor {
  readonly #secretNames = new Map<string, boolean>();

  /** Returns a copy that may be logged. */
  redact(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.#fields(facts, 0);
  }

  /** Nearly all values stay as they are, so all are copied at once, and only secrets are replaced in the copy. */
  #fields(fields: object, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = { ...fields };
    for (const name in copy) {
      const value = copy[name];
      if (value === null || value === undefined || typeof value === 'boolean') continue;
      const shown = this.#isSecret(name) ? HIDDEN : this.#value(value, depth);
      if (shown !== value) copy[name] = shown;
    }
    return copy;
  }

  #isSecret(name: string): boolean {
    const known = this.#secretNames.get(name);
    if (known !== undefined) return known;
    const secret = SECRET_NAME.test(name.toLowerCase().replace(/[-_]/g, ''));
    if (this.#secretNames.size < MAX_CACHED_NAMES) this.#secretNames.set(name, secret);
    return secret;
  }

  #value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return redactText(value);
      case 'bigint':
        return String(value);
      case 'function':
        return undefined;
      case 'object':
        return value === null || value instanceof Date ? value : this.#object(value, depth);
      default:
        return value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth >= MAX_DEPTH) return '[…]';
    if (value instanceof Error) return this.#error(value, depth);
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => this.#value(item, depth + 1));
    return this.#fields(value, depth + 1);
  }

  /** The parts of an Error that JSON leaves out: message, stack, cause. */
  #error(error: Error, depth: number): Record<string, unknown> {
    const own = this.#fields(error, depth + 1);
    const cause = error.cause === undefined ? {} : { cause: this.#value(error.cause, depth + 1) };
    const stack = error.stack === undefined ? {} : { stack: redactText(error.stack) };
    return { ...own, type: error.name, message: redactText(error.message), ...stack, ...cause };
  }
}
