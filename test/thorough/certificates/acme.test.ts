// Certificates from a real directory: pebble, which rejects nonces, reuses proofs, and validates by the test's DNS server.
import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import type { CertificateStore } from '../../../src/store/certificates.ts';
import { pebbleMissing } from '../../support/pebble.ts';
import { bound, NONE, PAIR, startBench } from './acme-bench.ts';

const skip = pebbleMissing();

t.test('certificates are issued, kept sealed, found again, and renewed', { skip }, async (t) => {
  const { pebble, store, time, open, certificateOf, lines } = await startBench(t);
  const keeper = await open([PAIR, ['mail.a.test'], ['mail.a.test']]);
  const temporary = await certificateOf(keeper, PAIR);
  t.equal(temporary.checkHost('links.a.test'), 'links.a.test');
  t.ok(temporary.verify(temporary.publicKey), 'self-signed');
  t.same(keeper.ends(), [
    { names: 'links.a.test mail.a.test', notAfter: null },
    { names: 'mail.a.test', notAfter: null },
  ]);

  t.equal(await keeper.run(NONE), 'links.a.test mail.a.test: issued; mail.a.test: issued');
  const issued = await certificateOf(keeper, PAIR);
  t.ok(PAIR.every((name) => issued.checkHost(name)));
  const chain = (await keeper.source(PAIR).read()).cert.toString();
  const intermediate = new X509Certificate(`-----BEGIN${chain.split('-----BEGIN')[2]}`);
  t.ok(issued.verify(intermediate.publicKey));
  t.ok(intermediate.verify(new X509Certificate(pebble.issuerRoot).publicKey), 'up to the root of the directory');
  t.equal(await keeper.run(NONE), 'nothing due');

  const records = await store.certificates.listCertificates();
  t.match(records, [{ failures: 0, order: null, failure: null }, { failures: 0 }]);
  t.notMatch(records.map(({ issued }) => issued?.key.sealed.toString('latin1')).join(), 'PRIVATE KEY');
  t.notMatch(lines.join(), 'PRIVATE KEY');

  const next = await open([PAIR]);
  t.equal((await certificateOf(next, PAIR)).serialNumber, issued.serialNumber, 'a restart needs no directory');

  const { notBefore, notAfter } = records[0]!.issued!;
  t.equal(records[0]!.nextAttemptAt, Math.round(notBefore + (2 / 3) * (notAfter - notBefore)));
  time.at = records[0]!.nextAttemptAt - 1;
  t.equal(await next.run(NONE), 'nothing due');
  time.at += 1;
  t.equal(await next.run(NONE), 'links.a.test mail.a.test: issued');
  t.not((await certificateOf(next, PAIR)).serialNumber, issued.serialNumber, 'in the same source');
});

t.test('what a directory rejects waits longer and longer, and stops no other', { skip }, async (t) => {
  const { store, time, open, lines, dns } = await startBench(t);
  const keeper = await open([['gone.a.test'], ['mail.a.test']]);
  const result = await keeper.run(NONE);
  t.match(result, /^gone\.a\.test: failed: gone\.a\.test: .*; mail\.a\.test: issued$/);
  const failed = async () => (await store.certificates.listCertificates())[0]!;
  const startedAt = time.at;
  t.match(await failed(), { failures: 1, order: null, nextAttemptAt: startedAt + 5 * MINUTE_MS });
  t.match((await failed()).failure?.reason, /^gone\.a\.test: \S/, "in the directory's words");
  t.match(lines.join(), 'no certificate issued');
  t.equal(await keeper.run(NONE), 'nothing due');
  for (const pause of [10, 20, 40, 80, 160, 360, 720, 1440, 1440]) {
    time.at = (await failed()).nextAttemptAt;
    await keeper.run(NONE);
    t.equal((await failed()).nextAttemptAt - time.at, pause * MINUTE_MS);
  }
  dns.set('gone.a.test', 'A', ['127.0.0.1']);
  time.at = (await failed()).nextAttemptAt;
  t.match(await keeper.run(NONE), 'gone.a.test: issued');
  t.match(await failed(), { failures: 0, failure: null });
});

t.test('a daemon that dies goes on with its order, and counts the attempt', { skip }, async (t) => {
  const { store, kit, time, open } = await startBench(t);
  const dying = (verb: keyof CertificateStore) => {
    const certificates = { ...bound(kit.store.certificates), [verb]: () => Promise.reject(new Error('died')) };
    return open([PAIR], { store: { ...kit.store, certificates, platformKeys: store.platformKeys } });
  };
  t.match(await (await dying('keepCertificate')).run(NONE), 'failed: died');
  const [left] = await store.certificates.listCertificates();
  t.match(left, { failures: 1, nextAttemptAt: time.at + 5 * MINUTE_MS, issued: null });
  t.match(left!.order?.url, /^https:/);
  const keeper = await open([PAIR]);
  t.equal(await keeper.run(NONE), 'nothing due', 'a crash loop calls nobody');
  time.at += 5 * MINUTE_MS;
  const kept: unknown[] = [];
  const watching = { ...bound(kit.store.certificates) };
  watching.keepCertificateOrder = async (id, order) => {
    kept.push(order);
    return store.certificates.keepCertificateOrder(id, order);
  };
  const next = await open([PAIR], { store: { certificates: watching, platformKeys: store.platformKeys } });
  t.match(await next.run(NONE), 'issued');
  t.same(kept, [], 'no other order');
});

t.test('a daemon that is stopped in an attempt says so, and goes on later', { skip }, async (t) => {
  const { store, kit, time, open } = await startBench(t);
  const stopping = new AbortController();
  const certificates = bound(store.certificates);
  certificates.keepCertificateOrder = async (id, order) => {
    await store.certificates.keepCertificateOrder(id, order);
    stopping.abort();
  };
  const keeper = await open([['mail.a.test']], { store: { ...kit.store, certificates } });
  t.match(await keeper.run(stopping.signal), 'the daemon was stopped');
  t.match(await store.certificates.listCertificates(), [{ failures: 1, failure: { reason: /stopped/ } }]);
  time.at += 5 * MINUTE_MS;
  t.match(await (await open([['mail.a.test']])).run(NONE), 'issued');
});

t.test('a name without an address is waited for, and no attempt', { skip }, async (t) => {
  const { store, open, lines, pebble } = await startBench(t);
  let missing = ['mail.a.test'];
  const keeper = await open([['links.a.test'], PAIR], {
    namesWithoutAddress: async (names) => missing.filter((name) => names.includes(name)),
  });
  const waits = 'links.a.test mail.a.test: waits, because DNS has no address for mail.a.test';
  t.equal(await keeper.run(NONE), `links.a.test: issued; ${waits}`);
  t.equal(await keeper.run(NONE), waits, 'looked at again at once');
  t.equal(keeper.waitsFor(PAIR), 'waits, because DNS has no address for mail.a.test');
  t.equal(keeper.waitsFor(['links.a.test']), null);
  t.equal((await store.certificates.listCertificates()).length, 1);
  t.equal(lines.filter((line) => line.includes('a certificate waits for DNS')).length, 1, 'said once');
  missing = [];
  t.equal(await keeper.run(NONE), 'links.a.test mail.a.test: issued');

  const { nextAttemptAt } = (await store.certificates.listCertificates())[0]!;
  const id = { directory: pebble.directory, names: 'links.a.test' };
  await store.certificates.hastenCertificateAttempt(id, nextAttemptAt - 1);
  t.equal(await keeper.run(NONE), 'nothing due');
  await store.certificates.hastenCertificateAttempt(id, 0);
  t.equal(await keeper.run(NONE), 'links.a.test: issued', 'renewed because somebody wants it');
});

t.test('external account binding', { skip }, async (t) => {
  const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W';
  const { kit, time, open } = await startBench(t, { bindings: { 'kid-1': hmacKey } });
  t.match(await (await open([['mail.a.test']])).run(NONE), /failed: .*externalAccountBinding/);
  time.at += HOUR_MS;
  const account = { ...kit.account, binding: { kid: 'kid-1', hmacKey } };
  t.match(await (await open([['mail.a.test']], { account })).run(NONE), 'issued');
});

t.test('a directory that cannot be called or trusted, and a port that is not open', { skip }, async (t) => {
  const { kit, time, open, store } = await startBench(t);
  const untrusted = await open([['mail.a.test']], { account: { ...kit.account, root: null } });
  t.match(await untrusted.run(NONE), /failed: localhost:\d+ could not be called: .*certificate/);
  time.at += DAY_MS;
  const closed = await open([['mail.a.test']], { portProblem: async () => 'the port is taken' });
  t.equal(await closed.run(NONE), 'the port is taken');
  t.match(await store.certificates.listCertificates(), [{ failures: 1 }], 'not an attempt');
});
