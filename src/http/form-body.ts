// What a form of a page sends: fields, and files where it has some. Limits on size are the reader's;
// here on how many parts there are.
import { type FormBody, type FormFile, parseMultipart } from './multipart.ts';

const NO_FILES: ReadonlyMap<string, FormFile> = new Map();

/** Null when it is no form, or not a readable one. */
export function parseFormBody(contentType: string | undefined, bytes: Buffer): FormBody | null {
  const mediaType = /^[^;]*/
    .exec(contentType ?? '')![0]
    .trim()
    .toLowerCase();
  if (mediaType === 'application/x-www-form-urlencoded') {
    return { fields: new URLSearchParams(bytes.toString('utf8')), files: NO_FILES };
  }
  return mediaType === 'multipart/form-data' ? parseMultipart(contentType!, bytes) : null;
}
