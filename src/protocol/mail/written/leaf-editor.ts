// Changes leaves of a written body while it passes, octet by octet the same where nothing is to be changed. A leaf that
// may change is held in memory until it ends; what it becomes is decided by rules (leaf-rules.ts). One that is encoded
// passes, with its long lines cut. One that is too large to be held, and has a long line, is encoded in base64 from there on.
import { MAX_LINE_OCTETS } from '../header-field.ts';
import { Base64Stream } from './base64-stream.ts';
import { cutterFor } from './cut-lines.ts';
import { type Entity, NOTHING_AROUND, readEntity, unreadable } from './entity.ts';
import { splitHeader } from './header-fields.ts';
import { HeldBytes } from './held-bytes.ts';
import type { HeldLeaf, Place } from './leaf-place.ts';
import { type ChangedPart, type LeafRules, MAX_HELD_MIB, type MailStart, type Obstacle } from './leaf-rules.ts';
import { type Delimiter, OpenMultiparts } from './open-multiparts.ts';
import { type LeafEncoding, withTransferEncoding } from './re-encode.ts';

const MAX_HELD_BYTES = MAX_HELD_MIB * 1024 * 1024;
const MAX_PART_HEADER_BYTES = 64 * 1024;
/** What comes after so many stays as it is. */
const MAX_PARTS = 1_000;
const SMALL_BYTES = 16 * 1024;

const LF = 0x0a;
const CRLF = Buffer.from('\r\n');
const NONE: Buffer = Buffer.alloc(0);
/** With its line end. */
const MAX_LINE_BYTES = MAX_LINE_OCTETS + 2;

/** Takes the body in chunks, which may end anywhere. Every line ends with CRLF, as SMTP transmits a mail. */
export class LeafEditor {
  readonly #rules: LeafRules;
  readonly #open = new OpenMultiparts();
  #place: Place;
  #parts = 0;
  /** The number of the line that is being read. */
  #line: number;
  /** The start of a line, from earlier chunks. */
  #begun = NONE;
  /** In a line that is too long already, and whose start has been taken. */
  #isWithinLong = false;
  #out: Buffer[] = [];
  #encoding: LeafEncoding | null = null;
  #hasSealed = false;

  constructor({ lines, entity }: MailStart, rules: LeafRules) {
    this.#rules = rules;
    this.#line = lines + 1;
    this.#place = this.#begin(entity, null);
  }

  /** After the end: what the mail's own header must say; null: what it says already. */
  get encoding(): LeafEncoding | null {
    return this.#encoding;
  }

  /** Whether something signed or encrypted has come by. */
  get hasSealed(): boolean {
    return this.#hasSealed;
  }

  /** What can leave by now. */
  push(chunk: Buffer): Buffer[] {
    let rest = chunk;
    if (this.#isWithinLong || this.#begun.length > 0) rest = this.#continueLine(chunk);
    const whole = rest.lastIndexOf(LF) + 1;
    this.#takeLines(rest.subarray(0, whole));
    if (whole < rest.length) this.#beginLine(rest.subarray(whole));
    return this.#takeOut();
  }

  /** The rest. */
  end(): Buffer[] {
    if (this.#begun.length > 0) this.#takeLine(this.#begun);
    this.#begun = NONE;
    this.#closePart(NONE);
    return this.#takeOut();
  }

  /** Small buffers are joined, since each costs more later than copying it. */
  #takeOut(): Buffer[] {
    const out = this.#out;
    this.#out = [];
    if (out.length < 2) return out;
    const bytes = out.reduce((sum, { length }) => sum + length, 0);
    return bytes <= SMALL_BYTES ? [Buffer.concat(out, bytes)] : out;
  }

  /** Returns what follows its end. */
  #continueLine(chunk: Buffer): Buffer {
    const end = chunk.indexOf(LF) + 1;
    const part = end > 0 ? chunk.subarray(0, end) : chunk;
    if (this.#isWithinLong) {
      this.#pass(part, true);
      if (end > 0) this.#line++;
      this.#isWithinLong = end === 0;
    } else {
      const line = Buffer.concat([this.#begun, part]);
      this.#begun = NONE;
      if (end > 0) this.#takeLine(line);
      else this.#beginLine(line);
    }
    return chunk.subarray(part.length);
  }

  #beginLine(start: Buffer): void {
    // Without a line end, so many octets are too many in any case.
    if (start.length < MAX_LINE_BYTES) {
      this.#begun = start;
      return;
    }
    this.#takeLine(start);
    this.#line--;
    this.#isWithinLong = true;
  }

  #takeLines(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const end = this.#place.kind === 'header' ? at : this.#endOfPlainLines(bytes, at);
      if (end > at) this.#pass(bytes.subarray(at, end));
      if (end === bytes.length) return;
      at = bytes.indexOf(LF, end) + 1;
      this.#takeLine(bytes.subarray(end, at));
    }
  }

  /** Of as many lines as there are with nothing to decide about: nearly all of a mail. */
  #endOfPlainLines(bytes: Buffer, from: number): number {
    let start = from;
    for (let end = bytes.indexOf(LF, start); end >= 0; end = bytes.indexOf(LF, start)) {
      const next = end + 1;
      if (next - start > MAX_LINE_BYTES || this.#open.delimiterAt(bytes, start, next) !== null) return start;
      this.#line++;
      start = next;
    }
    return start;
  }

  /** Any line, with its end if it has one. */
  #takeLine(line: Buffer): void {
    const isLong = line.length > MAX_LINE_BYTES || (line.at(-1) !== LF && line.length > MAX_LINE_OCTETS);
    const delimiter = this.#open.delimiterAt(line, 0, line.length);
    if (delimiter === 'unclear') this.#giveUp();
    if (isLong) this.#noteLong();
    if (delimiter && delimiter !== 'unclear') this.#divide(delimiter, line);
    else this.#pass(line, isLong);
    this.#line++;
  }

  #noteLong(): void {
    const place = this.#place;
    if (place.kind === 'held') place.longLine ??= this.#line;
    else if (place.kind === 'header') this.#rules.onLongLine(this.#line, 'plain');
    else if (place.kind === 'passing' && !place.cutter) this.#rules.onLongLine(this.#line, place.obstacle);
  }

  /** Octets that divide nothing, of lines that fit or of one that does not. */
  #pass(bytes: Buffer, isLong = false): void {
    if (this.#place.kind === 'header') {
      this.#addToHeader(this.#place, bytes);
      return;
    }
    if (this.#place.kind === 'held') {
      const { header, body } = this.#place;
      if ((header?.length ?? 0) + body.length + bytes.length <= MAX_HELD_BYTES) {
        body.add(bytes);
        return;
      }
      this.#stopHolding(this.#place);
    }
    if (this.#place.kind === 'encoding') this.#out.push(this.#place.stream.push(bytes));
    else this.#out.push(isLong ? this.#cut(bytes) : bytes);
  }

  #cut(bytes: Buffer): Buffer {
    if (this.#place.kind !== 'passing' || !this.#place.cutter) return bytes;
    const cut = this.#place.cutter.cut(bytes);
    if (cut === null) this.#rules.onLongLine(this.#line, 'garbled');
    return cut ?? bytes;
  }

  /** It has become too large. */
  #stopHolding({ header, body, longLine }: HeldLeaf): void {
    if (longLine === null || !this.#rules.isForShortLines) {
      this.#release('large');
      return;
    }
    this.#beginChanged(header, 'base64');
    const stream = new Base64Stream();
    this.#out.push(...body.blocks.map((block) => stream.push(block)));
    this.#place = { kind: 'encoding', stream, longLine };
  }

  /** The header of a part whose content leaves in this encoding; null: that of the mail itself. */
  #beginChanged(header: Buffer | null, encoding: LeafEncoding): void {
    if (header === null) this.#encoding = encoding;
    else this.#out.push(withTransferEncoding(header, encoding), CRLF);
  }

  #addToHeader({ bytes: header, isOfMail }: Extract<Place, { kind: 'header' }>, line: Buffer): void {
    if (header.length + line.length > MAX_PART_HEADER_BYTES) {
      this.#release(this.#obstacle());
      this.#out.push(line);
    } else if (line.equals(CRLF)) {
      this.#place = this.#begin(this.#entityOf(header.bytes, isOfMail), header.bytes);
    } else {
      header.add(line);
    }
  }

  #entityOf(header: Buffer, isOfMail: boolean): Entity {
    const { isSealed, isDigest, isEmbedded } = this.#open.innermost ?? NOTHING_AROUND;
    const around = { isSealed, isDigest: isDigest && !isOfMail, isEmbedded: isEmbedded || isOfMail };
    if (header.length === 0) return readEntity([], around);
    const split = splitHeader(Buffer.concat([header, CRLF]));
    return 'problem' in split ? unreadable(isSealed) : readEntity(split.fields, around);
  }

  /** What follows a header. */
  #begin(entity: Entity, header: Buffer | null): Place {
    if (entity.isSealed) this.#hasSealed = true;
    if (entity.kind === 'leaf' && this.#rules.holds(entity)) {
      return { kind: 'held', leaf: entity, header, body: new HeldBytes(), longLine: null };
    }
    const { isForSevenBits } = this.#rules;
    const opens = isForSevenBits && (entity.kind === 'multipart' ? !entity.isSealed : entity.isOpenMail);
    const isNewlyAscii = opens && entity.encoding !== null && entity.encoding !== '7bit';
    if (header === null) this.#encoding = isNewlyAscii ? '7bit' : null;
    else this.#out.push(isNewlyAscii ? withTransferEncoding(header, '7bit') : header, CRLF);
    if (opens && entity.kind === 'leaf') return { kind: 'header', bytes: new HeldBytes(), isOfMail: true };
    const mayCut = this.#rules.isForShortLines && entity.kind === 'leaf' && entity.mayCut;
    const cutter = mayCut ? cutterFor(entity.encoding) : null;
    const passing: Place = { kind: 'passing', obstacle: entity.isSealed ? 'sealed' : 'plain', cutter };
    if (entity.kind === 'multipart' && !this.#open.add(entity)) this.#open.keep(0);
    return passing;
  }

  #divide({ level, isLast }: Delimiter, line: Buffer): void {
    this.#closePart(CRLF);
    this.#open.keep(isLast ? level : level + 1);
    this.#out.push(line);
    this.#parts++;
    if (this.#parts > MAX_PARTS) this.#open.keep(0);
    this.#place =
      isLast || this.#open.innermost === null
        ? { kind: 'passing', obstacle: this.#obstacle() }
        : { kind: 'header', bytes: new HeldBytes(), isOfMail: false };
  }

  /** `lineEnd`: the end of its last line, where that belongs to the delimiter that follows (RFC 2046 section 5.1.1). */
  #closePart(lineEnd: Buffer): void {
    const place = this.#place;
    if (place.kind === 'encoding') {
      this.#out.push(place.stream.end(lineEnd));
      return;
    }
    // An empty part has no line: the end of its header's empty line belongs to the delimiter.
    const lastEnd = place.kind === 'held' && place.body.length === 0 ? NONE : lineEnd;
    const changed = place.kind === 'held' ? this.#change(place, lastEnd) : null;
    if (place.kind !== 'held' || changed === null) {
      this.#release(this.#obstacle());
      return;
    }
    const { encoding, bytes } = changed;
    this.#beginChanged(place.header, encoding);
    this.#out.push(bytes);
    // Every line of a mail must end, and decoders skip the end of the last line of base64.
    if (lastEnd.length > 0 || encoding === 'base64') this.#out.push(CRLF);
  }

  #change({ leaf, body, longLine }: HeldLeaf, lineEnd: Buffer): ChangedPart | null {
    const content = body.bytes.subarray(0, body.length - lineEnd.length);
    return this.#rules.change({ leaf, content, longLine });
  }

  /** Between parts, or in a part whose header says nothing. */
  #obstacle(): Obstacle {
    return this.#open.innermost?.isSealed ? 'sealed' : 'plain';
  }

  /** What is held leaves as it came. */
  #release(obstacle: Obstacle): void {
    const place = this.#place;
    if (place.kind === 'passing') return;
    if (place.kind === 'header') {
      this.#out.push(...place.bytes.blocks);
    } else if (place.kind === 'encoding') {
      this.#rules.onLongLine(place.longLine, obstacle);
    } else {
      if (place.longLine !== null) this.#rules.onLongLine(place.longLine, obstacle);
      if (place.header !== null) this.#out.push(place.header, CRLF);
      this.#out.push(...place.body.blocks);
    }
    this.#place = { kind: 'passing', obstacle };
  }

  /** Readers may see different parts from here on, so nothing is changed any more. */
  #giveUp(): void {
    this.#release(this.#obstacle());
    this.#open.keep(0);
  }
}
