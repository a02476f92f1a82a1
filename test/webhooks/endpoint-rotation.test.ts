// Who is called next: one call each in turn, places that slow ones can never take, and rest for those
// that fail again and again.
import t from 'tap';
import { SECOND_MS } from '../../src/base/clock.ts';
import type { WebhookDelivery } from '../../src/store/webhooks.ts';
import { EndpointQueue } from '../../src/webhooks/endpoint-queue.ts';
import { type CallSlot, EndpointRotation } from '../../src/webhooks/endpoint-rotation.ts';

const NOW = 1_000_000;

/** Each of a tenant of its own, unless the test says otherwise. */
function lineWith(id: string, waiting = 0, tenantId = `tenant ${id}`): EndpointQueue {
  const line = new EndpointQueue(id);
  line.tenantId = tenantId;
  for (let n = 0; n < waiting; n++) line.waiting.push({ delivery: {} as WebhookDelivery, claimedAt: NOW });
  return line;
}

function quickLine(id: string, tenantId?: string): EndpointQueue {
  const line = lineWith(id, 0, tenantId);
  line.succeeded(5);
  return line;
}

t.test('lines have their turns in order, and each stands in the queue once', async (t) => {
  const turns = new EndpointRotation();
  const [a, b] = [lineWith('a'), lineWith('b')];
  for (const line of [a, b, a]) turns.add(line);
  t.equal(turns.next()?.queue, a);
  turns.add(a);
  t.equal(turns.next()?.queue, b);
  t.equal(turns.next()?.queue, a);
  t.equal(turns.next(), null);
});

t.test('however many hang, a quick one finds a place', async (t) => {
  const turns = new EndpointRotation({ forAll: 3, forQuick: 1 });
  const dead = Array.from({ length: 10 }, (_, index) => lineWith(String(index)));
  for (const line of dead) turns.add(line);
  const places = [turns.next()!.take(), turns.next()!.take(), turns.next()!.take()];
  t.equal(turns.next(), null, 'all places are taken');
  const quick = quickLine('quick');
  turns.add(quick);
  const turn = turns.next()!;
  t.equal(turn.queue, quick);
  turn.take();
  turns.add(quickLine('another'));
  t.equal(turns.next(), null, 'places for quick ones are bounded, too');
  places[0]!.free();
  t.equal(turns.next()!.queue, dead[3], 'and the order goes on where it was');
});

/** Takes what the rotation gives, over and over, as an endpoint that hangs does. */
function hang(turns: EndpointRotation, lines: readonly EndpointQueue[]): CallSlot[] {
  const taken: CallSlot[] = [];
  for (const line of lines) turns.add(line);
  for (let turn = turns.next(); turn !== null; turn = turns.next()) {
    taken.push(turn.take());
    turns.add(turn.queue);
  }
  return taken;
}

t.test('however many endpoints of a tenant hang that were quick, others find a place of either kind', async (t) => {
  const turns = new EndpointRotation({ forAll: 12, forQuick: 8 });
  const places = hang(
    turns,
    Array.from({ length: 20 }, (_, index) => quickLine(String(index), 'bad')),
  );
  t.equal(places.length, 5, 'a quarter of each kind');
  const [good, unknown] = [quickLine('good'), lineWith('unknown')];
  t.equal(hang(turns, [good]).length, 5);
  turns.remove(good);
  t.equal(hang(turns, [unknown]).length, 3, 'an unknown one never takes those for quick ones');
  turns.remove(unknown);
  t.equal(turns.next(), null);
  t.equal(turns.size, 20);
  places[4]!.free();
  t.equal(hang(turns, []).length, 1, 'what was given back can be taken again');
});

t.test('one that becomes slow or fails loses its place among the quick', async (t) => {
  const line = quickLine('a');
  t.equal(line.isQuick, true);
  line.succeeded(1500);
  t.equal(line.isQuick, false);
  line.succeeded(5);
  line.failed(NOW, NOW);
  t.equal(line.isQuick, false);
});

t.test('calls at a time: doubled by success, halved by failure', async (t) => {
  const line = lineWith('a', 100);
  const room = () => {
    line.calls.clear();
    let count = 0;
    while (line.mayBegin(NOW)) {
      line.calls.add(new AbortController());
      count++;
    }
    line.calls.clear();
    return count;
  };
  t.equal(room(), 2);
  line.succeeded(5);
  t.equal(room(), 4);
  for (let n = 0; n < 9; n++) line.succeeded(5);
  t.equal(room(), 16);
  line.failed(NOW, NOW + 1);
  t.equal(room(), 8);
  line.failed(NOW, NOW + 1);
  t.equal(room(), 8, 'calls that were under way together fail as one');
});

t.test('five failures in a row mean a rest that grows to a minute, until a success', async (t) => {
  const line = lineWith('a', 100);
  let now = NOW;
  const rests: number[] = [];
  for (let n = 0; n < 14; n++) {
    line.failed(now, now);
    let rest = 0;
    while (line.isResting(now + rest)) rest += SECOND_MS;
    rests.push(rest / SECOND_MS);
    now += rest + 1;
  }
  t.strictSame(rests, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
  line.failed(now, now);
  t.equal(line.mayBegin(now), false);
  t.equal(line.wanted(now), 0);
  line.succeeded(5);
  t.equal(line.mayBegin(now), true);
});

t.test('nothing is claimed but what is due, and more ahead only for quick ones', async (t) => {
  const line = lineWith('a');
  t.equal(line.wanted(NOW), 0);
  line.noteDue(NOW);
  t.equal(line.wanted(NOW - 1), 0);
  t.equal(line.wanted(NOW), 2);
  line.beginClaim();
  t.equal(line.wanted(NOW), 0);
  line.endClaim(NOW);
  for (let n = 0; n < 5; n++) line.succeeded(5000);
  t.equal(line.wanted(NOW), 16);
  line.succeeded(5);
  t.equal(line.wanted(NOW), 80);
});
