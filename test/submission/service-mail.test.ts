// The service's own mail over a real store: queued once per key, from a domain that nobody looks at.
import t, { type Test } from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { Vault } from '../../src/base/vault.ts';
import { createLogger } from '../../src/observe/log.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { createServiceMail, notifyByMail, type SendServiceMail } from '../../src/submission/service-mail.ts';
import { openStore } from '../inbound/store-kit.ts';
import { T0 } from '../store/conformance/harness.ts';

async function open(t: Test) {
  const { store } = await openStore(t);
  const noticed: LaneNotice[] = [];
  const kit = {
    ...{ store, vault: new Vault([Buffer.alloc(32, 1)]), ids: new IdSource(), clock: { now: () => T0 } },
    bouncesDomain: 'bounces.test',
    dkim: { domain: 'service.test', selector: 's1', privateKeyDer: Buffer.from('private'), publicKeyB64: 'cHVibGlj' },
    lifetimeMs: DAY_MS,
    onAccepted: (lanes: LaneNotice[]) => void noticed.push(...lanes),
  };
  return { store, kit, noticed };
}

const MAIL = { to: 'operator@ops.test', subject: 'a word', text: 'about something', key: 'k' };

t.test('the same key sends once, also after a restart, from the one tenant of the service', async (t) => {
  const { store, kit, noticed } = await open(t);
  const send = createServiceMail(kit);
  t.same(await send(MAIL), { kind: 'queued' });
  t.same(await send(MAIL), { kind: 'queued' });
  t.same(await createServiceMail(kit)(MAIL), { kind: 'queued' });
  t.equal(noticed.length, 1);
  t.equal((await store.tenants.listTenants()).length, 1);
});

t.test("nobody looks whether the record of the service's own domain is there", async (t) => {
  const { store, kit } = await open(t);
  await createServiceMail(kit)(MAIL);
  const inAYear = T0 + 365 * DAY_MS;
  t.same(await store.domains.claimRechecks(inAYear, { limit: 10, leaseUntil: inAYear + 1 }), []);
});

t.test('each of several people is told once, whatever becomes of the others', async (t) => {
  const lines: { level: string; reason?: unknown; error?: unknown }[] = [];
  const log = createLogger({ level: 'info', to: { write: (line) => void lines.push(JSON.parse(line)) } });
  const asked: string[] = [];
  const send: SendServiceMail = async ({ to, key }) => {
    asked.push(`${key} ${to}`);
    if (to === 'gone@acme.test') return { kind: 'refused', reason: 'the address is on a suppression list' };
    if (to === 'late@acme.test') throw new Error('the store is closed');
    return { kind: 'queued' };
  };
  const people = ['gone@acme.test', 'late@acme.test', 'ann@acme.test'];
  const notify = notifyByMail(send, log);
  const notice = { subject: 'a word', text: 'about something', key: 'k' };
  t.equal(await notify(people, notice), false, 'a fault: it can be repeated');
  t.same(
    asked,
    people.map((address) => `k:${address} ${address}`),
  );
  t.match(lines, [
    { level: 'warn', reason: 'the address is on a suppression list' },
    { level: 'error', msg: /the store is closed/ },
  ]);
  t.equal(await notify(['gone@acme.test', 'ann@acme.test'], notice), true, 'a refusal would come again');
  t.equal(await notify([], notice), true);
});

t.test('its mails hold links that set passwords: their content goes once they are delivered', async (t) => {
  const { store, kit } = await open(t);
  await createServiceMail(kit)(MAIL);
  const [tenant] = await store.tenants.listTenants();
  t.equal(await store.upkeep.contentDaysOf(tenant!.id), 0);
  await store.upkeep.setContentDays(tenant!.id, 3);
  await createServiceMail(kit)({ ...MAIL, key: 'other' });
  t.equal(await store.upkeep.contentDaysOf(tenant!.id), 3, 'an operator may want something else');
});
