// What the HTTP kernel answers itself, before or instead of a handler, and where an engine cannot even do that. The
// conformance suite checks both engines against these lists, and docs/dependencies.md quotes them.
import type { HttpEngineName } from '../http.ts';

/** Responses of the form `{error, message}` without a handler. */
export const KERNEL_ANSWERS = {
  malformed_request: { status: 400, message: 'the request is not well-formed HTTP' },
  request_timeout: { status: 408, message: 'the request did not arrive in time' },
  headers_too_large: { status: 431, message: 'the request line and header fields exceed 17 KiB' },
  internal_error: { status: 500, message: 'unexpected server error; safe to retry with back-off' },
  unsupported_transfer_encoding: { status: 501, message: 'the only supported Transfer-Encoding is chunked' },
} as const;

export type KernelAnswerCode = keyof typeof KERNEL_ANSWERS;

/**
 * `handler`: the request is answered as any other. `json`: a kernel response. `html`: the engine's own page without
 * Content-Length. `silence`: the connection is closed without a response.
 */
export type AnswerShape =
  | { by: 'handler' }
  | { by: 'json'; code: KernelAnswerCode }
  | { by: 'html'; status: number }
  | { by: 'silence' };

export interface EngineLimit {
  request: string;
  answers: Record<HttpEngineName, AnswerShape>;
}

/** uWebSockets waits for the rest of what it cannot parse, and closes after 11 s. */
const SILENCE: AnswerShape = { by: 'silence' };
const MALFORMED: AnswerShape = { by: 'json', code: 'malformed_request' };

export const ENGINE_LIMITS = {
  http_1_0: {
    request: 'HTTP/1.0',
    answers: { uws: { by: 'html', status: 505 }, node: { by: 'handler' } },
  },
  absolute_target: {
    request: 'a target in absolute form (GET http://host/path)',
    answers: { uws: { by: 'html', status: 505 }, node: { by: 'handler' } },
  },
  asterisk_target: {
    request: 'OPTIONS *',
    answers: { uws: { by: 'html', status: 505 }, node: { by: 'handler' } },
  },
  connect: {
    request: 'CONNECT host:port',
    answers: { uws: { by: 'html', status: 505 }, node: MALFORMED },
  },
  unknown_method: {
    request: 'a method that is in no registry (BREW)',
    answers: { uws: { by: 'handler' }, node: MALFORMED },
  },
  lower_case_method: {
    request: 'a method in lower case (get)',
    answers: { uws: { by: 'handler' }, node: MALFORMED },
  },
  missing_host: {
    request: 'HTTP/1.1 without Host',
    answers: { uws: SILENCE, node: MALFORMED },
  },
  malformed_request_line: {
    request: 'a request line that is none',
    answers: { uws: SILENCE, node: MALFORMED },
  },
  malformed_header_line: {
    request: 'a header line without a colon',
    answers: { uws: SILENCE, node: MALFORMED },
  },
  headers_too_large: {
    request: 'request line and headers over 17 KiB',
    answers: { uws: { by: 'html', status: 431 }, node: { by: 'json', code: 'headers_too_large' } },
  },
  too_many_headers: {
    request: 'more than 98 header lines',
    answers: { uws: { by: 'html', status: 431 }, node: { by: 'handler' } },
  },
  length_and_chunked: {
    request: 'Content-Length together with Transfer-Encoding',
    answers: {
      uws: { by: 'html', status: 400 },
      // Node's parser does not distinguish the two.
      node: { by: 'json', code: 'unsupported_transfer_encoding' },
    },
  },
  unknown_transfer_encoding: {
    request: 'Transfer-Encoding: gzip, with a body that is not chunked',
    answers: { uws: { by: 'html', status: 400 }, node: { by: 'json', code: 'unsupported_transfer_encoding' } },
  },
  malformed_chunk: {
    request: 'a chunk size that is no number, in a body that is being read',
    answers: { uws: { by: 'html', status: 400 }, node: { by: 'handler' } },
  },
  pipelined_behind_pending: {
    request: 'a pipelined request behind one that is still being worked on',
    answers: { uws: SILENCE, node: { by: 'handler' } },
  },
  pipelined_behind_chunks: {
    request: 'a chunked request with another one right behind it',
    answers: { uws: SILENCE, node: { by: 'handler' } },
  },
  trailers: {
    request: 'a chunked request with trailers',
    answers: { uws: { by: 'html', status: 505 }, node: { by: 'handler' } },
  },
} as const satisfies Record<string, EngineLimit>;

export type EngineLimitName = keyof typeof ENGINE_LIMITS;
