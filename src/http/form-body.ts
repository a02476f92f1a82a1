// The body of a submitted form: fields, and files if it has any. The reader limits the size; here the number of parts
// is limited.
import { type FormBody, type FormFile, parseMultipart } from './multipart.ts';

const NO_FILES: ReadonlyMap<string, FormFile> = new Map();

/** Null when it is not a form, or cannot be parsed. */
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
