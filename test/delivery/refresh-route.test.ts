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

function refresh(found: Route | Error, source: WaitingLane['source'] = null) {
  const lane = new Lane({ id: 1, slot: 1, tenantId: 'a', domain: 'rcpt.test' });
  const waiting: WaitingLane = { lane, hosts: OLD, staleAt: 1, source, hostsKey: hostsKeyOf(OLD) };
  return refreshRoute(waiting, 'mx.test', {
    find: () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found)),
  });
}

const inGroup = (hosts: MailHost[], group = 'mx.test'): Route => ({ kind: 'group', group, hosts, staleAt: 9 });

t.test('it goes to the addresses that its servers have by now, in its place', async (t) => {
  const moved = [host('mx.test', '192.0.2.2')];
  t.strictSame(await refresh(inGroup(moved)), { hosts: moved, staleAt: 9 });
});

t.test('it leaves the group', async (t) => {
  t.equal(await refresh(inGroup(OLD, 'other.test')), null, 'for another one');
  t.equal(await refresh(inGroup([host('mx2.test', '192.0.2.1')])), null, 'for other hosts, to which no session goes');
  t.equal(await refresh({ kind: 'unavailable', reason: 'no answer' }), null, 'where DNS does not answer');
  t.equal(await refresh(new Error('broken')), null, 'where the look-up fails: the next one says so');
  const sixOnly = inGroup([host('mx.test', '2001:db8::1')]);
  t.equal(await refresh(sixOnly, SOURCE), null, 'where its source address reaches nothing any more');
});
