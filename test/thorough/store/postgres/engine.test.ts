// The PostgreSQL driver's engine: groups, tries, what is unknown after a lost COMMIT, caches and notices.
import t, { type Test } from 'tap';
import type { Domain } from '../../../../src/store/domains.ts';
import { openPostgresStore, type PostgresOptions } from '../../../../src/store/postgres/open.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Tenant } from '../../../../src/store/tenants.ts';
import { Bench, T0 } from '../../../store/conformance/harness.ts';
import { within } from '../../../support/patience.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { until } from '../../../support/until.ts';

const noContents = () => {
  throw new Error('not opened by this test');
};

async function openAt(t: Test, url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, ...options });
  t.teardown(() => store.close());
  return store;
}

const benchOf = (store: Store) => new Bench({ store, openContents: noContents });

/** A verb of the kind `mail` whose row can be counted: seconds of a key's last use. */
async function keysOf(bench: Bench, count: number) {
  const tenant = await bench.tenant();
  const keys = Array.from({ length: count }, () => bench.apiKey(tenant.id));
  for (const key of keys) await bench.store.keys.createApiKey(key, 50);
  return { tenant, keys };
}

const use = (keyId: string, at: number) => [{ keyId, at }];

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);

  t.test('verbs of one turn are committed together, and each is answered', async (t) => {
    const url = server.url(await server.createDatabase());
    const groups: number[] = [];
    const bench = benchOf(await openAt(t, url, { onGroup: ({ verbs }) => groups.push(verbs) }));
    const { domain } = await bench.sender('acme.test');
    groups.length = 0;
    const accepted = await Promise.all(Array.from({ length: 40 }, (_, at) => bench.accept(domain, [`${at}@x.test`])));
    t.equal(new Set(accepted.map(({ receipt }) => receipt.id)).size, 40);
    t.strictSame(groups, [40]);
    t.equal(await bench.store.figures.countOpenMessages(), 40);
  });

  t.test('a look at the whole queue may take longer than other reads', async (t) => {
    const database = await server.createDatabase();
    const bench = benchOf(await openAt(t, server.url(database), { statementMs: 300 }));
    const { domain } = await bench.sender('acme.test');
    const { lane } = await bench.queued(domain, 'a@x.test', T0);
    const { slot } = await bench.owner();
    await server.run(
      database,
      `ALTER TABLE postrider.lanes RENAME TO quick_lanes; CREATE VIEW postrider.lanes AS
         SELECT quick_lanes.* FROM postrider.quick_lanes, (SELECT pg_sleep(0.6)) AS slow`,
    );
    const { queue, shaping } = bench.store;
    t.match(await queue.dueLanes([slot]), [{ lane }]);
    t.strictSame(await queue.listSending([slot], null, 10), []);
    const ofDomain = { kind: 'domain', key: 'x.test' } as const;
    await t.rejects(shaping.lanesOf(ofDomain, null, 10), { name: 'Fault', detail: /took too long/ });
  });

  t.test('a verb that fails fails alone', async (t) => {
    const url = server.url(await server.createDatabase());
    const bench = benchOf(await openAt(t, url));
    const { tenant, keys } = await keysOf(bench, 3);
    const [one, two, three] = keys.map(({ id }) => id);
    const results = await Promise.allSettled([
      bench.store.keys.noteKeyUses(use(one!, T0)),
      // No number: the statement fails, and the whole transaction with it.
      bench.store.keys.noteKeyUses(use(two!, Number.NaN)),
      bench.store.keys.noteKeyUses(use(three!, T0)),
    ]);
    t.strictSame(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.match(results[1], { reason: { name: 'Fault', message: 'the database could not be used', detail: /bigint/ } });
    const uses = await bench.store.keys.lastKeyUses(tenant.id);
    t.strictSame(uses.map(({ keyId }) => keyId).sort(), [one, three].sort());
  });

  t.test('a connection that is lost in a transaction is replaced, and nobody notices', async (t) => {
    const name = await server.createDatabase();
    const bench = benchOf(await openAt(t, server.url(name)));
    const { domain } = await bench.sender('acme.test');
    await terminateAll(server, name);
    const results = await Promise.all([1, 2, 3].map((at) => bench.accept(domain, [`${at}@x.test`])));
    t.equal(results.length, 3);
    await terminateAll(server, name);
    t.equal(await bench.store.figures.countOpenMessages(), 3, 'reads neither');
  });

  t.test('statements that a migration has outdated on every connection are prepared again', async (t) => {
    const name = await server.createDatabase();
    const { owners } = await openAt(t, server.url(name));
    const each = <T>(read: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, read));
    await each(() => owners.listNodes());
    await server.run(name, 'ALTER TABLE postrider.nodes ADD COLUMN region text');
    // The others take the connection that finds it out, and leave one to the second try that does not know it yet.
    const [nodes] = await Promise.all([owners.listNodes(), each(() => owners.readClock())]);
    t.strictSame(nodes, []);
  });

  t.test('a COMMIT without an answer that took effect is answered as such, and happens once', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const direct = server.url(await server.createDatabase());
    const bench = benchOf(await openAt(t, direct.replace(`:${server.port}/`, `:${proxy.port}/`)));
    const { domain } = await bench.sender('acme.test');
    proxy.cutAnswerTo('COMMIT');
    const group = [1, 2, 3].map((at) => bench.accept(domain, [`${at}@x.test`]));
    const accepted = await within(10_000, 'the fate of the commit', Promise.all(group));
    t.equal(accepted.length, 3);
    const others = benchOf(await openAt(t, direct));
    t.equal(await others.store.figures.countOpenMessages(), 3);
  });

  t.test('without a server each verb fails soon, and with it again all goes on', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const direct = server.url(await server.createDatabase());
    const failed: unknown[] = [];
    const store = await openAt(t, direct.replace(`:${server.port}/`, `:${proxy.port}/`), {
      onFailedCommit: (error) => failed.push(error),
    });
    const bench = benchOf(store);
    const { domain } = await bench.sender('acme.test');
    t.equal(await store.ping(), true);
    proxy.refuse(true);
    proxy.cut();
    const unreachable = { name: 'Fault', permanence: 'temporary' };
    const calls: Promise<unknown>[] = [bench.accept(domain, ['a@x.test']), bench.accept(domain, ['b@x.test'])];
    calls.push(bench.tenant());
    for (const call of calls) await t.rejects(within(10_000, 'a verb without a server', call), unreachable);
    t.match(failed, [
      { message: 'the database could not be used', detail: / at 127\.0\.0\.1:\d+: the connection was lost/ },
    ]);
    t.equal(await store.ping(), false);
    await t.rejects(store.proveWritable(T0), unreachable);
    proxy.refuse(false);
    await bench.accept(domain, ['c@x.test']);
    await store.proveWritable(T0);
    t.equal(await store.ping(), true);
    t.equal(await store.figures.countOpenMessages(), 1);
  });

  t.test('two nodes that change the same rows at the same time both get there', async (t) => {
    const url = server.url(await server.createDatabase());
    const [one, two] = [benchOf(await openAt(t, url)), benchOf(await openAt(t, url))];
    const { domain } = await one.sender('acme.test');
    const calls = Array.from({ length: 60 }, (_, at) =>
      (at % 2 ? one : two).accept(domain, [`${at % 7}@x${at % 5}.test`]),
    );
    await Promise.all(calls);
    t.equal(await one.store.figures.countOpenMessages(), 60);
  });

  t.test('a verb that busy neighbours are in the way of takes turns with them, and gets there', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const name = await server.createDatabase();
    const near = benchOf(await openAt(t, server.url(name)));
    const failed: unknown[] = [];
    const far = await openAt(t, server.url(name).replace(`:${server.port}/`, `:${proxy.port}/`), {
      onFailedCommit: (error) => failed.push(error),
    });
    const { domain } = await near.sender('acme.test');
    const messages = [];
    for (let at = 0; at < 13; at++) messages.push(await near.sending(domain, `${at}@x.test`));
    // It reads which messages are being sent, and the results of those read whose the slots are: a circle.
    const taken = far.owners.takeSlots({ node: 'far', slots: 1, newSlots: 1, now: T0, leaseUntil: T0 });
    let isOver = false;
    const over = taken.finally(() => (isOver = true)).catch(() => {});
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'postrider.meta'::regclass`;
    for (const message of messages) {
      await Promise.race([proxy.holdBefore('COMMIT'), over]);
      if (isOver) break;
      let isThrough = false;
      const recorded = near.store.queue.record([
        near.attempted(message, { to: 'delivered' }, near.event('email.delivered')),
      ]);
      void recorded.then(() => (isThrough = true));
      await until(
        'a neighbour is through, or waits',
        async () => isThrough || (await server.run(name, waits)).rowCount,
      );
      proxy.release();
      await recorded;
    }
    t.equal((await taken).owners.length, 1);
    t.strictSame(failed, []);
  });

  t.test('an event is not seen before one with a smaller number', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const name = await server.createDatabase();
    const near = benchOf(await openAt(t, server.url(name)));
    const far = await openAt(t, server.url(name).replace(`:${server.port}/`, `:${proxy.port}/`));
    const { tenant, domain } = await near.sender('acme.test');
    const other = await near.verifiedDomain(tenant.id, 'second.test');
    const happenOn = async (store: Store, of: Domain) => {
      const message = await near.sending(of, 'a@x.test');
      const event = near.event('email.delivered');
      return () => store.queue.record([near.attempted(message, { to: 'delivered' }, event)]).then(() => event.id);
    };
    const [first, second] = [await happenOn(far, domain), await happenOn(near.store, other)];
    const held = proxy.holdBefore('COMMIT');
    const ids = [first()];
    await held;
    ids.push(second());
    let isThrough = false;
    void ids[1]!.then(() => (isThrough = true));
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'`;
    await until(
      'the second one waits, or is through',
      async () => isThrough || (await server.run(name, waits)).rowCount,
    );
    const page = await near.store.events.listEvents(tenant.id, { after: null, limit: 10 });
    proxy.release();
    const all = await Promise.all(ids);
    t.strictSame(page, [], 'or whoever reads on after the second one would miss the first');
    const later = await near.store.events.listEvents(tenant.id, { after: null, limit: 10 });
    t.strictSame(later !== 'unknown' && later.map(({ id }) => id), all);
  });

  t.test('what another node changes is seen at once by verbs that write, and within a second by reads', async (t) => {
    const url = server.url(await server.createDatabase());
    const [one, two] = [benchOf(await openAt(t, url)), benchOf(await openAt(t, url))];
    const { tenant, domain } = await one.sender('acme.test');
    const key = one.apiKey(tenant.id);
    await one.store.keys.createApiKey(key, 50);
    await two.accept(domain, ['a@x.test']);
    t.ok(await two.store.keys.findApiKeyBySecret(key.publicId, key.secretHash));
    await one.store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.match(await two.store.submissions.accept(two.submission(domain, ['b@x.test'])), { kind: 'tenant_not_active' });
    await one.store.keys.revokeApiKey(tenant.id, key.id, T0);
    await until('the revocation is seen', async () => {
      const found = await two.store.keys.findApiKeyBySecret(key.publicId, key.secretHash);
      return found === null || found.key.revokedAt !== null;
    });
  });

  t.test('notes of where mail goes empty no caches', async (t) => {
    const name = await server.createDatabase();
    const { shaping, reputation } = await openAt(t, server.url(name));
    const version = async () => (await server.run(name, 'SELECT version FROM postrider.config_version')).rows;
    const before = await version();
    await shaping.noteDomains([{ domain: 'x.test', mxGroup: 'big', at: T0 }], T0);
    await shaping.forgetDomains(T0 + 1, 10);
    t.strictSame(await version(), before);
    await reputation.doubtReceiver({ mxGroup: 'big', since: T0, reason: 'a test' });
    t.strictNotSame(await version(), before, 'of what else there is, a doubt is told');
  });

  t.test('notices reach the listeners of every node', async (t) => {
    const url = server.url(await server.createDatabase());
    const [one, two] = [await openAt(t, url), await openAt(t, url)];
    const bench = benchOf(one);
    const heard: string[][] = [[], []];
    one.notices.listen({ webhooksDue: (ids) => heard[0]!.push(...ids) });
    two.notices.listen({ webhooksDue: (ids) => heard[1]!.push(...ids) });
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant);
    // LISTEN begins some time after listen(): until then notices are lost, and events go on.
    const haveBoth = await until('both have heard of it', async () => {
      const message = await bench.sending(domain, 'a@x.test');
      const event = bench.event('email.delivered');
      await one.queue.record([bench.attempted(message, { to: 'delivered' }, event)]);
      return heard.every((ids) => ids.includes(webhookId));
    });
    t.equal(haveBoth, true);
  });

  t.test(
    'a notice that could not be sent is sent later, and who listens again is told that some may be missing',
    async (t) => {
      const proxy = await startTcpProxy(t, server);
      const direct = server.url(await server.createDatabase());
      const faults: unknown[] = [];
      const one = await openAt(t, direct.replace(`:${server.port}/`, `:${proxy.port}/`), {
        onNoticeFault: (error) => faults.push(error),
      });
      const two = await openAt(t, direct);
      const heard: number[] = [];
      let missed = 0;
      one.notices.listen({ missed: () => missed++ });
      two.notices.listen({ lanesDue: (slots) => heard.push(...slots) });
      await until('both listen', async () => {
        one.notices.tellLanes([1]);
        return heard.length > 0 && missed === 1;
      });
      proxy.refuse(true);
      proxy.cut();
      one.notices.tellLanes([7]);
      await until('it could not be sent', () => faults.length > 0);
      t.notOk(heard.includes(7));
      proxy.refuse(false);
      t.equal(await until('it was', () => heard.includes(7)), true);
      t.equal(await until('it listens again', () => missed === 2), true);
    },
  );

  t.test('whoever closes waits for what was called', async (t) => {
    const url = server.url(await server.createDatabase());
    const store = await openPostgresStore({ url });
    const bench = benchOf(store);
    const { domain } = await bench.sender('acme.test');
    const accepted = bench.accept(domain, ['a@x.test']);
    await store.close();
    t.ok((await accepted).receipt.id);
    await t.rejects(bench.tenant(), { message: 'the store is closed' });
    await t.rejects(store.tenants.listTenants(), { message: 'the store is closed' });
  });
});

async function terminateAll(server: PostgresServer, database: string): Promise<void> {
  await server.run(
    'postgres',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid()`,
  );
}

async function webhookOf(bench: Bench, tenant: Tenant): Promise<string> {
  const url = 'https://hooks.test/';
  const webhook = {
    id: bench.id(),
    tenantId: tenant.id,
    url,
    target: url,
    description: null,

    createdAt: T0,
  };
  const secret = { masterKeyId: 'master1', sealed: Buffer.from('sealed') };
  t.equal(await bench.store.webhooks.createWebhook({ ...webhook, secret }, 10), 'created');
  return webhook.id;
}
