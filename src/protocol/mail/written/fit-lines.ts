// Mail libraries wrap or encode lines that are longer than RFC 5322 section 2.1.1 allows; many scripts that write HTML
// don't. While a body arrives, a leaf with such a line gets another encoding, or its line is cut where it is encoded
// already. A long line elsewhere is a reason to refuse the mail.
import { MAX_LINE_OCTETS } from '../header-field.ts';
import { LeafEditor } from './leaf-editor.ts';
import { type LeafRules, MAX_HELD_MIB, type MailStart, type Obstacle } from './leaf-rules.ts';
import { type LeafEncoding, reEncode } from './re-encode.ts';

/** Why a line can't be shortened, after its number. */
const ADVICE: Record<Obstacle, string> = {
  plain: '. Wrap it, or encode this part as base64.',
  sealed: ", and its part is signed or encrypted, so it can't be re-encoded here. Encode it before signing.",
  large: `, in a part of more than ${MAX_HELD_MIB} MiB. Encode this part as base64.`,
  garbled: ', and its part is not in the encoding that its header names. Encode it, or correct the header.',
};

/** Takes the body in chunks, which may end anywhere. Every line ends with CRLF, as SMTP transmits a mail. */
export class LineFitter {
  readonly #editor: LeafEditor;
  #problem: string | null = null;

  constructor(start: MailStart) {
    const rules: LeafRules = {
      isForShortLines: true,
      isForSevenBits: false,
      holds: (leaf) => leaf.mayChange,
      change: ({ leaf, content, longLine }) => (longLine === null ? null : reEncode(content, leaf.isText)),
      onLongLine: (line, obstacle) => {
        this.#problem ??= `Line ${line} is longer than ${MAX_LINE_OCTETS} octets${ADVICE[obstacle]}`;
      },
    };
    this.#editor = new LeafEditor(start, rules);
  }

  /** Why the mail must be refused, a sentence in ASCII; what follows makes no difference. */
  get problem(): string | null {
    return this.#problem;
  }

  /** After the end: what the mail's own header must say; null: what it says already. */
  get encoding(): LeafEncoding | null {
    return this.#editor.encoding;
  }

  /** What can leave by now. */
  push(chunk: Buffer): Buffer[] {
    return this.#editor.push(chunk);
  }

  /** The rest. */
  end(): Buffer[] {
    return this.#editor.end();
  }
}
