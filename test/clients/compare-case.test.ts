// The comparison notices what a library does wrong: each offence alone, against a case that is
// otherwise kept. And the cases themselves make sense.
import t from 'tap';
import type { Case, CaughtError, JsonObject, Outcome } from '../../clients/conformance/case-format.ts';
import type { RecordedRequest } from '../../clients/conformance/server.ts';
import { judge, LATE_MS, type Played } from './compare-case.ts';
import { readCases, readWebhookCases } from './read-cases.ts';

const BODY = Buffer.from('{"to":"jo@example.org","text":"Ω"}');

const request = (change: Partial<RecordedRequest> = {}, headers: Record<string, string | undefined> = {}) => ({
  ...{ atMs: 0, method: 'POST', path: '/emails', body: BODY },
  headers: {
    authorization: 'Bearer pr_key_of_this_case',
    'user-agent': 'postrider-node/0.1.0',
    accept: 'application/json',
    'content-type': 'application/json',
    'idempotency-key': 'k',
    ...headers,
  },
  ...change,
});

const COPY = { to: ['a@b.c'], cc: 'd@e.f', bcc: ['g@h.i'], reply_to: 'j@k.l' };

const RETRIED: Case = {
  name: 'retried',
  call: { method: 'emails.send', args: {} },
  answers: [{ status: 500 }, { status: 202 }],
  expect: {
    requests: [
      { method: 'POST', path: '/emails', body: { to: ['jo@example.org'], text: 'Ω' } },
      { method: 'POST', path: '/emails', after_ms: [250, 300] },
    ],
    result: { id: '1' },
  },
};

const ERROR: CaughtError = {
  ...{
    class: 'ServerError',
    base: true,
    status: 500,
    code: 'internal_error',
    message: 'try again',
    request_id: 'req_1',
  },
  ...{ timeout: null, retry_after: null, domain: null, check: null, index: null, text: 'ServerError: try again' },
};

function problems(requests: RecordedRequest[], outcome: Partial<Outcome>, change: Partial<Case> = {}): string {
  const played: Played = {
    case: { ...RETRIED, ...change },
    language: 'node',
    apiKey: 'pr_key_of_this_case',
    requests,
    outcome: { name: 'retried', ...outcome },
  };
  return judge(played, LATE_MS).problems.join('; ');
}

const GOOD = { result: { id: '1', more: true } };
const second = (headers: Record<string, string | undefined> = {}) => request({ atMs: 270 }, headers);

t.test('requests', async (t) => {
  const offence = (what: RegExp, ...requests: RecordedRequest[]) => t.match(problems(requests, GOOD), what);
  t.equal(problems([request(), second()], GOOD), '', 'nothing is wrong');
  offence(/1 requests in place of 2/, request());
  offence(/came 240 ms after/, request(), request({ atMs: 240 }));
  offence(/came 900 ms after/, request(), request({ atMs: 900 }));
  offence(/authorization is undefined/, request({}, { authorization: undefined }), second());
  offence(/authorization is Bearer other/, request({}, { authorization: 'Bearer other' }), second());
  offence(/user-agent is curl/, request({}, { 'user-agent': 'curl' }), second());
  offence(/content-type is undefined/, request({}, { 'content-type': undefined }), second());
  offence(/idempotency-key is undefined/, request({}, { 'idempotency-key': undefined }), second());
  offence(/of a retry is not the same/, request(), second({ 'idempotency-key': 'other' }));
  offence(/asks for an upgrade/, request({}, { upgrade: 'h2c' }), second());
  offence(
    /the body is .*"Gruss"/,
    request({ body: Buffer.from('{"to":["jo@example.org"],"text":"Gruss"}') }),
    second(),
  );
  offence(/no JSON in UTF-8/, request({ body: Buffer.from('{"to":"\xff"}', 'latin1') }), second());
  offence(/PUT in place of POST/, request({ method: 'PUT' }), second());
  offence(/path \/\/emails/, request({ path: '//emails' }), second());
});

t.test('one address may be sent as a string or as a list', async (t) => {
  const expect = { ...RETRIED.expect, requests: [{ method: 'POST', path: '/emails', body: COPY }] };
  const sent = (body: JsonObject) =>
    problems([request({ body: Buffer.from(JSON.stringify(body)) })], GOOD, { expect, answers: [{ status: 202 }] });
  t.equal(sent({ to: 'a@b.c', cc: ['d@e.f'], bcc: 'g@h.i', reply_to: ['j@k.l'] }), '');
  t.match(sent({ ...COPY, cc: ['x@e.f'] }), /the body is/);
  t.match(sent({ ...COPY, tags: { kind: 'order' } }), /the body is/, 'what was not given is not sent');
});

t.test('the emails of a batch', async (t) => {
  const emails = [COPY, { ...COPY, to: 'x@y.z' }];
  const expect = { ...RETRIED.expect, requests: [{ method: 'POST', path: '/emails/batch', body: { emails } }] };
  const sent = (body: JsonObject, headers = {}) => {
    const one = request({ path: '/emails/batch', body: Buffer.from(JSON.stringify(body)) }, headers);
    return problems([one], GOOD, { expect, answers: [{ status: 202 }] });
  };
  t.equal(sent({ emails: [COPY, { ...COPY, to: ['x@y.z'] }] }), '', 'may have one address as a list');
  t.match(sent({ emails: [COPY] }), /the body is/);
  t.match(sent({ emails }, { 'idempotency-key': undefined }), /idempotency-key is undefined/);
});

t.test('which calls have a body, and which a key', async (t) => {
  const sent = (method: string, path: string, body: string) => {
    const expect = { ...RETRIED.expect, requests: [{ method, path }] };
    const type = { 'content-type': body === '' ? undefined : 'application/json', 'idempotency-key': undefined };
    return problems([request({ method, path, body: Buffer.from(body) }, type)], GOOD, { expect, answers: [{}] });
  };
  t.equal(sent('PATCH', '/webhooks/1', '{}'), '');
  t.match(sent('PATCH', '/webhooks/1', ''), /has no body/);
  for (const path of [
    'submissions/1/cancel',
    'webhooks/1/rotate',
    'webhooks/1/test',
    'webhooks/1/deliveries/2/replay',
  ]) {
    t.equal(sent('POST', `/${path}`, ''), '', path);
    t.match(sent('POST', `/${path}`, '{}'), /has a body/);
  }
  t.match(sent('POST', '/emails', '{}'), /idempotency-key is undefined/);
  t.equal(sent('POST', '/suppressions', '{}'), '', 'only what takes mail has a key');
});

t.test('the parameters of a query may be in any order', async (t) => {
  const wanted = '/emails?to=a%2Bb%40c.d&tag=x%3Ay';
  const asked = (path: string) => {
    const get = { method: 'GET', body: Buffer.alloc(0) };
    const headers = { 'content-type': undefined, 'idempotency-key': undefined };
    const expect = { ...RETRIED.expect, requests: [{ method: 'GET', path: wanted }] };
    return problems([request({ ...get, path }, headers)], GOOD, { expect, answers: [{}] });
  };
  t.equal(asked(wanted), '');
  t.equal(asked('/emails?tag=x:y&to=a%2Bb@c.d'), '');
  for (const path of ['/emails?tag=x:y&to=a+b@c.d', '/emails?tag=x:y', `${wanted}&state=`, `/v1${wanted}`, '/emails'])
    t.match(asked(path), /path /, path);
});

t.test('outcomes', async (t) => {
  const requests = [request(), second()];
  t.match(problems(requests, { result: { id: '2' } }), /the result.id is "2" in place of "1"/);
  t.match(problems(requests, { error: ERROR }), /an error: ServerError internal_error/);
  const failing = (change: Partial<CaughtError>) => {
    const error = { class: 'ServerError', index: null, message_matches: '^try' };
    const expect = { ...RETRIED.expect, result: undefined, error };
    return problems(requests, { error: { ...ERROR, ...change } }, { expect });
  };
  t.equal(failing({}), '', 'nothing is wrong');
  t.match(failing({ class: 'NetworkError' }), /class of the error is "NetworkError"/);
  t.match(failing({ index: 0 }), /index of the error is 0/);
  t.match(failing({ base: false }), /not of the base class/);
  t.match(failing({ message: 'no' }), /does not fit/);
  t.match(failing({ message: 'try <html>' }), /is HTML/);
  t.match(failing({ text: 'Bearer pr_key_of_this_case' }), /a key or secret is shown/);
});

t.test('times that a busy machine may have moved are looked at again, others are not', async (t) => {
  const verdict = (one: Case, atMs: number) =>
    judge(
      {
        case: one,
        language: 'node',
        apiKey: 'pr_key_of_this_case',
        requests: [request(), request({ atMs })],
        outcome: { name: 'x', ...GOOD },
      },
      LATE_MS,
    ).mayBeTheMachine;
  const silent = { ...RETRIED, answers: [{ silent: true }, { status: 202 }] };
  t.equal(verdict(RETRIED, 900), true, 'too late');
  t.equal(verdict(RETRIED, 100), false, 'too early');
  t.equal(verdict(silent, 100), true, 'too early after a timeout, which runs from before the arrival');
});

t.test('the cases', async (t) => {
  const cases = [...readCases(), ...readWebhookCases(0)];
  const names = cases.map(({ name }) => name);
  t.same([...new Set(names)], names, 'each has a name of its own');
  for (const { name, answers, expect } of cases) {
    const hasOne = (expect.error === undefined) !== (expect.result === undefined);
    const open = expect.requests.length - answers.length;
    if (!hasOne || open > 0) t.fail(`${name}: one result or error, and an answer to each request`);
  }
});
