// What the leaf editor is given, and what it asks of its rules: fit-lines.ts for the door, and the changes that couriers
// make to single messages.
import type { Entity, Leaf } from './entity.ts';
import type { LeafEncoding } from './re-encode.ts';

/** A larger leaf passes as it is, or in base64. Far more than people write. */
export const MAX_HELD_MIB = 2;

export interface MailStart {
  /** Of the mail's header, with the empty one. */
  lines: number;
  /** What it says of the content. */
  entity: Entity;
}

/** Why what is here can't be changed; `garbled`: it is not in the encoding that its header names. */
export type Obstacle = 'plain' | 'sealed' | 'large' | 'garbled';

export interface HeldPart {
  leaf: Leaf;
  content: Buffer;
  /** The number of its first line with more octets than RFC 5322 allows. */
  longLine: number | null;
}

/** What a leaf becomes. */
export interface ChangedPart {
  encoding: LeafEncoding;
  bytes: Buffer;
}

export interface LeafRules {
  /** Whether a leaf is held until its end, to be changed then. */
  holds(leaf: Leaf): boolean;
  /** Null: it leaves as it came. */
  change(part: HeldPart): ChangedPart | null;
  /** A line leaves that has more octets than RFC 5322 allows. */
  onLongLine(line: number, obstacle: Obstacle): void;
  /** What is encoded gets shorter lines, and so does a leaf that is too large to be held when one is found in time. */
  isForShortLines: boolean;
  /** Every octet that leaves should be ASCII: what multiparts say of themselves follows, and embedded mails change, too. */
  isForSevenBits: boolean;
}
