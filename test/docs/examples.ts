// What a page shows stands for something that really came: `…` for anything, a time for any
// time, and an id or an API key for one certain other, which is found out when it first comes
// and from then on put into snippets and expected again. So the ids on a page hang together.

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const API_KEY = /\bpr_[A-Za-z0-9]+(?:_[A-Za-z0-9]+)?/;
const ANYTHING = '…';

const PIECES = new RegExp(`(${ANYTHING}|${TIME.source}|${UUID.source}|${API_KEY.source})`);
const NAMES = new RegExp(`${UUID.source}|${API_KEY.source}`, 'g');

export class Examples {
  #real: Map<string, string>;

  constructor(real: ReadonlyMap<string, string> = new Map()) {
    this.#real = new Map(real);
  }

  copy(): Examples {
    return new Examples(this.#real);
  }

  /** The snippet with the real ids and keys in place of the page's. */
  fill(code: string): string {
    return code.replace(NAMES, (shown) => this.#real.get(shown) ?? shown);
  }

  /** Whether the text is what the page shows; remembers what its ids and keys stand for. */
  match(shown: string, real: string): boolean {
    const unknown: string[] = [];
    const pattern = shown
      .split(PIECES)
      .map((piece, index) => (index % 2 === 0 ? literal(piece) : this.#pattern(piece, unknown)));
    const found = new RegExp(`^${pattern.join('')}$`, 's').exec(real);
    if (!found) return false;
    return unknown.every((name, index) => this.#remember(name, found[index + 1]!));
  }

  #pattern(piece: string, unknown: string[]): string {
    if (piece === ANYTHING) return '.*?';
    if (new RegExp(`^${TIME.source}$`).test(piece)) return TIME.source;
    const known = this.#real.get(piece);
    if (known !== undefined) return literal(known);
    unknown.push(piece);
    return `(${piece.startsWith('pr_') ? API_KEY.source : UUID.source})`;
  }

  /** Two ids on the page are two in reality. */
  #remember(shown: string, real: string): boolean {
    const before = this.#real.get(shown);
    if (before !== undefined) return before === real;
    if ([...this.#real.values()].includes(real)) return false;
    this.#real.set(shown, real);
    const [publicPart, realPublicPart] = [shown, real].map((key) => /^(pr_[A-Za-z0-9]+)_/.exec(key)?.[1]);
    if (publicPart && realPublicPart) this.#real.set(publicPart, realPublicPart);
    return true;
  }
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
