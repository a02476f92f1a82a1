// A quick endpoint that has stopped answering: more of its events are claimed than may be sent at a time. Some are being sent,
// the others wait in memory.
import type http from 'node:http';
import type { Test } from 'tap';
import { SECOND_MS } from '../../src/base/clock.ts';
import type { Domain } from '../../src/store/domains.ts';
import type { Store } from '../../src/store/store.ts';
import type { Tenant } from '../../src/store/tenants.ts';
import type { ClaimedDeliveries } from '../../src/store/webhooks.ts';
import type { Dispatcher, DispatcherKit } from '../../src/webhooks/dispatcher.ts';
import { until } from '../support/until.ts';
import { startEndpoint, type TestEndpoint } from '../support/webhook-endpoint.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';
import { happen, registered, type Stage } from './stage.ts';

/** As many calls at a time as an endpoint ever gets, and some that may be claimed ahead. */
const AT_A_TIME = 16;
const WAITING = 20;

export interface BackedUp {
  tenant: Tenant;
  domain: Domain;
  endpoint: TestEndpoint;
  hook: { id: string; secret: string };
  dispatcher: Dispatcher;
  /** Events that are being sent, and those that wait. */
  sending: string[];
  waiting: string[];
  /** From now on the endpoint answers, those that are being sent first. */
  answer(): void;
  /** How many calls have had an outcome since then, be it a failure. */
  outcomes(): number;
  /** How often the endpoint got each event. */
  timesOf(ids: readonly string[]): number[];
}

export async function backUp(t: Test, stage: Stage, change: Partial<DispatcherKit> = {}): Promise<BackedUp> {
  const { bench, webhooks } = stage;
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  const claims = countClaims(stage.store);
  let lastMs = Number.POSITIVE_INFINITY;
  let outcomes = 0;
  const dispatcher = await stage.dispatcher({
    ...change,
    store: { ...claims.store, notices: change.store?.notices ?? stage.store.notices },
    onCalled: ({ elapsedMs }) => {
      lastMs = elapsedMs;
      outcomes++;
    },
  });
  // On a busy machine a call may take too long for an endpoint that counts as quick.
  for (let n = 1; n <= 4 || lastMs > SECOND_MS; n++) {
    await happen(bench, domain);
    await endpoint.until(n);
    await dispatcher.idle();
  }
  const before = endpoint.received.length;
  const held: http.ServerResponse[] = [];
  endpoint.answer = (response) => void held.push(response);
  const ids: string[] = [];
  while (ids.length < AT_A_TIME + WAITING) ids.push(await happen(bench, domain));
  await endpoint.until(before + AT_A_TIME);
  await until('all are claimed', () => claims.deliveries === before + ids.length);
  const sending = endpoint.received.slice(before).map(({ id }) => id);
  return {
    ...{ tenant, domain, endpoint, hook, dispatcher, sending },
    waiting: ids.filter((id) => !sending.includes(id)),
    answer() {
      endpoint.answer = (response) => void response.writeHead(204).end();
      for (const response of held.splice(0)) response.writeHead(204).end();
    },
    outcomes: () => outcomes - before,
    timesOf: (wanted) => wanted.map((id) => endpoint.received.filter((got) => got.id === id).length),
  };
}

function countClaims(store: Store): { store: Store; deliveries: number } {
  const counted = { store, deliveries: 0 };
  counted.store = wrapVerbs(store, (name, verb) => async (...args) => {
    const answer = await verb(...args);
    if (name === 'webhooks.claimDeliveries') {
      for (const { deliveries } of answer as ClaimedDeliveries[]) counted.deliveries += deliveries.length;
    }
    return answer;
  });
  return counted;
}
