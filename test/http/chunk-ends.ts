// Ways in which a chunked body ends (RFC 9112 section 7.1), well-formed or not, each with bytes
// behind it that a server must not take for a request of somebody else.

export interface ChunkEnd {
  about: string;
  /** Behind the header. `HOST` stands where a Host field has to. */
  bytes: string;
  /** Only behind an end as the RFC has it may another request follow. */
  wellFormed: boolean;
}

/** What no server may ever serve. */
export const SMUGGLED = '/smuggled';
/** A request in its own right, which may be served after a well-formed end. */
export const NEXT = '/next';

const HOST = 'Host: api.test\r\n';
export const NEXT_REQUEST = `GET ${NEXT} HTTP/1.1\r\n${HOST}\r\n`;
const SMUGGLED_REQUEST = `GET ${SMUGGLED} HTTP/1.1\r\n${HOST}\r\n`;
const CHUNK = '5\r\nhello\r\n';

const WELL_FORMED: Record<string, string> = {
  'no trailer': `${CHUNK}0\r\n\r\n`,
  'one trailer': `${CHUNK}0\r\nX-Checksum: abc\r\n\r\n`,
  'several trailers': `${CHUNK}0\r\nX-Checksum: abc\r\nX-Other: def\r\nHost: other.test\r\n\r\n`,
  'a trailer that names a request': `${CHUNK}0\r\nX-Checksum: GET ${SMUGGLED} HTTP/1.1\r\n\r\n`,
  'a chunk extension': `${CHUNK}0;name=value\r\n\r\n`,
  'several zeros': `${CHUNK}000\r\n\r\n`,
};

const MALFORMED: Record<string, string> = {
  'two octets in the place of the empty line': `${CHUNK}0\r\nXX${SMUGGLED_REQUEST}`,
  'no empty line': `${CHUNK}0\r\n${SMUGGLED_REQUEST}`,
  'a request after one octet': `${CHUNK}0\r\n\r${SMUGGLED_REQUEST}`,
  'line feeds alone': `${CHUNK}0\n\n${SMUGGLED_REQUEST}`,
  'a line feed for the empty line': `${CHUNK}0\r\n\n${SMUGGLED_REQUEST}`,
  'a carriage return alone': `${CHUNK}0\r\r${SMUGGLED_REQUEST}`,
  'a space before the line end': `${CHUNK}0 \r\nXX${SMUGGLED_REQUEST}`,
  'a negative size': `${CHUNK}-0\r\n\r\n${SMUGGLED_REQUEST}`,
  'a trailer without a colon': `${CHUNK}0\r\nnonsense\r\n\r\n${SMUGGLED_REQUEST}`,
  'a trailer whose name has a space': `${CHUNK}0\r\nX : 1\r\n\r\n${SMUGGLED_REQUEST}`,
};

export const CHUNK_ENDS: ChunkEnd[] = [
  ...Object.entries(WELL_FORMED).map(([about, bytes]) => ({ about, bytes, wellFormed: true })),
  ...Object.entries(MALFORMED).map(([about, bytes]) => ({ about, bytes, wellFormed: false })),
];

export const CHUNKED_HEAD = `POST /chunked HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;

/** How the bytes arrive: what a parser does can depend on where a read ends. */
export const ARRIVALS: Record<string, (bytes: string) => string[]> = {
  'in one piece': (bytes) => [bytes],
  'cut behind the last chunk': (bytes) => bytes.split(/(?<=\r\n0+[^\r\n]*\r\n)/),
  'cut behind the empty line': (bytes) => bytes.split(/(?<=0\r\n(?:.*\r\n)*?\r\n)/),
};
