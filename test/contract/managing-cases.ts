// What the contract has beyond the specification to manage an account by API: suppressions.
import { RECEIVER } from '../support/world.ts';
import { refused, type Stage } from './stage.ts';
import type { Cases, MANAGING_ENDPOINTS } from './tables.ts';

/** Calls as acme. */
function caller({ world, acme }: Stage) {
  return (route: string, body?: unknown) => world.call(route, { key: acme.key, body });
}

export const managingCases: Cases<typeof MANAGING_ENDPOINTS> = {
  async 'GET /suppressions'(t, stage) {
    const { key, id } = await stage.world.addTenant();
    const call = (query: string) => stage.world.call(`GET /suppressions${query}`, { key });
    t.same((await call('')).body, { suppressions: [], has_more: false, next: null });
    for (const [name, reason] of [
      ['c', 'manual'],
      ['a', 'complaint'],
      ['b', 'manual'],
    ] as const) {
      await stage.world.suppress(id, `${name}@x.test`, reason);
    }
    const listed = async (query: string) => {
      const { suppressions, next } = (await call(query)).body;
      return [...suppressions.map(({ address }: { address: string }) => address[0]), next];
    };
    t.same(await listed(''), ['a', 'b', 'c', null], 'by address');
    t.same(await listed('?limit=2'), ['a', 'b', 'b@x.test']);
    t.same(await listed('?limit=2&after=b%40x.test'), ['c', null]);
    t.same(await listed('?reason=complaint'), ['a', null]);
    t.same(await listed('?address=C%40X.test'), ['c', null]);
    for (const query of ['?reason=other', '?limit=0', '?limit=1001', '?address=x', '?adress=x', '?limit=1&limit=2']) {
      refused(t, await call(query), { code: 'validation_failed', about: query });
    }
  },

  async 'POST /suppressions'(t, stage) {
    const call = caller(stage);
    const address = `Suppressed-${stage.world.engine}@${RECEIVER.toUpperCase()}`;
    const { status, body } = await call('POST /suppressions', { address });
    t.match({ status, ...body }, { status: 201, address: address.toLowerCase(), reason: 'manual', message_id: null });
    t.same(await again(), { status: 200, body }, 'it keeps its first reason');
    t.match(await stage.send({ to: [address, `jo@${RECEIVER}`] }), {
      body: { rejected: [{ to: address, reason: 'manual' }] },
    });
    for (const wrong of [{}, { address: 'x' }, { address: 5 }, { address, reason: 'other' }, { address, note: 'x' }]) {
      refused(t, await call('POST /suppressions', wrong), { code: 'validation_failed', about: JSON.stringify(wrong) });
    }

    async function again() {
      const answer = await call('POST /suppressions', { address: address.toUpperCase(), reason: 'complaint' });
      return { status: answer.status, body: answer.body };
    }
  },

  async 'DELETE /suppressions/{address}'(t, stage) {
    const call = caller(stage);
    const address = `back-again-${stage.world.engine}@${RECEIVER}`;
    await call('POST /suppressions', { address });
    t.equal((await stage.send({ to: address })).status, 422);
    const route = `DELETE /suppressions/${encodeURIComponent(address.toUpperCase())}`;
    t.match(await call(route), { status: 204, body: null });
    t.equal((await stage.send({ to: address })).status, 202, 'mail is accepted again');
    refused(t, await call(route), { code: 'suppression_not_found', about: 'once more' });
    refused(t, await call('DELETE /suppressions/x'), { code: 'validation_failed', message: /^address: / });
  },
};
