// What may be claimed at once under limits per minute and per hour, and what is taken back.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { Reservations } from '../../src/delivery/shaping/reservations.ts';
import { ShapingMemory } from '../../src/delivery/shaping/shaping-memory.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';

const NOW = 100 * MINUTE_MS;

function setUp() {
  const limits = {
    sessions: 10,
    sessionsPerGroup: 5,
    messagesPerSession: 10,
    messagesPerMinute: 20,
    messagesPerHour: () => 8,
  };
  const memory = new ShapingMemory(
    { limits, providers: new Providers([]) },
    { pauses: [], suspensions: [], groups: [], paces: [] },
  );
  memory.tenants.learn('paced', { status: 'active', statusReason: null, tier: '1k' }, NOW);
  return new Reservations(memory, { now: () => NOW });
}

const messages = (...attempts: number[]) =>
  attempts.map((attempt, index) => ({ id: `message-${index}`, attempt }) as ClaimedMessage);
const storedPerTenant = (reservations: Reservations) =>
  reservations.takeChanges().map(({ tenantId, slots }) => [tenantId, slots.length > 0]);

t.test('the tighter of the two limits decides', async (t) => {
  const reservations = setUp();
  t.equal(reservations.room('group', 'paced'), 8);
  t.equal(reservations.room('group', 'of an unknown tier'), 20);
  t.equal(reservations.room(null, 'of an unknown tier'), Number.POSITIVE_INFINITY);
  reservations.reserve('group', 'of an unknown tier', 15);
  t.equal(reservations.room('group', 'paced'), 5);
});

t.test('a reservation counts until it is settled, and then only what was claimed', async (t) => {
  const reservations = setUp();
  reservations.reserve('group', 'paced', 8);
  t.equal(reservations.room('group', 'paced'), 0, 'who asks meanwhile gets nothing');
  reservations.settle('group', 'paced', { reserved: 8, claimed: messages(1, 1, 2) });
  t.equal(reservations.room('group', 'paced'), 6, 'the second attempt was counted with the first');
  t.equal(reservations.room('group', 'of an unknown tier'), 17);
});

t.test('what is given back counts no more, unless it was tried before', async (t) => {
  const reservations = setUp();
  reservations.reserve('group', 'paced', 3);
  reservations.settle('group', 'paced', { reserved: 3, claimed: messages(1, 1, 1) });
  reservations.tried('message-0');
  reservations.givenBack('group', ['message-0', 'message-1']);
  t.equal(reservations.room('group', 'paced'), 6);
  reservations.givenBack(null, ['message-1']);
  t.equal(reservations.room('group', 'paced'), 6, 'once');
});

t.test('what is to be stored is given out once', async (t) => {
  const reservations = setUp();
  reservations.reserve('group', 'paced', 1);
  reservations.settle('group', 'paced', { reserved: 1, claimed: messages(1) });
  reservations.dropped(['idle']);
  t.same(storedPerTenant(reservations), [
    ['paced', true],
    ['idle', false],
  ]);
  t.same(reservations.takeChanges(), []);
});
