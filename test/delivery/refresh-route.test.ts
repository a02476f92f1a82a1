// What becomes of mail whose route has grown stale in the line of its group.
import t from 'tap';
import { Lane } from '../../src/delivery/queue/lane.ts';
import { hostsKeyOf, type WaitingLane } from '../../src/delivery/queue/lane-rotation.ts';
import { refreshRoute } from '../../src/delivery/queue/refresh-route.ts';
import type { Route } from '../../src/delivery/route/routes.ts';
import type { MailHost } from '../../src/protocol/dns/mail-route.ts';

const host = (name: string, ip: string): MailHost => ({
  name,
  preference: 10,
  addresses: [{ ip, family: ip.includes(':') ? 6 : 4 }],
});
const OLD = [host('mx.test', '192.0.2.1')];
const SOURCE = { ip: '198.51.100.1', ehloName: 'mail.test' };

async function refresh(
  found: Route | Error,
  { decision = 'go', source = null }: { decision?: 'go' | 'wait'; source?: WaitingLane['source'] } = {},
) {
  const lane = new Lane({ id: 1, slot: 1, tenantId: 'a', domain: 'rcpt.test' });
  const waiting: WaitingLane = { lane, hosts: OLD, staleAt: 1, source, hostsKey: hostsKeyOf(OLD) };
  const may = await refreshRoute(
    waiting,
    { name: 'mx.test', open: 0 },
    {
      routes: { find: () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found)) },
      shaping: { verdict: () => ({ decision, reasons: [], until: null }) },
    },
  );
  return { may, hosts: waiting.hosts, staleAt: waiting.staleAt };
}

const inGroup = (hosts: MailHost[], group = 'mx.test'): Route => ({ kind: 'group', group, hosts, staleAt: 9 });
const LEFT = { may: false, hosts: OLD, staleAt: 1 };

t.test('it goes to the addresses that its servers have by now, in its place', async (t) => {
  const moved = [host('mx.test', '192.0.2.2')];
  t.strictSame(await refresh(inGroup(moved)), { may: true, hosts: moved, staleAt: 9 });
});

t.test('it leaves the group', async (t) => {
  t.strictSame(await refresh(inGroup(OLD, 'other.test')), LEFT, 'for another one');
  t.strictSame(
    await refresh(inGroup([host('mx2.test', '192.0.2.1')])),
    LEFT,
    'for other hosts, to which no session goes',
  );
  t.strictSame(await refresh({ kind: 'unavailable', reason: 'no answer' }), LEFT, 'where DNS does not answer');
  t.strictSame(await refresh(new Error('broken')), LEFT, 'where the look-up fails: the next one says so');
  t.strictSame(await refresh(inGroup(OLD), { decision: 'wait' }), LEFT, 'where a pause began during the look-up');
  const sixOnly = inGroup([host('mx.test', '2001:db8::1')]);
  t.strictSame(await refresh(sixOnly, { source: SOURCE }), LEFT, 'where its source address reaches nothing any more');
});
