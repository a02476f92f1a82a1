// Compares what a client library did with what a case expects: the requests that arrived, their
// times, and what the caller got. Knows also what holds for every case (clients/conformance/README.md).
import { isDeepStrictEqual } from 'node:util';
import type {
  Case,
  CaughtError,
  ExpectedError,
  ExpectedRequest,
  Json,
  JsonObject,
  Outcome,
} from '../../clients/conformance/case-format.ts';
import type { RecordedRequest } from '../../clients/conformance/server.ts';
import { patience } from '../support/patience.ts';

export interface Played {
  case: Case;
  language: string;
  apiKey: string;
  requests: readonly RecordedRequest[];
  outcome: Outcome;
}

export interface Verdict {
  problems: string[];
  /** Nothing is wrong but what a busy machine may have done: worth another look when there is less to do. */
  mayBeTheMachine: boolean;
}

/** Clocks of two processes, timers that round: never earlier than this. */
const EARLY_MS = 3;
/** A timeout runs from when the client began, which is before its request arrived. */
const EARLY_AFTER_SILENCE_MS = 60;
/** What a machine with other work may add. On a quiet one less than the step from one wait to the next. */
export const LATE_MS = 200;

export function judge(played: Played, lateMs = patience(LATE_MS)): Verdict {
  const times = timeProblems(played, lateMs);
  const certain = [...requestProblems(played), ...outcomeProblems(played), ...times.certain];
  const problems = [...certain, ...times.doubtful];
  // A timeout of half a second can be over before a busy machine has connected.
  const isShort = typeof played.case.options?.timeout_ms === 'number';
  return { problems, mayBeTheMachine: problems.length > 0 && (certain.length === 0 || isShort) };
}

function requestProblems({ case: one, requests, apiKey, language }: Played): string[] {
  const expected = one.expect.requests;
  if (requests.length !== expected.length) {
    const seen = requests.map(({ method, path }) => `${method} ${path}`).join(', ');
    return [`${requests.length} requests in place of ${expected.length}: ${seen}`];
  }
  const each = requests.flatMap((request, index) => [
    ...oneRequest(request, expected[index]!),
    ...rulesOfAllRequests(request, { apiKey, language, wanted: expected[index]! }),
  ]);
  return [...each, ...sameOverAttempts(requests)];
}

function oneRequest(request: RecordedRequest, expected: ExpectedRequest): string[] {
  const problems: string[] = [];
  if (request.method !== expected.method) problems.push(`${request.method} in place of ${expected.method}`);
  if (!samePath(expected.path, request.path)) problems.push(`path ${request.path} in place of ${expected.path}`);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const given = request.headers[name] as string | undefined;
    if (value === null ? given !== undefined : !fits(value, given ?? '')) {
      problems.push(`header ${name} is ${JSON.stringify(given)} in place of ${JSON.stringify(value)}`);
    }
  }
  if (expected.body !== undefined) problems.push(...bodyProblems(request.body, expected.body));
  return problems;
}

/** `/^…/` is a pattern, in any case of letters. */
function fits(expected: string, given: string): boolean {
  const pattern = /^\/(\^.*)\/$/s.exec(expected);
  return pattern === null ? expected === given : new RegExp(pattern[1]!, 'iu').test(given);
}

/** The parameters of a query may be in any order, and be encoded as they like. */
function samePath(expected: string, given: string): boolean {
  const [path, query] = given.split(/\?(.*)/s);
  const [wantedPath, wantedQuery] = expected.split(/\?(.*)/s);
  const bothHaveOne = query !== undefined && wantedQuery !== undefined;
  if (expected.startsWith('/^') || !bothHaveOne) return fits(expected, given);
  return path === wantedPath && isDeepStrictEqual(parametersOf(query), parametersOf(wantedQuery));
}

function parametersOf(query: string): string[] {
  return [...new URLSearchParams(query)].map(([name, value]) => JSON.stringify([name, value])).sort();
}

function bodyProblems(body: Buffer, expected: Json): string[] {
  let parsed: JsonObject;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as JsonObject;
  } catch (error) {
    return [`the body is no JSON in UTF-8: ${(error as Error).message}`];
  }
  if (isDeepStrictEqual(withLists(parsed), withLists(expected as JsonObject))) return [];
  return [`the body is ${short(parsed)} in place of ${short(expected)}`];
}

/** One address may be sent as a string or as a list, also in the emails of a batch. */
function withLists(body: JsonObject): JsonObject {
  const lists = ADDRESSES.filter((name) => typeof body?.[name] === 'string').map((name) => [name, [body[name]!]]);
  if (Array.isArray(body?.emails)) lists.push(['emails', body.emails.map((email) => withLists(email as JsonObject))]);
  return lists.length === 0 ? body : { ...body, ...Object.fromEntries(lists) };
}

const ADDRESSES = ['to', 'cc', 'bcc', 'reply_to'];
const WITH_BODY = ['POST', 'PUT', 'PATCH'];
/** Paths of calls that say all in their path. */
const WITHOUT_BODY = /\/(verify|cancel|rotate|test|replay)$/;
/** Paths of calls that take mail. */
const KEYED = /\/emails(\/batch)?$/;

function rulesOfAllRequests(
  { method, path, headers, body }: RecordedRequest,
  { apiKey, language, wanted }: { apiKey: string; language: string; wanted: ExpectedRequest },
): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, problem: string) => {
    if (!holds) problems.push(`${method} ${path}: ${problem}`);
  };
  const isHealth = path.endsWith('/healthz');
  const hasBody = WITH_BODY.includes(method) && !WITHOUT_BODY.test(path);
  const authorization = wanted.headers?.authorization ?? `Bearer ${apiKey}`;
  const agent = new RegExp(`^postrider-${language}/\\d+\\.\\d+\\.\\d+`);
  must(headers.authorization === (isHealth ? undefined : authorization), `authorization is ${headers.authorization}`);
  must(agent.test(headers['user-agent'] ?? ''), `user-agent is ${headers['user-agent']}`);
  must(headers.accept === 'application/json', `accept is ${headers.accept}`);
  must(headers.upgrade === undefined, 'asks for an upgrade');
  must(hasBody === body.length > 0, hasBody ? 'has no body' : 'has a body');
  const type = headers['content-type'];
  must(
    hasBody ? /^application\/json(; *charset=utf-8)?$/i.test(type ?? '') : type === undefined,
    `content-type is ${type}`,
  );
  const keyed = method === 'POST' && KEYED.test(path);
  const key = headers['idempotency-key'];
  must(keyed === (key !== undefined), `idempotency-key is ${key}`);
  return problems;
}

function sameOverAttempts(requests: readonly RecordedRequest[]): string[] {
  const [first, ...others] = requests;
  const other = others.find(
    ({ headers, body, path }) =>
      headers['idempotency-key'] !== first?.headers['idempotency-key'] ||
      !body.equals(first!.body) ||
      path !== first?.path,
  );
  return other === undefined ? [] : ['path, body or idempotency-key of a retry is not the same'];
}

function timeProblems({ case: one, requests }: Played, lateMs: number): { certain: string[]; doubtful: string[] } {
  const found = { certain: [] as string[], doubtful: [] as string[] };
  for (const [index, { after_ms }] of one.expect.requests.entries()) {
    const [before, request] = [requests[index - 1], requests[index]];
    if (after_ms === undefined || before === undefined || request === undefined) continue;
    const ms = request.atMs - before.atMs;
    const answer = one.answers[index - 1] ?? {};
    const wasSilent = Boolean(answer.silent || answer.stall || answer.trickle);
    const isEarly = ms < after_ms[0] - (wasSilent ? EARLY_AFTER_SILENCE_MS : EARLY_MS);
    if (!isEarly && ms <= after_ms[1] + lateMs) continue;
    const problem = `request ${index + 1} came ${ms.toFixed()} ms after the one before, not ${after_ms.join('–')}`;
    found[isEarly && !wasSilent ? 'certain' : 'doubtful'].push(problem);
  }
  return found;
}

function outcomeProblems({ case: one, outcome, apiKey }: Played): string[] {
  const { result, error } = one.expect;
  if (error !== undefined) {
    if (!outcome.error) return [`no error, but ${short(outcome.result ?? null)}`];
    const secrets = [apiKey, ...secretsOf(one)];
    return [...errorProblems(outcome.error, error), ...rulesOfAllErrors(outcome.error, secrets)];
  }
  if (outcome.error) return [`an error: ${outcome.error.class} ${outcome.error.code}: ${outcome.error.message}`];
  const shown = one.call.method === 'inspect' && String(outcome.result).includes(apiKey);
  if (shown) return [`the key is shown: ${outcome.result}`];
  return contains(outcome.result ?? null, result ?? null, 'the result');
}

/** What must not appear in what people read. */
function secretsOf({ call, options }: Case): string[] {
  const given = [call.method === 'verify_webhook' ? call.args.secret : '', options?.api_key, 'hunter2'];
  return given.filter(
    (secret): secret is string => typeof secret === 'string' && secret.replace('whsec_', '').length > 6,
  );
}

function errorProblems(error: CaughtError, { message_matches, ...fields }: ExpectedError): string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const given = error[name as keyof CaughtError] ?? null;
    const same = typeof value === 'object' && value !== null ? contains(given, value as Json, name) : [];
    if (typeof value === 'object' && value !== null) problems.push(...same);
    else if (given !== value) problems.push(`${name} of the error is ${short(given)} in place of ${short(value)}`);
  }
  if (message_matches !== undefined && !new RegExp(message_matches, 'iu').test(error.message)) {
    problems.push(`the message is "${error.message}" and does not fit /${message_matches}/`);
  }
  return problems;
}

function rulesOfAllErrors(error: CaughtError, secrets: string[]): string[] {
  const problems: string[] = [];
  if (!error.base) problems.push(`${error.class} is not of the base class`);
  if (!error.message?.trim()) problems.push('the error has no message');
  const shown = `${error.message}\n${error.text}`;
  for (const secret of secrets) if (shown.includes(secret)) problems.push(`a key or secret is shown: ${shown}`);
  if (/<\/?(html|head|body|h1)/i.test(error.message)) problems.push(`the message is HTML: ${error.message}`);
  return problems;
}

/** What is expected must be there; further fields of objects may. */
export function contains(given: Json | undefined, expected: Json, place: string): string[] {
  if (typeof expected === 'string' && typeof given === 'string' && fits(expected, given)) return [];
  if (Array.isArray(expected) && Array.isArray(given) && expected.length === given.length) {
    return expected.flatMap((part, index) => contains(given[index], part, `${place}[${index}]`));
  }
  if (isObject(expected) && isObject(given)) {
    return Object.entries(expected).flatMap(([name, part]) => contains(given[name] ?? null, part, `${place}.${name}`));
  }
  return isDeepStrictEqual(given, expected)
    ? []
    : [`${place} is ${short(given ?? null)} in place of ${short(expected)}`];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SHORT = 600;

function short(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}
