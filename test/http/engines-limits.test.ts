// Conformance of both HTTP engines: requests that are malformed or beyond a limit. What is
// answered in another shape than the kernel's is exactly what src/http/engines/engine-limits.ts says.
import t, { type Test } from 'tap';
import {
  type AnswerShape,
  ENGINE_LIMITS,
  type EngineLimitName,
  KERNEL_ANSWERS,
} from '../../src/http/engines/engine-limits.ts';
import type { HttpHandler } from '../../src/http/http.ts';
import type { RawHttp } from '../support/raw-http.ts';
import { overBothEngines } from './both-engines.ts';

const HOST = 'Host: api.test\r\n';
const CHUNKED = `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
const BY_HANDLER = 'by the handler';

const handler: HttpHandler = async (request) => {
  if (request.path === '/pending') await new Promise((resolve) => setImmediate(resolve));
  const body = await request.readBody(1000);
  return { status: body.kind === 'body' ? 200 : 400, headers: { 'X-Path': request.path }, body: BY_HANDLER };
};

/** One sample for every limit on the list. */
const SAMPLES: Record<EngineLimitName, string> = {
  http_1_0: 'GET / HTTP/1.0\r\n\r\n',
  absolute_target: `GET http://api.test/path?a HTTP/1.1\r\n${HOST}\r\n`,
  asterisk_target: `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  connect: `CONNECT api.test:443 HTTP/1.1\r\n${HOST}\r\n`,
  unknown_method: `BREW /coffee HTTP/1.1\r\n${HOST}\r\n`,
  lower_case_method: `get / HTTP/1.1\r\n${HOST}\r\n`,
  missing_host: 'GET / HTTP/1.1\r\n\r\n',
  malformed_request_line: 'NONSENSE\r\n\r\n',
  malformed_header_line: `GET / HTTP/1.1\r\n${HOST}no colon\r\n\r\n`,
  headers_too_large: `GET / HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(20 * 1024)}\r\n\r\n`,
  too_many_headers: `GET / HTTP/1.1\r\n${HOST}${'X-Many: 1\r\n'.repeat(120)}\r\n`,
  length_and_chunked: `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  unknown_transfer_encoding: `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\nGET / HTTP/1.1\r\n${HOST}\r\n`,
  malformed_chunk: `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`,
  pipelined_behind_pending: `GET /pending HTTP/1.1\r\n${HOST}\r\nGET /second HTTP/1.1\r\n${HOST}\r\n`,
  pipelined_behind_chunks: `${CHUNKED}3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\n${HOST}\r\n`,
  trailers: `${CHUNKED}3\r\nabc\r\n0\r\nX-Checksum: abc\r\n\r\n`,
};

for (const name of Object.keys(ENGINE_LIMITS) as EngineLimitName[]) {
  overBothEngines(t, ENGINE_LIMITS[name].request, async ({ t, engine, serve }) => {
    const expected: AnswerShape = ENGINE_LIMITS[name].answers[engine];
    const connection = await (await serve(handler)).connect();
    await connection.send(SAMPLES[name]);
    if (expected.by === 'silence') {
      connection.end();
      t.equal(await connection.rest(), '', 'closed without a word');
    } else {
      await isAnsweredAs(t, connection, expected);
    }
  });
}

async function isAnsweredAs(t: Test, connection: RawHttp, expected: Exclude<AnswerShape, { by: 'silence' }>) {
  const answer = await connection.answer();
  if (expected.by === 'handler') {
    t.equal(answer.text, BY_HANDLER);
  } else if (expected.by === 'html') {
    t.equal(answer.status, expected.status);
    t.match(answer.text, /^<h1>/);
  } else {
    const { status, message } = KERNEL_ANSWERS[expected.code];
    t.equal(answer.status, status);
    t.equal(answer.headers.get('content-type'), 'application/json');
    t.same(JSON.parse(answer.text), { error: expected.code, message });
    t.equal(await connection.rest(), '', 'the connection ends');
  }
}

overBothEngines(t, 'takes 15 KiB of headers', async ({ t, serve }) => {
  const server = await serve((request) => ({ status: 200, body: String(request.header('x-large')?.length) }));
  const connection = await server.connect();
  for (const size of [15 * 1024, 16 * 1024 - 200]) {
    await connection.send(`GET / HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(size)}\r\n\r\n`);
    t.equal((await connection.answer()).text, String(size));
  }
});

overBothEngines(t, 'refuses framing that two servers could read differently', async ({ t, serve }) => {
  const calls: string[] = [];
  const server = await serve((request) => {
    calls.push(request.path);
    return { status: 200 };
  });
  const samples: [name: string, fields: string, status: number, body?: string][] = [
    ['coding before chunked', 'Transfer-Encoding: gzip, chunked\r\n', 501, '5\r\nabcde\r\n0\r\n\r\n'],
    ['unknown coding', 'Transfer-Encoding: gzip\r\n', 501],
    ['two lengths', 'Content-Length: 0\r\nContent-Length: 40\r\n', 400],
    ['no number', 'Content-Length: abc\r\n', 400],
    ['a sign', 'Content-Length: +3\r\n', 400],
    ['an empty length', 'Content-Length: \r\n', 400],
    ['two hosts', 'Host: other.test\r\n', 400],
  ];
  for (const [name, fields, status, body = ''] of samples) {
    const request = `POST /outer HTTP/1.1\r\n${HOST}${fields}\r\n${body}`;
    const connection = await server.connect();
    await connection.send(request);
    t.equal((await connection.answer()).status, status, name);
    t.notMatch(await connection.rest(), 'HTTP/1.1', 'one answer, then the end');
    const smuggler = await server.connect();
    await smuggler.send(`${request}GET /smuggled HTTP/1.1\r\n${HOST}\r\n`);
    t.notMatch(await smuggler.rest(), 'HTTP/1.1 200', `${name}: what follows is not served`);
  }
  t.same(calls, [], 'nothing of it reached the handler');
});
