// The magic recipients can be used without end: hundreds of bounces and complaints neither stop the
// tenant, nor pause anything, nor make the sandbox doubt its capture server.
import t from 'tap';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { newDataDir, type RunningSandbox, spawnSandbox } from '../../support/sandbox-process.ts';
import { until } from '../../support/until.ts';

const CALLS = 60;
const CALLS_AT_ONCE = 10;
/** All of them in every call, without a +: the very same addresses each time. */
const MAGIC = ['bounce', 'block', 'full', 'defer', 'slow', 'later-bounce', 'complain'];
/** Several timers of the daemon, and a thousand messages, on a machine that may be busy. */
const PATIENCE_MS = 240_000;

t.setTimeout(2 * PATIENCE_MS);

const dataDir = newDataDir(t);
let sandbox: RunningSandbox;
let told: { url: string; api_key: string; domain: string; tenant_id: string };

t.test('hundreds of each', async (t) => {
  sandbox = spawnSandbox(t.parent as typeof t, dataDir, '--json');
  told = JSON.parse(await sandbox.ready());
  const refused: unknown[] = [];
  let left = CALLS;
  const caller = async () => {
    while (left-- > 0) {
      const { status, body } = await send(MAGIC.map((name) => `${name}@example.com`));
      if (status !== 202 || body.message_ids.length !== MAGIC.length) refused.push({ status, body });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
  t.same(refused.slice(0, 3), [], 'every call is accepted, with all of its recipients');
  const counts = await until('everything has come back', everythingIsBack, PATIENCE_MS);
  t.match(counts, { 'email.bounced': 3 * CALLS, 'email.complained': CALLS, 'email.delivered': 4 * CALLS });
});

t.test('afterwards mail is delivered as before', async (t) => {
  const { status, body } = await send(['you@example.com']);
  t.equal(status, 202, body.message);
  await until(
    'the message is delivered',
    async () => (await get(`/emails/${body.message_ids[0]}`)).state === 'delivered',
  );
});

t.test('what the developer is shown: the address is suppressed', async (t) => {
  const { body } = await send(['bounce@example.com']);
  const message = await until('the bounce', async () => {
    const found = await get(`/emails/${body.message_ids[0]}`);
    return found.state === 'bounced' && found;
  });
  t.match(message.events.at(-1)?.data.bounce, { type: 'hard', suppressed: true });
});

t.test('with +anything the next call rejects it, as in production', async (t) => {
  for (const name of ['bounce+a', 'complain+a', 'later-bounce+a']) {
    const { body } = await send([`${name}@example.com`]);
    await until(`${name} has come back`, async () =>
      (await get(`/emails/${body.message_ids[0]}`)).events.some(({ type }) =>
        ['email.bounced', 'email.complained'].includes(type),
      ),
    );
    const again = await send([`${name}@example.com`]);
    t.match(again, { status: 422, body: { error: 'all_recipients_suppressed' } }, name);
  }
});

t.test('nothing is stopped, paused or doubted', async (t) => {
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
  const store = await openSqliteStore({ file: `${dataDir}/postrider.db` });
  t.teardown(() => store.close());
  t.match(await store.tenants.getTenant(told.tenant_id), { status: 'active', statusReason: null });
  t.same(await store.reputation.listDoubtedReceivers(), []);
  const shaping = await store.shaping.loadShaping(Date.now());
  t.same(shaping.suspensions, []);
  t.same(shaping.groups, [], 'no receiver has fewer connections than it may have');
});

/** What the API answers, as far as this test looks at it. */
interface Body {
  message: string;
  message_ids: string[];
  state: string;
  events: { id: string; type: string; data: { bounce?: unknown } }[];
  has_more: boolean;
}

async function everythingIsBack(): Promise<Record<string, number> | null> {
  const counts: Record<string, number> = {};
  let after = '';
  for (let more = true; more; ) {
    const page = await get(`/events?limit=1000${after}`);
    for (const { type } of page.events) counts[type] = (counts[type] ?? 0) + 1;
    more = page.has_more;
    after = `&after=${page.events.at(-1)?.id}`;
  }
  const { 'email.bounced': bounced = 0, 'email.complained': complained = 0, 'email.delivered': delivered = 0 } = counts;
  return bounced >= 3 * CALLS && complained >= CALLS && delivered >= 4 * CALLS ? counts : null;
}

async function send(to: string[]) {
  const body = JSON.stringify({ from: `hello@${told.domain}`, to, subject: 'Hi', text: 'Hi.' });
  return call('POST', '/emails', body);
}

async function get(where: string): Promise<Body> {
  const { status, body } = await call('GET', where);
  if (status !== 200) throw new Error(`${where}: ${status} ${JSON.stringify(body)}`);
  return body;
}

async function call(method: string, where: string, body?: string): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${told.api_key}`, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(`${told.url}${where}`, { method, headers, ...(body && { body }) });
  return { status: response.status, body: (await response.json()) as Body };
}
