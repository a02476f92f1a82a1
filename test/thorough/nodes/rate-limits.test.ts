// The rate limit of a key holds over two daemons: called as fast as possible, they let through no more than the limit, what
// came back meanwhile, and the 5 % that each may be ahead of the other.
import t from 'tap';
import { MINUTE_MS } from '../../../src/base/clock.ts';
import { startNodes, type TestNode } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { registerSender } from '../../support/world.ts';

const LIMIT = 200;
const AT_ONCE = 8;

t.test('two daemons share the rate limit of a key', { skip: postgresMissing() }, async (t) => {
  const settings = { limits: { requests_per_minute: [LIMIT, 10_000] } };
  const { dns, nodes } = await startNodes(t, ['a', 'b'], settings);
  const [a, b] = [nodes[0]!, nodes[1]!];
  const { tenantId, domain } = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  const newKey = async (name: string) => {
    const rights = ['--name', name, '--scopes', 'emails:send'];
    return String((await a.postrider.json('key', 'create', '--tenant', tenantId, ...rights)).key);
  };
  await a.postrider.json('tenant', 'set', tenantId, '--tier', '1k');
  const [key, other] = [await newKey('busy'), await newKey('other')];
  const limitAt = async ({ daemon }: TestNode) => {
    const headers = { Authorization: `Bearer ${other}` };
    const response = await fetch(`http://127.0.0.1:${daemon.httpPort}/events`, { headers });
    await response.body?.cancel();
    return response.headers.get('ratelimit-limit');
  };
  await until('b knows the limit', async () => (await limitAt(b)) === String(LIMIT));
  const body = { from: `app@${domain}`, to: 'ann@receiver.test', subject: 'Hello', text: 'Hello.' };
  const send = (at: number) => nodes[at % 2]!.daemon.call(key, 'POST /emails', { body });

  const began = performance.now();
  const statuses: number[] = [];
  for (let round = 0; statuses.filter((status) => status === 429).length < 4 * AT_ONCE; round++) {
    if (round * AT_ONCE > 10 * LIMIT) throw new Error('no limit');
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => send(at)));
    statuses.push(...answers.map(({ status }) => status));
  }
  const tookMs = performance.now() - began;

  t.strictSame([...new Set(statuses)].sort(), [202, 429]);
  const accepted = statuses.filter((status) => status === 202).length;
  const most = LIMIT * (1 + nodes.length * 0.05 + tookMs / MINUTE_MS);
  t.ok(accepted <= most, `${accepted} in ${Math.round(tookMs)} ms, at most ${most}`);
  t.ok(accepted >= LIMIT / 2, 'they do not refuse long before the limit');
  t.comment(`${accepted} of ${statuses.length}, at most ${Math.floor(most)}`);
});
