// The parts of the Resend door that need no service: the words of scheduled_at, the encodings of attachments, the last
// event, pages, and the names of refusals.
import t from 'tap';
import { readContent } from '../../../src/api/resend/attachment-content.ts';
import { lastEventOf, leastOf } from '../../../src/api/resend/last-event.ts';
import { pageOf } from '../../../src/api/resend/list-page.ts';
import { resendRefusal } from '../../../src/api/resend/resend-errors.ts';
import { readScheduledAt } from '../../../src/api/resend/scheduled-at.ts';
import { REFUSALS, type RefusalCode, refuse } from '../../../src/base/refusals.ts';
import type { EventType, StoredEvent } from '../../../src/store/events.ts';

const NOW = Date.UTC(2026, 10, 25, 21, 30);

t.test('scheduled_at in words', async (t) => {
  const words: [text: string, sendAt: string][] = [
    ['in 1 min', '2026-11-25T21:31:00.000Z'],
    ['in 90 mins', '2026-11-25T23:00:00.000Z'],
    ['In 1 Minute', '2026-11-25T21:31:00.000Z'],
    ['  in  30  minutes ', '2026-11-25T22:00:00.000Z'],
    ['in 1 hour', '2026-11-25T22:30:00.000Z'],
    ['in 12 hours', '2026-11-26T09:30:00.000Z'],
    ['in 1 day', '2026-11-26T21:30:00.000Z'],
    ['in 30 days', '2026-12-25T21:30:00.000Z'],
    ['in 0 min', '2026-11-25T21:30:00.000Z'],
    ['in 999999 days', '4764-10-21T21:30:00.000Z'],
  ];
  for (const [text, sendAt] of words) t.same(readScheduledAt(text, NOW), { ok: true, sendAt }, text);
});

t.test('a time is for the service to check', async (t) => {
  for (const text of ['2026-11-26T09:00:00.000Z', '2026-11-26T09:00:00+02:00', '2026-13-45', '2026-11-26 09:00']) {
    t.same(readScheduledAt(text, NOW), { ok: true, sendAt: text });
  }
});

t.test('other words are refused with the form of what to write', async (t) => {
  const others = ['tomorrow at 9am', 'in an hour', 'in 5', 'in 5 weeks', 'in -5 min', 'in 1.5 hours', 'in 1234567 min'];
  for (const text of [...others, 'in 5 min please', 'in5min', 'in 5min', '', 'now', 'in 5 minz', 'in 5 h', '٥']) {
    t.match(readScheduledAt(text, NOW), { ok: false, problem: /RFC 3339, such as 2026-11-25T22:30:00\.000Z / }, text);
  }
});

t.test('attachments in three encodings', async (t) => {
  const bytes = [0, 1, 127, 128, 255];
  const base64 = Buffer.from(bytes).toString('base64');
  const asBuffer = JSON.parse(JSON.stringify(Buffer.from(bytes)));
  for (const content of [base64, bytes, asBuffer]) t.same(readContent(content), { ok: true, base64 });
  for (const nothing of ['', [], { type: 'Buffer', data: [] }]) t.same(readContent(nothing), { ok: true, base64: '' });
  t.same(readContent('not base64!'), { ok: true, base64: 'not base64!' }, 'which the service refuses');
  for (const [bad, index] of [
    [[1, 256], 1],
    [[-1], 0],
    [[1.5], 0],
    [[1, 2, '3'], 2],
    [[null], 0],
    [[[1]], 0],
  ] as const) {
    t.match(readContent(bad), { ok: false, problem: `see index ${index}.` });
    t.match(readContent({ type: 'Buffer', data: bad }), { ok: false, problem: `see index ${index}.` });
  }
  for (const bad of [
    {},
    { type: 'Buffer' },
    { type: 'Blob', data: [1] },
    { data: [1] },
    { 0: 1, 1: 2 },
    { ...asBuffer, a: 1 },
  ]) {
    t.match(readContent(bad), { ok: false, problem: /^must be base64, a list of integers/ }, JSON.stringify(bad));
  }
});

t.test('the last event', async (t) => {
  let ids = 0;
  const event = (type: EventType, at: number): StoredEvent => {
    return { id: `${ids++}`, type, at, data: {}, tenantId: 't', messageId: 'm' };
  };
  t.equal(lastEventOf(['queued', 'queued'], []), 'queued');
  t.equal(lastEventOf(['sending', 'delivered'], []), 'sent');
  const delivered = event('email.delivered', 2);
  t.equal(lastEventOf(['delivered'], [event('email.deferred', 1), delivered]), 'delivered');
  t.equal(lastEventOf(['delivered', 'queued'], [delivered]), 'delivered', 'of any of the messages');
  t.equal(lastEventOf(['delivered'], [event('email.opened', 2), delivered]), 'opened', 'of two at once, the later');
  t.equal(lastEventOf(['bounced', 'delivered'], [event('email.bounced', 3), delivered]), 'bounced');
  t.equal(leastOf(['delivered', 'deferred', 'bounced']), 'delivery_delayed');
  t.equal(leastOf(['delivered']), 'delivered');
  t.equal(leastOf(['scheduled', 'scheduled']), 'scheduled');
  t.equal(lastEventOf(['canceled'], [event('email.canceled', 1)]), 'canceled');
  t.equal(leastOf(['failed', 'delivered']), 'failed');
});

t.test('pages', async (t) => {
  const id = (n: number) => `018f0000-0000-7000-8000-00000000000${n}`;
  const all = [1, 2, 3, 4, 5].map((n) => ({ id: id(n) }));
  const page = (query: string) => pageOf(all, new URLSearchParams(query));
  const holds = (query: string, numbers: number[], has_more: boolean) =>
    t.same(page(query), { object: 'list', has_more, data: numbers.map((n) => ({ id: id(n) })) }, query);
  holds('', [1, 2, 3, 4, 5], false);
  holds('limit=2', [1, 2], true);
  holds(`limit=2&after=${id(2)}`, [3, 4], true);
  holds(`limit=2&after=${id(3).toUpperCase()}`, [4, 5], false);
  holds(`after=${id(5)}`, [], false);
  holds(`limit=2&before=${id(4)}`, [2, 3], true);
  holds(`limit=3&before=${id(4)}`, [1, 2, 3], false);
  holds(`before=${id(1)}`, [], false);
  const refused = (query: string, message: string) =>
    t.match(page(query), { refused: 'validation_failed', message }, query);
  refused(`after=${id(9)}`, 'after: not found.');
  refused('after=x', 'after: must be a hyphenated UUID.');
  refused(`after=${id(1)}&before=${id(2)}`, 'before: must be left out when after is given.');
  for (const limit of ['0', '101', 'x', '-1', '1.5'])
    refused(`limit=${limit}`, 'limit: must be an integer from 1 to 100.');
  refused('page=2', 'page: unknown parameter.');
});

/** The list in the types of the Node SDK, RESEND_ERROR_CODE_KEY. */
const SDK_NAMES = [
  ...['invalid_idempotency_key', 'validation_error', 'missing_api_key', 'restricted_api_key', 'invalid_api_key'],
  ...['not_found', 'method_not_allowed', 'invalid_idempotent_request', 'concurrent_idempotent_requests'],
  ...['invalid_attachment', 'invalid_from_address', 'invalid_access', 'invalid_parameter', 'invalid_region'],
  ...['missing_required_field', 'monthly_quota_exceeded', 'daily_quota_exceeded', 'rate_limit_exceeded'],
  ...['security_error', 'application_error', 'internal_server_error'],
];

t.test('every refusal has a name that the SDKs know', async (t) => {
  const told = (code: RefusalCode, message: string, extra?: Record<string, unknown>) => {
    const { status, body, headers } = resendRefusal(refuse(code, message, extra), {});
    const { statusCode, name, ...rest } = JSON.parse(String(body));
    t.equal(status, statusCode);
    t.same(Object.keys(rest), ['message'], code);
    t.ok(SDK_NAMES.includes(name), name);
    return { statusCode, name, message: rest.message, headers };
  };
  for (const code of Object.keys(REFUSALS) as RefusalCode[]) told(code, 'a: b.');
  const named = (code: RefusalCode, message: string, statusCode: number, name: string) =>
    t.match(told(code, message), { statusCode, name, message }, message);
  named('invalid_api_key', 'x', 401, 'invalid_api_key');
  named('missing_or_malformed_authorization', 'x', 401, 'missing_api_key');
  named('scope_required', 'x', 401, 'restricted_api_key');
  named('invalid_id', 'x', 422, 'invalid_parameter');
  named('domain_not_verified', 'from: x', 403, 'validation_error');
  named('email_not_found', 'x', 404, 'not_found');
  named('rate_limited', 'x', 429, 'rate_limit_exceeded');
  named('internal_error', 'x', 500, 'internal_server_error');
  named('request_too_large', 'x', 413, 'validation_error');
  named('validation_failed', 'to[0]: x', 400, 'validation_error');
  named('validation_failed', 'subject: this field is required.', 422, 'missing_required_field');
  named('validation_failed', 'from: this field is required.', 422, 'missing_required_field');
  named('validation_failed', 'html: at least one of html and text is required.', 422, 'missing_required_field');
  named('validation_failed', 'from: x', 422, 'invalid_from_address');
  named('validation_failed', 'attachments[0].filename: this field is required.', 422, 'invalid_attachment');
  named('validation_failed', 'Idempotency-Key: must not be empty.', 400, 'invalid_idempotency_key');
  named('validation_failed', 'Idempotency-Key: this key was used for a batch.', 400, 'invalid_idempotent_request');
  t.match(told('validation_failed', 'template_id: x').message, 'template.id: x');
  t.match(told('validation_failed', 'send_at: x').message, 'scheduled_at: x');
  t.match(told('validation_failed', 'to: x', { index: 3 }).message, 'Email 3 of the batch, counted from 0: to: x');
  t.match(told('invalid_api_key', 'x').headers, { 'WWW-Authenticate': 'Bearer' });
  const busy = resendRefusal({ ...refuse('internal_error', 'x'), retryAfterSecs: 2 }, {});
  t.match(busy.headers, { 'Retry-After': '2' });
});
