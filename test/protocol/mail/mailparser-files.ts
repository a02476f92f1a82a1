// What mailparser makes of the names and types of files, which a comparison must not mind.

interface ReadFile {
  filename: string;
  type: string;
}

const ENCODED_WORD = /=\?[^?]+\?[QB]\?[^?]*\?=/i;

/**
 * Without what mailparser changes: it decodes what looks like an encoded word, even in a name that RFC 2231 has encoded, and
 * finds a type by the name when it is application/octet-stream.
 */
export function comparable<T extends ReadFile>(files: readonly T[], expected: readonly ReadFile[]): T[] {
  return files.map((file, index) => ({
    ...file,
    filename: ENCODED_WORD.test(expected[index]?.filename ?? '') ? '' : file.filename,
    type: expected[index]?.type === 'application/octet-stream' ? '' : file.type,
  }));
}
