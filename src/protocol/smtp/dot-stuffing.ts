// RFC 5321 section 4.5.2: a line that begins with a dot gets a second one, so that no line of the message can be
// mistaken for its end. Lines end at any LF, even a bare one: a server that accepts those must not find an end inside
// the message.

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

const LF_DOT = Buffer.from('\n.');
const END_ON_NEW_LINE = Buffer.from('.\r\n');
const END_AFTER_LINE_BREAK = Buffer.from('\r\n.\r\n');

/** Returns the same bytes, not copied, when no line begins with a dot. `onNewLine`: whether the first byte begins one. */
export function dotStuff(message: Uint8Array, onNewLine = true): Buffer {
  const source = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const dots = leadingDots(source, onNewLine);
  if (dots.length === 0) return source;

  const stuffed = Buffer.allocUnsafe(source.length + dots.length);
  let from = 0;
  let to = 0;
  for (const dot of dots) {
    to += source.copy(stuffed, to, from, dot);
    stuffed[to++] = DOT;
    from = dot;
  }
  source.copy(stuffed, to, from);
  return stuffed;
}

/** The end of DATA: the dot must be on a line of its own (RFC 5321 section 4.1.1.4). */
export function endOfData(message: Uint8Array): Buffer {
  const { length } = message;
  const onNewLine = length === 0 || (message[length - 1] === LF && message[length - 2] === CR);
  return onNewLine ? END_ON_NEW_LINE : END_AFTER_LINE_BREAK;
}

function leadingDots(source: Buffer, onNewLine: boolean): number[] {
  const dots = onNewLine && source[0] === DOT ? [0] : [];
  for (let at = source.indexOf(LF_DOT); at >= 0; at = source.indexOf(LF_DOT, at + 2)) dots.push(at + 1);
  return dots;
}
