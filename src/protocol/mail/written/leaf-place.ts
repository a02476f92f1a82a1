// Where in a mail the leaf editor is, and what it does with the octets there.
import type { Base64Stream } from './base64-stream.ts';
import type { LineCutter } from './cut-lines.ts';
import type { Leaf } from './entity.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { Obstacle } from './leaf-rules.ts';

export type Place =
  /** In the header of a part, or of a mail that is a part. */
  | { kind: 'header'; bytes: HeldBytes; isOfMail: boolean }
  | { kind: 'passing'; obstacle: Obstacle; cutter?: LineCutter | null }
  /** In a leaf that is too large to be held, with the number of its first line that is too long. */
  | { kind: 'encoding'; stream: Base64Stream; longLine: number }
  | HeldLeaf;

export interface HeldLeaf {
  kind: 'held';
  leaf: Leaf;
  /** Null: that of the mail itself, which isn't here. */
  header: Buffer | null;
  body: HeldBytes;
  /** The number of the first one. */
  longLine: number | null;
}
