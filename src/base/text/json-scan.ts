// Scans the text of a JSON document (RFC 8259) without building anything: whether it is valid, how many values it has,
// and where the members on one path are. A few hundred thousand names keep JSON.parse busy for most of a
// second on the main thread; scanning them takes a few milliseconds.

export interface JsonScan {
  kind: 'valid';
  /** The number of values, without those inside the requested members. */
  values: number;
  /** The values of those members, in their order: of a name that is repeated, too. */
  spans: Span[];
}

/** Names from the top of the document downwards, the last one that of the member; null: every entry of a list. */
export type MemberPath = readonly (string | null)[];

export interface Span {
  start: number;
  end: number;
}

/** `at`: the offset, in UTF-16 units from 0, where it stops being JSON. */
export type JsonScanResult = JsonScan | { kind: 'invalid'; at: number };

export interface ScanRules {
  /** Numbers directly in lists are not counted: they are bytes, which cost next to nothing each. */
  listsOfBytes?: boolean;
}

/** Of an empty path, nothing is requested. */
export function scanJson(text: string, path: MemberPath, rules: ScanRules = {}): JsonScanResult {
  return new Scanner(text, path, rules).run();
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [MINUS, DIGIT_0, DIGIT_9] = [0x2d, 0x30, 0x39];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LITERALS = ['true', 'false', 'null'];
const FIRST_LEVELS = 64;

class Scanner {
  readonly #text: string;
  readonly #path: MemberPath;
  readonly #listsOfBytes: boolean;
  #at = 0;
  #values = 0;
  readonly #spans: Span[] = [];
  /** The kinds of the open lists and objects, the outermost first; nesting may be a million deep. */
  #open = new Uint8Array(FIRST_LEVELS);
  #depth = 0;
  /** How many steps of the path the scanner has taken. Those deeper than the current value are from earlier values. */
  #steps = 0;
  /** Where the value of the requested member begins, while the scanner is inside it. */
  #inMemberFrom: number | null = null;

  constructor(text: string, path: MemberPath, { listsOfBytes = false }: ScanRules) {
    this.#text = text;
    this.#path = path;
    this.#listsOfBytes = listsOfBytes;
  }

  run(): JsonScanResult {
    const valid = this.#document();
    return valid
      ? { kind: 'valid', values: this.#values, spans: this.#spans }
      : { kind: 'invalid', at: Math.min(this.#at, this.#text.length) };
  }

  #document(): boolean {
    do {
      this.#skipSpace();
      const goesDeeper = this.#valueBegins();
      if (goesDeeper === null) return false;
      if (!goesDeeper && !this.#afterValue()) return false;
    } while (this.#depth > 0);
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  /** Whether a value follows inside the one that begins here; null when none can begin. */
  #valueBegins(): boolean | null {
    const code = this.#text.charCodeAt(this.#at);
    if (this.#inMemberFrom === null && !this.#isByte(code)) this.#values++;
    if (code === QUOTE) return this.#skipString() ? false : null;
    if (code === OPEN_LIST || code === OPEN_OBJECT) return this.#enter(code);
    return this.#skipNumberOrLiteral() ? false : null;
  }

  #isByte(code: number): boolean {
    if (!this.#listsOfBytes || this.#depth === 0 || this.#open[this.#depth - 1] !== OPEN_LIST) return false;
    return code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9);
  }

  #enter(kind: number): boolean | null {
    this.#at++;
    this.#skipSpace();
    const closing = kind === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT;
    if (this.#text.charCodeAt(this.#at) === closing) {
      this.#at++;
      return false;
    }
    this.#push(kind);
    if (kind === OPEN_OBJECT) return this.#name() ? true : null;
    if (this.#depth < this.#path.length && this.#isNextStep() && this.#path[this.#depth - 1] === null) this.#steps++;
    return true;
  }

  /** Reads a comma with the next name, or the ends of open lists and objects. */
  #afterValue(): boolean {
    for (;;) {
      this.#endMember();
      if (this.#depth === 0) return true;
      this.#skipSpace();
      const kind = this.#open[this.#depth - 1];
      const code = this.#text.charCodeAt(this.#at);
      if (code === COMMA) {
        this.#at++;
        if (kind === OPEN_LIST) return true;
        this.#skipSpace();
        return this.#name();
      }
      if (code !== (kind === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) return false;
      this.#at++;
      this.#depth--;
    }
  }

  /** Reads a name and its colon. */
  #name(): boolean {
    const start = this.#at;
    if (this.#text.charCodeAt(start) !== QUOTE || !this.#skipString()) return false;
    const isMember = this.#depth <= this.#path.length && this.#isMember(start, this.#at);
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) !== COLON) return false;
    this.#at++;
    if (!isMember) return true;
    this.#skipSpace();
    this.#values++;
    this.#inMemberFrom = this.#at;
    return true;
  }

  /** Whether the name is the last step of the path; takes the step, if it is one. */
  #isMember(start: number, end: number): boolean {
    if (!this.#isNextStep()) return false;
    const step = this.#path[this.#depth - 1];
    if (typeof step !== 'string' || !this.#isNamed(step, start, end)) return false;
    this.#steps++;
    return this.#depth === this.#path.length;
  }

  /** Whether what surrounds the current value is on the path. Forgets the steps of earlier values at this depth. */
  #isNextStep(): boolean {
    this.#steps = Math.min(this.#steps, this.#depth - 1);
    return this.#steps === this.#depth - 1;
  }

  #isNamed(name: string, start: number, end: number): boolean {
    const { length } = name;
    if (end - start === length + 2) return this.#text.startsWith(name, start + 1);
    // It may be spelled with escapes, each of which takes at most six characters.
    if (end - start < length + 2 || end - start > length * 6 + 2) return false;
    const token = this.#text.slice(start, end);
    return token.includes('\\') && JSON.parse(token) === name;
  }

  #endMember(): void {
    if (this.#inMemberFrom === null || this.#depth > this.#path.length) return;
    this.#spans.push({ start: this.#inMemberFrom, end: this.#at });
    this.#inMemberFrom = null;
  }

  #push(kind: number): void {
    if (this.#depth === this.#open.length) {
      const wider = new Uint8Array(this.#open.length * 2);
      wider.set(this.#open);
      this.#open = wider;
    }
    this.#open[this.#depth++] = kind;
  }

  #skipString(): boolean {
    const text = this.#text;
    let at = this.#at + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      // NaN at the end of the text fails this comparison, as control characters do.
      if (!(code >= 0x20)) return this.#stopAt(at);
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) return this.#stopAt(at);
        at = ESCAPE.lastIndex;
      } else at++;
    }
    this.#at = at + 1;
    return true;
  }

  #skipNumberOrLiteral(): boolean {
    NUMBER.lastIndex = this.#at;
    if (NUMBER.test(this.#text)) {
      this.#at = NUMBER.lastIndex;
      return true;
    }
    const literal = LITERALS.find((word) => this.#text.startsWith(word, this.#at));
    if (literal === undefined) return false;
    this.#at += literal.length;
    return true;
  }

  #skipSpace(): void {
    const text = this.#text;
    let at = this.#at;
    for (let code = text.charCodeAt(at); code === 0x20 || (code >= 0x09 && code <= 0x0d); code = text.charCodeAt(at)) {
      if (code === 0x0b || code === 0x0c) break;
      at++;
    }
    this.#at = at;
  }

  #stopAt(at: number): false {
    this.#at = at;
    return false;
  }
}
