// The body of a written mail as it leaves: as it was written, with tracked HTML where its tenant wants that, and in ASCII
// for a server without 8BITMIME. A large one is read in pieces, once to sign it and once to send it, and never held.
import { freeBytes } from '../../base/free-bytes.ts';
import { type Page, trackPart } from '../../links/track-part.ts';
import { type Entity, type Leaf, readEntity } from '../../protocol/mail/written/entity.ts';
import { splitHeader, type WrittenField } from '../../protocol/mail/written/header-fields.ts';
import { LeafEditor } from '../../protocol/mail/written/leaf-editor.ts';
import type { ChangedPart, HeldPart, LeafRules } from '../../protocol/mail/written/leaf-rules.ts';
import { withTransferEncoding } from '../../protocol/mail/written/re-encode.ts';
import { toSevenBits } from '../../protocol/mail/written/seven-bits.ts';
import { WrittenBody } from '../../protocol/mail/written/written-body.ts';
import type { ContentReader, MessageContent } from '../../store/submissions.ts';
import type { WrittenContent } from '../../store/written-mails.ts';

/** A mail without our own fields and signatures. */
export interface LeavingMail extends Pick<WrittenContent, 'header' | 'bytes' | 'bodyHash' | 'eightBit'> {
  /** The body, in buffers of which each is valid until the one after the next is asked for. */
  read: ReadBody;
}

type ReadBody = () => AsyncIterable<Buffer>;

export interface Changes {
  /** Makes the HTML that this recipient gets; null: it stays. */
  track: ((page: Page) => string) | null;
  /** The server has no 8BITMIME. */
  isForSevenBits: boolean;
}

/** So large a mail is read again for each use. */
const MAX_KEPT_BYTES = 64 * 1024;

export async function leavingMail(written: WrittenContent, read: ReadBody, changes: Changes): Promise<LeavingMail> {
  const asWritten = { ...written, read };
  if (changes.track === null && !(changes.isForSevenBits && written.eightBit)) return asWritten;
  const fields = fieldsOf(written);
  if (fields === null) return asWritten;
  const entity = readEntity(fields);
  if (entity.kind === 'leaf' && !new LeafChanges(changes).holds(entity) && !entity.isOpenMail) return asWritten;
  const changed = await change(asWritten, entity, changes);
  if (changed !== 'has sealed parts') return changed ?? asWritten;
  // It is tracked as a whole or not at all.
  return leavingMail(written, read, { ...changes, track: null });
}

/** Null: nothing is to be changed. */
async function change(
  asWritten: LeavingMail,
  entity: Entity,
  changes: Changes,
): Promise<LeavingMail | 'has sealed parts' | null> {
  const rules = new LeafChanges(changes);
  const editor = new LeafEditor({ lines: 0, entity }, rules);
  const body = new WrittenBody();
  const kept: Buffer[] = [];
  const isSmall = asWritten.bytes <= MAX_KEPT_BYTES;
  for await (const bytes of edited(asWritten.read, editor)) {
    body.push(bytes);
    if (isSmall) kept.push(Buffer.from(bytes)); // a copy, since pieces are freed
  }
  if (changes.track !== null && editor.hasSealed) return 'has sealed parts';
  if (!rules.hasChanged && editor.encoding === null) return null;
  const header = editor.encoding === null ? asWritten.header : withTransferEncoding(asWritten.header, editor.encoding);
  const again = () => edited(asWritten.read, new LeafEditor({ lines: 0, entity }, new LeafChanges(changes)));
  return { header, ...body.end(), read: isSmall ? () => toAsync(kept) : again };
}

async function* edited(read: ReadBody, editor: LeafEditor): AsyncGenerator<Buffer> {
  for await (const bytes of read()) yield* editor.push(bytes);
  yield* editor.end();
}

async function* toAsync(buffers: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* buffers;
}

class LeafChanges implements LeafRules {
  /** The door has seen to them. */
  readonly isForShortLines = false;
  readonly isForSevenBits: boolean;
  readonly #track: Changes['track'];
  /** Readers may show several, but only one message is opened. */
  #isTracked = false;
  hasChanged = false;

  constructor({ track, isForSevenBits }: Changes) {
    this.#track = track;
    this.isForSevenBits = isForSevenBits;
  }

  holds(leaf: Leaf): boolean {
    const mayBeTracked = this.#track !== null && !this.#isTracked && leaf.html !== null;
    return mayBeTracked || (this.isForSevenBits && leaf.mayChange);
  }

  change(part: HeldPart): ChangedPart | null {
    const tracked = this.#tracked(part);
    const { leaf } = part;
    const mayStillChange = this.isForSevenBits && leaf.mayChange;
    const changed = mayStillChange ? inAscii(part, tracked) : tracked;
    if (changed) this.hasChanged = true;
    return changed;
  }

  #tracked(part: HeldPart): ChangedPart | null {
    if (this.#track === null || this.#isTracked || part.leaf.html === null) return null;
    this.#isTracked = true;
    return trackPart(part, this.#track);
  }

  onLongLine(): void {}
}

function inAscii(part: HeldPart, tracked: ChangedPart | null): ChangedPart | null {
  if (tracked === null) return toSevenBits(part);
  const isAsItWas = tracked.encoding !== 'base64' && tracked.encoding !== 'quoted-printable';
  return isAsItWas ? (toSevenBits({ ...part, content: tracked.bytes }) ?? tracked) : tracked;
}

const CRLF = Buffer.from('\r\n');

/** Null: they can't be read, as of a mail that came before the rules of today. */
export function fieldsOf({ header }: Pick<WrittenContent, 'header'>): WrittenField[] | null {
  const split = splitHeader(Buffer.concat([header, CRLF]));
  return 'problem' in split ? null : split.fields;
}

export async function* piecesOf(
  { tenantId, submissionId }: Pick<MessageContent, 'tenantId' | 'submissionId'>,
  { pieces }: WrittenContent,
  contents: ContentReader,
): AsyncGenerator<Buffer> {
  let before: Buffer | null = null;
  for (let position = 0; position < pieces; position++) {
    const piece = await contents.piece({ tenantId, submissionId, position });
    yield piece;
    if (before) freeBytes(before);
    before = piece;
  }
}
