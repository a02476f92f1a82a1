// A webhook is changed or deleted while its events are being sent and others wait in memory: by this node, and by another one,
// of which it hears by a notice.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import type { NoticeListener, Notices } from '../../src/store/notices.ts';
import type { Store } from '../../src/store/store.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';
import { backUp } from './backed-up.ts';
import { happen, openStage, registered, type Stage } from './stage.ts';

/** Another node on the same store, and what this one hears of its changes. */
function otherNode({ store, vault, clock }: Stage) {
  const listeners: NoticeListener[] = [];
  const notices: Notices = {
    tellLanes: () => {},
    tellInbound: () => {},
    listen(listener) {
      listeners.push(listener);
      store.notices.listen(listener);
    },
  };
  return {
    webhooks: createWebhooks({ store, vault, clock, ids: new IdSource(), policy: targetPolicy(true) }),
    hearing: { ...store, notices },
    tell() {
      for (const listener of listeners) listener.changed?.();
    },
  };
}

t.test('events that wait are sent to the new URL', async (t) => {
  const stage = await openStage(t);
  const { tenant, hook, dispatcher, endpoint, sending, waiting, answer, timesOf } = await backUp(t, stage);
  const next = await startEndpoint(t);
  t.match(await stage.webhooks.change(tenant.id, hook.id.toUpperCase(), { url: next.url }), { url: next.url });
  answer();
  await dispatcher.idle();
  t.same(next.received.map(({ id }) => id).toSorted(), waiting.toSorted());
  t.same([...new Set(timesOf(sending))], [1], 'calls in progress go to their end');
  t.same([...new Set(timesOf(waiting))], [0]);
  t.same([...new Set(endpoint.received.map(({ path }) => path))], ['/hook']);
});

t.test('events that wait are signed with the new secret, too', async (t) => {
  const stage = await openStage(t);
  const { tenant, hook, dispatcher, endpoint, waiting, answer } = await backUp(t, stage);
  const rotated = await stage.webhooks.rotate(tenant.id, hook.id);
  if (isRefusal(rotated)) throw new Error(rotated.message);
  answer();
  await dispatcher.idle();
  const secrets = [hook.secret, rotated.secret.toString('base64')];
  for (const { id, text, headers } of endpoint.received.filter((got) => waiting.includes(got.id))) {
    for (const secret of secrets) t.match(new Webhook(secret).verify(text, headers), { id });
  }
});

t.test('another node has changed it: events that wait are sent to the new URL', async (t) => {
  const stage = await openStage(t);
  const other = otherNode(stage);
  const { tenant, hook, dispatcher, waiting, answer } = await backUp(t, stage, { store: other.hearing });
  const next = await startEndpoint(t);
  await other.webhooks.change(tenant.id, hook.id, { url: next.url });
  other.tell();
  answer();
  await dispatcher.idle();
  t.same(next.received.map(({ id }) => id).toSorted(), waiting.toSorted());
});

t.test('another node has deleted it: calls in progress are ended, and nothing more is sent', async (t) => {
  const stage = await openStage(t);
  const other = otherNode(stage);
  const backedUp = await backUp(t, stage, { store: other.hearing });
  const { tenant, hook, dispatcher, sending, waiting, answer, timesOf } = backedUp;
  await other.webhooks.remove(tenant.id, hook.id);
  other.tell();
  await dispatcher.idle();
  t.equal(backedUp.outcomes(), 0, 'none was waited for');
  answer();
  await stage.pass(dispatcher, HOUR_MS, MINUTE_MS);
  t.same([...new Set(timesOf(waiting))], [0]);
  t.same([...new Set(timesOf(sending))], [1]);
});

t.test('a change that comes while events are claimed counts for them', async (t) => {
  const stage = await openStage(t);
  const { bench, webhooks, store } = stage;
  const other = otherNode(stage);
  const { tenant, domain } = await bench.sender('acme.test');
  const [endpoint, next] = [await startEndpoint(t), await startEndpoint(t)];
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  const claiming: Store = wrapVerbs(store, (name, verb) => async (...args) => {
    const answer = await verb(...args);
    if (name === 'webhooks.claimDeliveries') {
      await other.webhooks.change(tenant.id, hook.id, { url: next.url });
      other.tell();
      await new Promise(setImmediate); // it is read before the claim's answer comes
    }
    return answer;
  });
  const dispatcher = await stage.dispatcher({ store: { ...claiming, notices: other.hearing.notices } });
  const id = await happen(bench, domain);
  await dispatcher.idle();
  t.same([endpoint.received.length, next.received.map((got) => got.id)], [0, [id]]);
});

t.test('a change that could not be read is read a second later', async (t) => {
  const stage = await openStage(t);
  const other = otherNode(stage);
  let isAway = true;
  const failing = wrapVerbs(stage.store, (name, verb) => async (...args) => {
    if (name === 'webhooks.readEndpoints' && isAway) throw new Error('the database is away');
    return verb(...args);
  });
  const { tenant, hook, dispatcher, waiting, answer } = await backUp(
    t,
    { ...stage, store: failing },
    { store: other.hearing },
  );
  const next = await startEndpoint(t);
  await other.webhooks.change(tenant.id, hook.id, { url: next.url });
  other.tell();
  await new Promise(setImmediate);
  isAway = false;
  stage.clock.time += SECOND_MS;
  dispatcher.tick();
  await new Promise(setImmediate);
  answer();
  await dispatcher.idle();
  t.same(next.received.map(({ id }) => id).toSorted(), waiting.toSorted());
});
