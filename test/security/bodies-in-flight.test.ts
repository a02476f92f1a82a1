// Clients that announce large bodies and do not finish them hold memory. How much is bounded, for each tenant and in
// all, before a byte of it is kept: counted here, not measured.
import t, { type Test } from 'tap';
import { BodyBudget, type BodyBudgetLimits } from '../../src/api/body/body-budget.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { refuse } from '../../src/base/refusals.ts';
import type { HttpEngineName } from '../../src/http/http.ts';
import { type ApiHarness, startApiHarness } from '../support/api-harness.ts';
import { type RawAnswer, RawHttp } from '../support/raw-http.ts';
import { until as wait } from '../support/until.ts';

const KIB = 1024;
const BODY = 300 * KIB;
const LIMIT = 5 * KIB * KIB;
/** The HTTP kernel keeps so much of any body. */
const FREE = 64 * KIB;
const ENGINES: readonly HttpEngineName[] = ['uws', 'node'];

interface Held {
  connection: RawHttp;
  /** Sends what was left out, and gives the answer. */
  finish(): Promise<RawAnswer>;
}

async function open(t: Test, engine: HttpEngineName, limits: BodyBudgetLimits) {
  const budget = new BodyBudget(limits);
  const api = await startApiHarness({ engine, bodyBudget: budget });
  t.teardown(() => api.close());
  return { api, budget };
}

/** A mail of so many bytes from an own domain, as it stands in a call's body. */
function mailOf(domain: string, bytes: number): Buffer {
  const rest = JSON.stringify({ from: `a@${domain}`, to: 'jo@example.com', subject: 'x', text: '' });
  return Buffer.from(rest.replace('""', `"${'x'.repeat(bytes - rest.length)}"`));
}

async function connect(t: Test, { port }: ApiHarness): Promise<RawHttp> {
  const connection = await RawHttp.connect(port);
  t.teardown(() => connection.destroy());
  return connection;
}

function headFor(key: string, framing: string): string {
  const auth = `Authorization: Bearer ${key}\r\nContent-Type: application/json`;
  return `POST /emails HTTP/1.1\r\nHost: api.test\r\n${auth}\r\n${framing}\r\n\r\n`;
}

/** Sends all but the last byte. */
async function hold(t: Test, api: ApiHarness, key: string, body: Buffer): Promise<Held> {
  const connection = await connect(t, api);
  void connection.send(headFor(key, `Content-Length: ${body.length}`));
  let sent = body.length - HELD_BACK;
  void connection.send(body.subarray(0, sent));
  // A body that stands still for 8 s is given up, and a busy machine may need longer for the test.
  const dripping = setInterval(() => {
    if (sent < body.length - 1) void connection.send(body.subarray(sent, ++sent)).catch(() => {});
  }, SECOND_MS);
  t.teardown(() => clearInterval(dripping));
  return {
    connection,
    async finish() {
      clearInterval(dripping);
      await connection.send(body.subarray(sent));
      return connection.answer();
    },
  };
}

/** For so many seconds. */
const HELD_BACK = 600;

function until(isSo: () => boolean): Promise<true> {
  return wait('the bytes that are held', isSo, MINUTE_MS);
}

t.test('what one tenant and all of them may have', async (t) => {
  const budget = new BodyBudget();
  const count = (tenantOf: (index: number) => string) => {
    const shares = Array.from({ length: 60 }, (_, index) => budget.share(tenantOf(index)));
    const taken = shares.filter((share) => share.take(LIMIT)).length;
    const { bytes } = budget;
    for (const share of shares) share.giveBack();
    for (const share of shares) share.giveBack();
    t.equal(budget.bytes, 0, 'all is given back, once');
    return { taken, bytes };
  };
  t.same(
    count(() => 'one'),
    { taken: 6, bytes: 6 * LIMIT },
  );
  t.same(count(String), { taken: 51, bytes: 51 * LIMIT }, 'below 256 MiB');
});

for (const engine of ENGINES) {
  t.test(`one tenant's bodies (${engine})`, async (t) => {
    // Small ones, since a held body is given up after some seconds: sending many of 5 MiB takes long enough.
    const bytesPerTenant = 6 * (BODY - FREE) + FREE;
    const { api, budget } = await open(t, engine, { bytesPerTenant, bytes: 3 * bytesPerTenant });
    const [greedy, other] = [await api.addTenant(), await api.addTenant()];
    await api.addVerifiedDomain(greedy.id, 'greedy.test');
    await api.addVerifiedDomain(other.id, 'other.test');
    const body = mailOf('greedy.test', BODY);
    const held: Held[] = [];
    for (let count = 1; count <= 6; count++) {
      held.push(await hold(t, api, greedy.key, body));
      await until(() => budget.bytes === count * (body.length - FREE));
    }
    for (let count = 0; count < 10; count++) {
      const { connection } = await hold(t, api, greedy.key, body);
      const { status, headers, text } = await connection.answer();
      t.match(
        { status, text },
        { status: 500, text: /internal_error.*Too many large request bodies are being received/ },
      );
      t.equal(headers.get('retry-after'), '2');
      t.ok(budget.bytes <= bytesPerTenant, `${budget.bytes} bytes are held`);
    }
    const mail = { from: 'a@greedy.test', to: 'jo@example.com', subject: 'x', text: 'small' };
    t.equal((await api.call('POST', '/emails', { key: greedy.key, body: mail })).status, 202, 'small ones need none');
    const large = await api.call('POST', '/emails', { key: other.key, body: mailOf('other.test', BODY) });
    t.equal(large.status, 202, 'another tenant has its own');
    const [first, second, ...rest] = held;
    t.equal((await first!.finish()).status, 202, 'what was taken in is taken to its end');
    await until(() => budget.bytes === 5 * (body.length - FREE));
    second!.connection.destroy();
    await until(() => budget.bytes === 4 * (body.length - FREE));
    for (const { status } of await Promise.all(rest.map(({ finish }) => finish()))) t.equal(status, 202);
    t.equal(budget.bytes, 0);
  });

  t.test(`all tenants' bodies, and chunked ones (${engine})`, async (t) => {
    const { api, budget } = await open(t, engine, { bytesPerTenant: 1000 * KIB, bytes: 1800 * KIB });
    const tenants = [await api.addTenant(), await api.addTenant(), await api.addTenant()];
    const body = mailOf('greedy.test', 1000 * KIB);
    await hold(t, api, tenants[0]!.key, body);
    await until(() => budget.bytes === 936 * KIB);
    const chunked = await connect(t, api);
    void chunked.send(headFor(tenants[1]!.key, 'Transfer-Encoding: chunked'));
    void chunked.send(`${(500 * KIB).toString(16)}\r\n${'x'.repeat(500 * KIB)}\r\n`);
    await until(() => budget.bytes >= (936 + 436) * KIB);
    t.ok(budget.bytes <= 1800 * KIB);
    const { connection } = await hold(t, api, tenants[2]!.key, body);
    t.equal((await connection.answer()).status, 500, 'the third finds no room');
    void chunked.send(`${(1000 * KIB).toString(16)}\r\n${'x'.repeat(1000 * KIB)}\r\n`);
    const { status, text } = await chunked.answer();
    t.match({ status, text }, { status: 500, text: /Too many large request bodies/ }, 'nor does the second find more');
    await until(() => budget.bytes === 936 * KIB);
  });

  t.test(`bodies of those who have no key (${engine})`, async (t) => {
    const { api, budget } = await open(t, engine, { bytesPerTenant: 1000 * KIB, bytes: 5000 * KIB });
    const connection = await connect(t, api);
    const head = (bytes: number) => `GET /healthz HTTP/1.1\r\nHost: api.test\r\nContent-Length: ${bytes}\r\n\r\n`;
    void connection.send(`${head(900 * KIB)}${'x'.repeat(100)}`);
    await until(() => budget.bytes === 836 * KIB);
    const other = await connect(t, api);
    await other.send(head(900 * KIB));
    t.equal((await other.answer()).status, 500);
    t.equal((await api.call('GET', '/healthz')).status, 200, 'whoever asks without a body is answered');
    t.match(
      await api.call('POST', '/emails', { body: 'x'.repeat(900 * KIB) }),
      { status: 401 },
      'without a key none is read',
    );
    t.equal(budget.bytes, 836 * KIB);
  });

  t.test(`while no new mail is taken, large bodies are not read (${engine})`, async (t) => {
    let closed = false;
    const budget = new BodyBudget();
    const taken: number[] = [];
    const share = budget.share.bind(budget);
    budget.share = (tenantId) => {
      const own = share(tenantId);
      return {
        ...own,
        take(bytes) {
          taken.push(bytes);
          return own.take(bytes);
        },
      };
    };
    const refuseNew = () => (closed ? { ...refuse('internal_error', 'The disk is full.'), retryAfterSecs: 10 } : null);
    const api = await startApiHarness({ engine, bodyBudget: budget, refuseNew });
    t.teardown(() => api.close());
    const { id, key } = await api.addTenant();
    await api.addVerifiedDomain(id, 'own.test');
    const body = mailOf('own.test', 1000 * KIB);
    const repeated = { key, body, headers: { 'Idempotency-Key': 'once' } };
    t.match(await api.call('POST', '/emails', repeated), { status: 202, body: { replayed: false } });
    closed = true;
    taken.length = 0;
    const connection = await connect(t, api);
    await connection.send(headFor(key, `Content-Length: ${body.length}`));
    const early = await connection.answer();
    t.match(early, { status: 500, text: /The disk is full/ }, 'before a byte of the body');
    t.equal(early.headers.get('retry-after'), '10');
    const another = await api.call('POST', '/emails', { key, body, headers: { 'Idempotency-Key': 'other' } });
    t.match(another, { status: 500, body: { error: 'internal_error' } });
    t.same(taken, []);
    t.match(
      await api.call('POST', '/emails', repeated),
      { status: 202, body: { replayed: true } },
      'a repeated one is answered',
    );
    const tooLarge = await api.call('POST', '/emails', { key, body: Buffer.alloc(LIMIT + 1) });
    t.equal(tooLarge.status, 413, 'the order of checks stays');
  });
}
