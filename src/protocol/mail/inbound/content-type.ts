// Reads Content-Type: RFC 2045 section 5.1, with RFC 2231 continuations, leniently.

export interface ContentType {
  /** In lower case, such as `text/plain`. */
  type: string;
  /** Names in lower case. */
  parameters: ReadonlyMap<string, string>;
}

const TYPE = /^\s*"?([\w!#$&^.+-]{1,80}\/[\w!#$&^.+-]{1,80})/;
// A boundary may contain characters that need quotes, and still lack them.
const PARAMETER = /;\s*([\w!#$&^.+*-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.){0,1000})"|([^;"\s][^;"]{0,1000}))/g;
const MAX_PARAMETERS = 50;

export function readContentType(value: string | null): ContentType {
  const type = value === null ? undefined : TYPE.exec(value)?.[1]?.toLowerCase();
  if (value === null || type === undefined) return { type: 'text/plain', parameters: new Map() };
  const parameters = new Map<string, string>();
  for (const [, name, quoted, bare] of value.matchAll(PARAMETER)) {
    if (parameters.size >= MAX_PARAMETERS) break;
    // `boundary*0="a"; boundary*1="b"`: RFC 2231 section 3.
    const plain = name!.toLowerCase().replace(/\*\d{0,3}\*?$/, '');
    const text = quoted?.replace(/\\(.)/gs, '$1') ?? bare!.trim();
    parameters.set(plain, (/\*\d/.test(name!) ? (parameters.get(plain) ?? '') : '') + text);
  }
  return { type, parameters };
}
