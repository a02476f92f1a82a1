// multipart/form-data (RFC 7578) as browsers send it: each part has a name, and a file name if it is a file. The bytes
// are already limited; the number of parts is limited here.
export interface FormFile {
  name: string;
  bytes: Buffer;
}

export interface FormBody {
  fields: URLSearchParams;
  files: ReadonlyMap<string, FormFile>;
}

const MAX_PARTS = 100;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Null when it is malformed. */
export function parseMultipart(contentType: string, bytes: Buffer): FormBody | null {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return null;
  const fields = new URLSearchParams();
  const files = new Map<string, FormFile>();
  const parts = splitParts(bytes, boundary);
  for (const part of parts ?? []) {
    const headEnd = part.indexOf(HEAD_END);
    if (headEnd < 0) return null;
    const disposition = dispositionOf(part.subarray(0, headEnd).toString('utf8'));
    if (disposition === null) return null;
    const content = part.subarray(headEnd + HEAD_END.length);
    if (disposition.file === null) fields.append(disposition.name, content.toString('utf8'));
    else files.set(disposition.name, { name: disposition.file, bytes: content });
  }
  return parts === null ? null : { fields, files };
}

/** RFC 2046 section 5.1.1: at most 70 characters. */
function boundaryOf(contentType: string): string | null {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

function splitParts(bytes: Buffer, boundary: string): Buffer[] | null {
  // The first delimiter may be at the very beginning, without the line end that precedes the others.
  const all = Buffer.concat([Buffer.from('\r\n'), bytes]);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const parts: Buffer[] = [];
  let at = all.indexOf(delimiter);
  while (at >= 0) {
    const start = at + delimiter.length;
    const mark = all.toString('latin1', start, start + 2);
    if (mark === '--') return parts;
    if (mark !== '\r\n' || parts.length === MAX_PARTS) return null;
    at = all.indexOf(delimiter, start);
    // An empty head would begin with the line end that was just read.
    if (at >= 0) parts.push(all.subarray(start + 2, at));
  }
  return null;
}

function dispositionOf(head: string): { name: string; file: string | null } | null {
  const line = head.split('\r\n').find((field) => /^content-disposition\s*:/i.test(field));
  const parameters = parametersOf(line ?? '');
  const name = parameters.get('name');
  return name === undefined || name === '' ? null : { name, file: parameters.get('filename') ?? null };
}

const PARAMETER = /;\s*([\w*-]+)="([^"]*)"\s*/y;

/** Parsed one after the other, since a value may look like the next parameter. Anything after them is ignored. */
function parametersOf(line: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const start = line.indexOf(';');
  PARAMETER.lastIndex = start;
  for (let found = start < 0 ? null : PARAMETER.exec(line); found; found = PARAMETER.exec(line)) {
    const name = found[1]!.toLowerCase();
    if (!parameters.has(name)) parameters.set(name, unescaped(found[2]!));
  }
  return parameters;
}

/** Browsers encode quotes and line ends in a name as %22, %0D and %0A (HTML standard). */
function unescaped(text: string): string {
  return text.replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n');
}
