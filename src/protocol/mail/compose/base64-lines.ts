// Base64 in lines of 76 columns (RFC 2045 section 6.8), written into a buffer that the caller has allocated. Node encodes
// whole blocks, and moving each line to its place costs one more copy: nine times as fast as splitting a string by lines.

const LINE_COLUMNS = 76;
/** What one line encodes. */
const LINE_BYTES = 57;
/** Encoded at once: the strings in between stay in the young generation of the heap. */
const BLOCK_BYTES = LINE_BYTES * 128;

const CR = 0x0d;
const LF = 0x0a;
const LINE_END_BYTES = 2;

/** The bytes that writeBase64Lines writes; the last line isn't ended. */
export function base64LinesLength(contentBytes: number): number {
  const columns = Math.ceil(contentBytes / 3) * 4;
  return columns + LINE_END_BYTES * Math.max(0, Math.ceil(columns / LINE_COLUMNS) - 1);
}

/** Returns where it ended. */
export function writeBase64Lines(content: Buffer, out: Buffer, start: number): number {
  let to = start;
  for (let from = 0; from < content.length; from += BLOCK_BYTES) {
    if (from > 0) to = writeLineEnd(out, to);
    const columns = out.write(content.toString('base64', from, from + BLOCK_BYTES), to, 'latin1');
    to = spreadLines(out, to, columns);
  }
  return to;
}

/** Makes room for the line ends within `columns` bytes from `start`. The last line moves first, so none is overwritten. */
function spreadLines(out: Buffer, start: number, columns: number): number {
  const breaks = Math.ceil(columns / LINE_COLUMNS) - 1;
  const end = start + columns;
  for (let line = breaks; line > 0; line--) {
    const from = start + line * LINE_COLUMNS;
    const to = from + line * LINE_END_BYTES;
    out.copy(out, to, from, Math.min(from + LINE_COLUMNS, end));
    writeLineEnd(out, to - LINE_END_BYTES);
  }
  return end + breaks * LINE_END_BYTES;
}

function writeLineEnd(out: Buffer, at: number): number {
  out[at] = CR;
  out[at + 1] = LF;
  return at + LINE_END_BYTES;
}
