// Public content that does not change while the daemon runs: loaded at the first request, validated by its ETag (RFC
// 9110 section 13.1.2), compressed once. Supports neither ranges nor codings other than gzip.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpReply, HttpRequest } from './http.ts';

export interface StaticContent {
  mediaType: string;
  /** The value of Cache-Control. */
  cache: string;
  headers?: Readonly<Record<string, string>>;
  /** Called once, and again only after it has failed. */
  load(): Promise<Buffer>;
}

const compress = promisify(gzip);

export function staticPage(content: StaticContent): (request: HttpRequest) => Promise<HttpReply> {
  const plain = memoized(async () => {
    const bytes = await content.load();
    // Weak, because the compressed form has the same ETag.
    return { bytes, etag: `W/"${contentHash(bytes)}"` };
  });
  const compressed = memoized(async () => compress((await plain()).bytes));

  return async (request) => {
    const { bytes, etag } = await plain();
    const headers = {
      ...content.headers,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': content.cache,
      ETag: etag,
      Vary: 'Accept-Encoding',
    };
    if (matchesEtag(request.header('if-none-match'), etag)) return { status: 304, headers };
    const reply = { status: 200, headers: { ...headers, 'Content-Type': content.mediaType }, body: bytes };
    if (!acceptsGzip(request.header('accept-encoding'))) return reply;
    return { ...reply, headers: { ...reply.headers, 'Content-Encoding': 'gzip' }, body: await compressed() };
  };
}

/** A name for a content; short enough for a path. */
export function contentHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

function memoized<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** The weak comparison of RFC 9110 section 13.1.2. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const given = ifNoneMatch?.split(',').map((tag) => tag.trim()) ?? [];
  return given.some((tag) => tag === '*' || tag === etag || `W/${tag}` === etag);
}

/** RFC 9110 section 12.5.3: a weight of 0 means "not acceptable". */
function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const gzip = acceptEncoding?.split(',').find((coding) => /^\s*gzip\s*(?:;|$)/i.test(coding));
  return gzip !== undefined && !/;\s*q=0(?:\.0*)?\s*$/i.test(gzip);
}
