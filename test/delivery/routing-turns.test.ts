// How many lanes are being routed at once, and whose.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Lane } from '../../src/delivery/queue/lane.ts';
import { RoutingTurns } from '../../src/delivery/queue/routing-turns.ts';
import { isDelivered, setOneMx, setUp } from './set-up.ts';

interface Routing {
  tenantId: string;
  end(): void;
}

function turnsByHand() {
  let running: Routing[] = [];
  const turns = new RoutingTurns(({ tenantId }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const routing: Routing = {
      tenantId,
      end() {
        running = running.filter((other) => other !== routing);
        resolve();
      },
    };
    running.push(routing);
    return promise;
  });
  const add = (tenantId: string, count: number) => {
    for (let id = 0; id < count; id++) turns.add(new Lane({ id, slot: 1, tenantId, domain: `d${id}.test` }));
  };
  const counts = async () => {
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    const byTenant = Map.groupBy(running, ({ tenantId }) => tenantId);
    return Object.fromEntries([...byTenant].map(([id, routings]) => [id, routings.length]));
  };
  const endOf = (tenantId: string, count: number) => {
    for (const routing of running.filter((each) => each.tenantId === tenantId).slice(0, count)) routing.end();
  };
  return { turns, add, counts, endOf };
}

t.test('so many at once, and some of them per turn of the event loop', async (t) => {
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

t.test('a stop waits for what is being routed, and starts nothing', async (t) => {
  const { turns, add, counts, endOf } = turnsByHand();
  add('a', 120);
  await counts();
  let isStopped = false;
  const stopping = turns.stop().then(() => {
    isStopped = true;
  });
  endOf('a', 99);
  t.strictSame(await counts(), { a: 1 });
  t.notOk(isStopped);
  endOf('a', 1);
  await stopping;
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
