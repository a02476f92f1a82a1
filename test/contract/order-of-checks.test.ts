// The order of checks, pair by pair: of two things that are wrong with a call, the answer tells
// of the one that comes first. Each fault alone is shown to be one, and a call with all of them
// at once, repaired one after the other, goes through the whole order.
import t, { type Test } from 'tap';
import { NOBODY, startContractWorld } from './contract-world.ts';
import { type CredentialFaults, CredentialMaker, SUPPRESSED, USED_IDEMPOTENCY_KEY } from './credentials.ts';
import { goodMail } from './stage.ts';

/** A call in the making. */
interface Draft {
  method: string;
  path: string;
  key: string | null;
  headers: Record<string, string>;
  /** Null for a call without a body. */
  body: Record<string, unknown> | null;
  brokenJson: boolean;
  tooLarge: boolean;
}

interface Fault {
  /** What the answer says: an error code, or `replayed` for a 202 that repeats an earlier one. */
  answer: string;
  /** What is wrong with tenant or key. */
  credentials?: CredentialFaults;
  /** What is wrong with the call. */
  apply?(draft: Draft): void;
  /** A fault that cannot be together with this one. */
  excludes?: string;
}

const UUID = /[0-9a-f-]{36}/;
const FIVE_MIB = 5 * 1024 * 1024;

const NO_ROUTE: Fault = { answer: 'not_found', apply: (draft) => (draft.path += '/nowhere/x'), excludes: 'method' };
const NO_METHOD: Fault = { answer: 'method_not_allowed', apply: (draft) => (draft.method = 'PATCH') };
const BEFORE_THE_BODY: Fault[] = [
  { answer: 'missing_or_malformed_authorization', apply: (draft) => (draft.key = null), excludes: 'invalid_api_key' },
  { answer: 'invalid_api_key', apply: (draft) => (draft.key = 'pr_unknown_key') },
  { answer: 'tenant_not_active', credentials: { inactive: true } },
  { answer: 'rate_limited', credentials: { exhausted: true } },
  { answer: 'scope_required', credentials: { noScope: true } },
];
const BAD_ID: Fault = { answer: 'invalid_id', apply: (draft) => (draft.path = draft.path.replace(UUID, 'x')) };
const WRONG_TYPE: Fault = {
  answer: 'unsupported_media_type',
  apply: (draft) => (draft.headers['Content-Type'] = 'text/plain'),
};
const TOO_LARGE: Fault = { answer: 'request_too_large', apply: (draft) => (draft.tooLarge = true) };
const NO_JSON: Fault = { answer: 'invalid_json', apply: (draft) => (draft.brokenJson = true) };

const POST_EMAILS: Fault[] = [
  NO_ROUTE,
  NO_METHOD,
  ...BEFORE_THE_BODY,
  {
    answer: 'validation_failed: Idempotency-Key',
    apply: (draft) => (draft.headers['Idempotency-Key'] = 'k'.repeat(201)),
    excludes: 'replayed',
  },
  WRONG_TYPE,
  TOO_LARGE,
  { answer: 'replayed', apply: (draft) => (draft.headers['Idempotency-Key'] = USED_IDEMPOTENCY_KEY) },
  NO_JSON,
  { answer: 'validation_failed: subject', apply: (draft) => (draft.body!.subject = '') },
  { answer: 'domain_not_allowed', credentials: { bound: true } },
  { answer: 'domain_not_verified', apply: (draft) => (draft.body!.from = 'app@nobody.test') },
  { answer: 'validation_failed: template_id', apply: (draft) => (draft.body!.template_id = NOBODY) },
  { answer: 'all_recipients_suppressed', apply: (draft) => (draft.body!.to = SUPPRESSED) },
];

const DELETE_DOMAIN: Fault[] = [
  NO_ROUTE,
  NO_METHOD,
  ...BEFORE_THE_BODY,
  BAD_ID,
  TOO_LARGE,
  { answer: 'domain_not_found', apply: (draft) => (draft.path = draft.path.replace(UUID, NOBODY)) },
  { answer: 'domain_not_allowed', credentials: { bound: true } },
];

const PUT_TEMPLATE: Fault[] = [
  NO_ROUTE,
  NO_METHOD,
  ...BEFORE_THE_BODY,
  BAD_ID,
  WRONG_TYPE,
  TOO_LARGE,
  NO_JSON,
  { answer: 'validation_failed: name', apply: (draft) => (draft.body!.name = '') },
];

const POST_DOMAINS: Fault[] = [
  NO_METHOD,
  ...BEFORE_THE_BODY,
  WRONG_TYPE,
  TOO_LARGE,
  NO_JSON,
  { answer: 'validation_failed: domain', apply: (draft) => (draft.body!.domain = 'Upper.test') },
  { answer: 'domain_not_allowed', credentials: { bound: true } },
  { answer: 'domain_exists' },
];

interface Endpoint {
  route: string;
  body(domain: string): Record<string, unknown> | null;
  faults: Fault[];
}

const ENDPOINTS: Endpoint[] = [
  { route: 'POST /emails', body: goodMail, faults: POST_EMAILS },
  { route: 'DELETE /domains/{id}', body: () => null, faults: DELETE_DOMAIN },
  { route: `PUT /templates/${NOBODY}`, body: () => ({ name: 'New', text: 'New' }), faults: PUT_TEMPLATE },
  { route: 'POST /domains', body: (domain) => ({ domain }), faults: POST_DOMAINS },
];

// One call a minute in the first tier: who has called once has used up the rate.
const tiers = [1, 10_000] as unknown as string[];
const world = await startContractWorld(t, { settings: { limits: { requests_per_minute: tiers } } });
const maker = new CredentialMaker(world);

for (const { route, body, faults } of ENDPOINTS) {
  t.test(route, async (t) => {
    const answerTo = (chosen: Fault[]) => call({ route, body }, chosen);
    await t.test('each fault alone', async (t) => {
      for (const fault of faults) t.equal(await answerTo([fault]), fault.answer);
    });
    await t.test('each two faults', async (t) => {
      for (const [first, second] of pairs(faults)) {
        t.equal(await answerTo([first, second]), first.answer, `${first.answer} before ${second.answer}`);
      }
    });
    await t.test('all faults at once, repaired one by one', async (t) => {
      await checkRepairs(t, faults, answerTo);
    });
  });
}

function* pairs(faults: Fault[]): Iterable<[Fault, Fault]> {
  for (const [index, first] of faults.entries()) {
    for (const second of faults.slice(index + 1)) {
      if (first.excludes !== second.answer) yield [first, second];
    }
  }
}

async function checkRepairs(t: Test, faults: Fault[], answerTo: (chosen: Fault[]) => Promise<string>): Promise<void> {
  const told: string[] = [];
  for (let repaired = 0; repaired < faults.length; repaired++) told.push(await answerTo(faults.slice(repaired)));
  t.same(
    told,
    faults.map(({ answer }) => answer),
    'the answers tell of the faults in the order of the contract',
  );
}

/** What the answer to a call with these faults says, with the field that a validation names. */
async function call({ route, body }: Pick<Endpoint, 'route' | 'body'>, faults: Fault[]): Promise<string> {
  const wrong: CredentialFaults = Object.assign({}, ...faults.map(({ credentials }) => credentials));
  const { key, domain, domainId } = await maker.get(wrong);
  const [method, path] = route.replace('{id}', domainId).split(' ') as [string, string];
  const draft: Draft = { method, path, key, headers: {}, body: body(domain), brokenJson: false, tooLarge: false };
  // Backwards, so that of two faults in one place (a header that is missing and wrong) the first stays.
  for (const { apply } of faults.toReversed()) apply?.(draft);
  const request = { key: draft.key, body: bytesOf(draft), headers: draft.headers };
  const answer = await world.call(`${draft.method} ${draft.path}`, request);
  if (answer.status === 202) return answer.body.replayed ? 'replayed' : 'accepted';
  const { error, message } = answer.body;
  return error === 'validation_failed' ? `${error}: ${/^[^:]*/.exec(message)?.[0]}` : error;
}

function bytesOf({ body, brokenJson, tooLarge }: Draft): string | undefined {
  if (body === null) return tooLarge ? ' '.repeat(FIVE_MIB + 1) : undefined;
  const text = JSON.stringify(body);
  const written = brokenJson ? `${text.slice(0, -1)},` : text;
  return tooLarge ? written.padEnd(FIVE_MIB + 1) : written;
}
