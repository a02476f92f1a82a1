// A tenant's owners are told of a webhook that fails, whatever comes between: the mails are queued before it is noted that they
// were, and a mail has one key.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { Vault } from '../../src/base/vault.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { AcceptResult } from '../../src/store/submissions.ts';
import { createServiceMail, notifyByMail } from '../../src/submission/service-mail.ts';
import { notifyFailing } from '../../src/webhooks/failing-webhooks.ts';
import { openStore } from '../inbound/store-kit.ts';
import { T0 } from '../store/conformance/harness.ts';
import { happen, resultOf, webhookOf } from '../store/conformance/webhook-deliveries.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';

t.test('a fault at any step is made up for by the next run, and each owner gets one mail', async (t) => {
  const bench = await openStore(t);
  const { tenant, domain } = await bench.sender('acme.test');
  for (const name of ['ann', 'bob']) {
    const owner = { tenantId: tenant.id, email: `${name}@acme.test`, role: 'owner' as const, passwordHash: '' };
    await bench.store.accounts.createUser({ id: bench.id(), ...owner, createdAt: 1 });
  }
  const webhookId = await webhookOf(bench, tenant.id);
  await happen(bench, domain);
  const terms = { owners: [await bench.owner()], now: T0, leaseUntil: [T0 + MINUTE_MS] };
  const [claimed] = await bench.store.webhooks.claimDeliveries([{ webhookId, limit: 1 }], terms);
  const failed = resultOf(claimed!.deliveries[0]!, { to: 'due', dueAt: T0 + MINUTE_MS });
  await bench.store.webhooks.recordDeliveries([failed], T0);

  /** Counts calls of each verb; that many of its first calls fail. */
  const calls = new Map<string, number>();
  const faults = new Map([
    ['reputation.ownersOf', 1],
    ['submissions.accept', 3],
    ['webhooks.noteFailureTold', 1],
  ]);
  const mails: string[] = [];
  const store = wrapVerbs(bench.store, (name, verb) => async (...args) => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    if (calls.get(name)! <= (faults.get(name) ?? 0)) throw new Error('the database is away');
    const answer = await verb(...args);
    if (name === 'submissions.accept') mails.push((answer as AcceptResult).kind);
    return answer;
  });
  const clock = { now: () => T0 + HOUR_MS };
  const send = createServiceMail({
    ...{ store, vault: new Vault([Buffer.alloc(32, 1)]), ids: new IdSource(), clock },
    bouncesDomain: 'bounces.test',
    dkim: { domain: 'service.test', selector: 's1', privateKeyDer: Buffer.from('private'), publicKeyB64: 'cHVibGlj' },
    lifetimeMs: DAY_MS,
    onAccepted: () => {},
  });
  const run = () => notifyFailing({ store, clock, log: silentLogger, notify: notifyByMail(send, silentLogger) });

  await t.rejects(run(), /is away/, 'who are the owners?');
  t.equal(await run(), '0 told', 'neither mail is accepted');
  t.equal(await run(), '0 told', 'one is');
  t.same(mails, ['accepted']);
  await t.rejects(run(), /is away/, 'both are, and that is not noted');
  t.same(mails.toSorted(), ['accepted', 'accepted', 'replayed']);
  t.equal(await run(), '1 told');
  t.equal(mails.filter((kind) => kind === 'accepted').length, 2);
  t.equal(await run(), '0 told', 'it is noted');
});
