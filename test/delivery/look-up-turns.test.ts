// How many routes are being looked up at once, and whose.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { LookUpTurns } from '../../src/delivery/queue/look-up-turns.ts';
import { isDelivered, setOneMx, setUp } from './set-up.ts';

interface LookUp {
  tenantId: string;
  end(): void;
}

function turnsByHand() {
  const turns = new LookUpTurns();
  const results: (string | null)[] = [];
  let running: LookUp[] = [];
  const lookUp = async (tenantId: string) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const one: LookUp = {
      tenantId,
      end() {
        running = running.filter((other) => other !== one);
        resolve('found');
      },
    };
    running.push(one);
    return promise;
  };
  const add = (tenantId: string, count: number) => {
    for (let at = 0; at < count; at++)
      void turns.run(tenantId, () => lookUp(tenantId)).then((result) => results.push(result));
  };
  const counts = async () => {
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    const byTenant = Map.groupBy(running, ({ tenantId }) => tenantId);
    return Object.fromEntries([...byTenant].map(([id, lookUps]) => [id, lookUps.length]));
  };
  const endOf = (tenantId: string, count: number) => {
    for (const one of running.filter((each) => each.tenantId === tenantId).slice(0, count)) one.end();
  };
  return { turns, add, counts, endOf, results };
}

t.test('so many at once', async (t) => {
  const { add, counts, endOf } = turnsByHand();
  add('a', 150);
  t.strictSame(await counts(), { a: 100 }, 'all for one, while nobody else has mail');
  endOf('a', 10);
  t.strictSame(await counts(), { a: 100 });
  endOf('a', 100);
  t.strictSame(await counts(), { a: 40 });
});

t.test('slow names of one tenant leave room for others, who take turns', async (t) => {
  const { add, counts, endOf } = turnsByHand();
  add('a', 1000);
  await counts();
  add('b', 30);
  add('c', 30);
  endOf('a', 20);
  t.strictSame(await counts(), { a: 80, b: 10, c: 10 });
  endOf('a', 30);
  t.strictSame(await counts(), { a: 50, b: 25, c: 25 });
  endOf('b', 10);
  t.strictSame(await counts(), { a: 50, b: 20, c: 30 }, 'a waits for the others');
  endOf('b', 20);
  t.strictSame(await counts(), { a: 70, c: 30 }, 'until none of theirs is waiting');
});

t.test('what waits is told of a stop, and does not begin', async (t) => {
  const { turns, add, counts, endOf, results } = turnsByHand();
  add('a', 120);
  await counts();
  turns.stop();
  t.strictSame(await counts(), { a: 100 });
  t.strictSame(results, Array(20).fill(null));
  endOf('a', 100);
  t.strictSame(await counts(), {});
  t.strictSame(results.slice(20), Array(100).fill('found'));
  add('b', 150);
  await counts();
  t.strictSame(results.slice(120), Array(150).fill(null), 'and so is each that comes later');
});

t.test("many new domains whose name servers are silent, and another tenant's mail", async (t) => {
  const { harness } = await setUp(t);
  setOneMx(harness);
  const domains = Array.from({ length: 400 }, (_, at) => `silent${at}.test`);
  for (const domain of domains) harness.dns.behave(domain, 'silent');
  for (let from = 0; from < domains.length; from += 50)
    await harness.send(domains.slice(from, from + 50).map((domain) => `ann@${domain}`));
  const [id] = await harness.send(['bob@rcpt.test'], { sender: await harness.addSender('small.test') });
  await harness.until(id!, isDelivered);
  const askedFor = new Set(harness.dns.queries.map(({ name }) => name).filter((name) => domains.includes(name)));
  // A hundred at first, and those that were begun as they ended.
  t.ok(askedFor.size < 300, `it waited for the look-ups of ${askedFor.size} domains`);
});

t.test('mail to known domains waits for no look-up, of its own tenant neither', async (t) => {
  const { harness } = await setUp(t);
  setOneMx(harness);
  const [first] = await harness.send(['ann@rcpt.test']);
  await harness.until(first!, isDelivered);
  const domains = Array.from({ length: 400 }, (_, at) => `silent${at}.test`);
  for (const domain of domains) harness.dns.behave(domain, 'silent');
  for (let from = 0; from < domains.length; from += 50)
    await harness.send(domains.slice(from, from + 50).map((domain) => `ann@${domain}`));
  const [second] = await harness.send(['bob@rcpt.test']);
  await harness.until(second!, isDelivered);
  const askedFor = new Set(harness.dns.queries.map(({ name }) => name).filter((name) => domains.includes(name)));
  t.ok(askedFor.size <= 100, `${askedFor.size} domains had been looked up by then: the first hundred`);
});
