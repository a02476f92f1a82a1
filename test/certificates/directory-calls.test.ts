// Calls to a directory: what it says reaches the caller, once, and within limits.
import type { RequestListener } from 'node:http';
import t, { type Test } from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { DirectoryProblem, directoryCalls, TooManyCalls } from '../../src/certificates/directory-calls.ts';
import { startHttpsServer } from '../support/https-server.ts';

type Config = Parameters<ReturnType<typeof directoryCalls>>[0];

async function startDirectory(t: Test, answer: RequestListener) {
  const { origin, ca } = await startHttpsServer(t, answer);
  const call = (
    options: { root?: string | null; signal?: AbortSignal; url?: string; onTime?: (at: number) => void } = {},
  ) => {
    const { root = ca, signal = new AbortController().signal, url = `${origin}/dir`, onTime = () => {} } = options;
    return directoryCalls({ root, signal, onTime })({ url, method: 'get', headers: {} } as Config);
  };
  return { call };
}

t.test('an answer, and the one refusal that the library answers itself', async (t) => {
  const times: number[] = [];
  const nonce = '{"type":"urn:ietf:params:acme:error:badNonce","detail":"no such nonce"}';
  const bodies = [
    { status: 200, body: '{"status":"valid"}' },
    { status: 400, body: nonce },
  ];
  const { call } = await startDirectory(t, (_request, response) => {
    const { status, body } = bodies.shift()!;
    response.writeHead(status, { 'Replay-Nonce': 'n', Date: 'Fri, 27 Nov 2026 10:00:00 GMT' }).end(body);
  });
  const onTime = (at: number) => void times.push(at);
  t.match(await call({ onTime }), { status: 200, headers: { 'replay-nonce': 'n' }, data: '{"status":"valid"}' });
  t.match(await call({ onTime }), { status: 400, data: nonce });
  t.same(times, [Date.UTC(2026, 10, 27, 10), Date.UTC(2026, 10, 27, 10)]);
});

t.test('a refusal says its type, if it has one', async (t) => {
  const bodies = [
    { status: 404, body: '{"type":"urn:ietf:params:acme:error:malformed","detail":"no such order"}' },
    { status: 403, body: '{"type":"about:blank"}' },
    { status: 500, body: '<h1>oops</h1>' },
    { status: 404, body: 'null' },
  ];
  const { call } = await startDirectory(t, (_request, response) => {
    const { status, body } = bodies.shift()!;
    response.writeHead(status).end(body);
  });
  const refused = () =>
    call().then(
      () => t.fail('not refused'),
      (error: unknown) => (error instanceof DirectoryProblem ? error : t.fail('another error')),
    );
  t.match(await refused(), { status: 404, type: 'malformed', message: 'no such order' });
  t.match(await refused(), { status: 403, type: null, message: 'the directory answered 403' });
  t.match(await refused(), { status: 500, type: null, message: 'the directory answered 500' });
  t.match(await refused(), { status: 404, type: null, message: 'the directory answered 404' });
});

t.test('a directory that has had enough is called once, and says for how long', async (t) => {
  let calls = 0;
  const answers = [
    { status: 429, after: '3600', body: '{"detail":"too many certificates"}' },
    { status: 503, after: new Date(Date.now() + 2 * DAY_MS).toUTCString(), body: '<h1>busy</h1>' },
    { status: 429, after: '99999999', body: '' },
    { status: 503, after: 'soon', body: '{}' },
  ];
  const { call } = await startDirectory(t, (_request, response) => {
    const { status, after, body } = answers[calls++]!;
    response.writeHead(status, { 'Retry-After': after }).end(body);
  });
  const refused = async () => {
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof TooManyCalls ? error : t.fail('not refused');
  };
  t.match(await refused(), { message: 'too many certificates', retryAfterMs: 3_600_000 });
  const busy = (await refused()) as TooManyCalls;
  t.equal(busy.message, 'the directory answered 503');
  t.ok(busy.retryAfterMs > DAY_MS && busy.retryAfterMs <= 2 * DAY_MS);
  t.match(await refused(), { retryAfterMs: 7 * DAY_MS }, 'a week at most');
  t.match(await refused(), { retryAfterMs: 0 });
  t.equal(calls, 4);
});

t.test('what is no directory', async (t) => {
  const { call } = await startDirectory(t, (_request, response) => {
    response.end(Buffer.alloc(300 * 1024));
  });
  await t.rejects(call(), { message: /^localhost:\d+ could not be called: its answer is too large$/ });
  await t.rejects(call({ root: null }), { message: /could not be called: .*certificate/ });
  await t.rejects(call({ url: 'http://localhost/' }), { message: /not https/ });
  await t.rejects(call({ signal: AbortSignal.abort() }), { message: /could not be called/ });
});
