// What shaping remembers of a tenant outlives a look at the whole queue.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { ShapingMemory } from '../../src/delivery/shaping/shaping-memory.ts';

const NOW = 100 * MINUTE_MS;

t.test('a tenant that must be read again is paced until it has been', async (t) => {
  const limits = {
    ...{ sessions: 10, sessionsPerGroup: 5, messagesPerSession: 10, messagesPerMinute: null },
    messagesPerHour: () => 3,
  };
  const memory = new ShapingMemory(
    { limits, providers: new Providers([]) },
    { pauses: [], suspensions: [], groups: [], paces: [] },
  );
  memory.tenants.learn('tenant', { status: 'active', statusReason: null, tier: '1k' }, NOW);
  memory.paceOf('tenant').add(3, NOW);
  memory.tenants.expire();
  t.notOk(memory.tenants.isFresh('tenant', NOW), 'it is read again');
  t.equal(memory.perHour('tenant'), 3);
  const facts = memory.facts({ tenantId: 'tenant', domain: 'rcpt.test', group: null, connections: null }, NOW);
  t.match(facts.tenant.pace, { perHour: 3, sent: 3 }, 'and its hour is counted all the while');
});
