// Bodies of up to 5 MiB that cost as much as a body can: many values, many names, characters that take
// several bytes, escapes, depth. Most are refused, and all have to be read before anybody knows that.

const LIMIT_BYTES = 5 * 1024 * 1024;

export interface WorstBody {
  about: string;
  bytes: Buffer;
}

/** `from` is an address of a verified domain: one of the bodies is a mail that is accepted. */
export function worstBodies(from: string, bytes = LIMIT_BYTES): WorstBody[] {
  const head = `{"from":"${from}","to":"jo@example.com","subject":"x",`;
  const filled = (start: string, piece: string, end: string) => {
    const room = bytes - Buffer.byteLength(start) - Buffer.byteLength(end);
    return Buffer.from(start + piece.repeat(Math.floor(room / Buffer.byteLength(piece))) + end);
  };
  const samples: Record<string, Buffer> = {
    'a mail with large html': filled(`${head}"html":"`, 'x', '"}'),
    'many values in data': filled(`${head}"html":"x","data":[`, '{"a":[0]},', '0]}'),
    'many values elsewhere': filled(`${head}"text":"x","headers":[`, '0,', '0]}'),
    'many unknown fields': filled(`${head}`, '"x":0,', '"y":0}'),
    'data repeated': filled(head, '"data":0,', '"text":5}'),
    'a long subject': filled(`{"from":"${from}","to":"a@b.example","text":"x","subject":"`, '\u{1f600}', '"}'),
    'many recipients': filled(`{"from":"${from}","subject":"x","text":"x","to":[`, '"a@b.example",', '"c@d.example"]}'),
    escapes: filled(`${head}"text":7,"html":"`, '\\u00e4', '"}'),
    'several bytes for each character': filled(`${head}"text":7,"html":"`, '€', '"}'),
    depth: filled(`${head}"text":7,"data":`, '[', ''),
    'bytes that are not UTF-8 at the end': filled(`${head}"html":"`, 'é', ''),
  };
  samples['bytes that are not UTF-8 at the end']!.subarray(-2).fill(0xff);
  return Object.entries(samples).map(([about, sample]) => ({ about, bytes: sample }));
}
