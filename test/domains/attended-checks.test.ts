// Looks while a page is open: at once, then rarer; never two of a domain, never many in all. And what a look
// changes: nothing, until the record is there.
import path from 'node:path';
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { AttendedChecks } from '../../src/domains/attended-checks.ts';
import { CheckTurns } from '../../src/domains/check-turns.ts';
import { createDomains, hasPassed } from '../../src/domains/domains.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { Bench, T0 } from '../store/conformance/harness.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { testFolder } from '../support/test-folder.ts';

function open(atOnce?: number) {
  const clock = { time: T0, now: () => clock.time };
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const errors: unknown[] = [];
  const look = async (_owner: unknown, id: string) => {
    begun.push(id);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (id === 'broken') throw new Error('no disk');
    return {} as never;
  };
  const attended = new AttendedChecks({
    ...{ domains: { verifyIfFound: look }, clock, onError: (error) => void errors.push(error) },
    ...(atOnce !== undefined && { atOnce }),
  });
  const finish = async () => {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  };
  return { attended, clock, begun, errors, finish };
}

t.test('the longer a page is open, the rarer', async (t) => {
  const { attended, clock, begun, finish } = open();
  const times: number[] = [];
  for (let second = 0; second < 300; second++) {
    const before = begun.length;
    attended.attend('tenant', 'a');
    if (begun.length > before) times.push(second);
    await finish();
    clock.time += 1000;
  }
  t.same(times.slice(0, 5), [0, 2, 5, 9, 14]);
  t.equal(times.at(-1)! - times.at(-2)!, 60);
  t.ok(times.length < 15, `${times.length} looks in five minutes`);
  clock.time += 11 * MINUTE_MS;
  t.equal(attended.attend('tenant', 'a'), true, 'who comes back later begins anew');
  await finish();
  clock.time += 4000;
  t.equal(attended.attend('tenant', 'a'), true);
});

t.test('one look at a domain, few in all, and a failure stops nothing', async (t) => {
  const { attended, clock, begun, errors, finish } = open(2);
  t.equal(attended.attend('tenant', 'broken'), true);
  t.equal(attended.attend('tenant', 'broken'), true, 'it is under way');
  t.equal(attended.attend('tenant', 'b'), true);
  t.equal(attended.attend('tenant', 'c'), false, 'no place');
  t.same(begun, ['broken', 'b']);
  await finish();
  t.match(errors, [{ message: 'no disk' }]);
  t.equal(attended.attend('tenant', 'c'), true, 'whoever had no place has one now');
  clock.time += 5000;
  t.equal(attended.attend('tenant', 'broken'), true);
});

t.test('a look verifies when the record is there, and changes nothing before', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const dns = await startDnsServer();
  t.teardown(async () => {
    await dns.close();
    await store.close();
  });
  const clock = { time: T0, now: () => clock.time };
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const domains = createDomains({
    ...{ store, clock, ids: new IdSource(), vault: new Vault([Buffer.alloc(MASTER_KEY_BYTES, 1)]) },
    // A new one each time, since it remembers answers.
    lookups: { limited: () => ({ txt: (name) => createResolver({ servers: [dns.endpoint], clock }).txt(name) }) },
    turns: new CheckTurns({ clock, isGood: hasPassed, gapMs: 0 }),
    service: {
      spfDomain: 'spf.s.test',
      dmarcReportAddress: 'd@s.test',
      ownDomains: [],
      maxPerTenant: 10,
      rechecks: true,
    },
  });
  const owner = { tenantId: (await bench.tenant()).id, boundDomain: null };
  const domain = await domains.register(owner, { domain: 'acme.test' });
  if (isRefusal(domain)) throw new Error(domain.message);
  t.equal(await domains.lastChecks(owner, domain.id), null);
  clock.time += 5;
  t.strictSame(await domains.verifyIfFound(owner, domain.id), domain, 'pending as before');
  const [listed] = await domains.list(owner);
  t.strictSame(listed, { ...domain, lastCheckedAt: T0 + 5 }, 'the list says when it was looked at, too');
  t.match(await domains.lastChecks(owner, domain.id), {
    at: T0 + 5,
    checks: [{ record: 'dkim', reason: 'not_found' }, { record: 'spf' }, { record: 'dmarc' }],
  });
  const [dkim] = domains.recordsOf(domain);
  dns.set(`${dkim!.name}.acme.test`, 'TXT', [dkim!.value]);
  await domains.verify(owner, domain.id);
  t.match((await domains.lastChecks(owner, domain.id))?.checks[0], { message: /appends acme\.test automatically/ });
  dns.set(dkim!.name, 'TXT', [dkim!.value]);
  clock.time += 5;
  t.match(await domains.verifyIfFound(owner, domain.id), { state: 'verified', verifiedAt: T0 + 10 });
  t.match((await domains.lastChecks(owner, domain.id))?.checks[0], { ok: true, found: [dkim!.value] });
  const stranger = { tenantId: (await bench.tenant()).id, boundDomain: null };
  t.match(await domains.verifyIfFound(stranger, domain.id), { refused: 'domain_not_found' });
  t.equal(await domains.lastChecks(stranger, domain.id), null);
});
