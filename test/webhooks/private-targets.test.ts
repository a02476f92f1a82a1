// Nothing inside can be reached through a webhook: whatever a tenant's URL says, and whatever the DNS
// answers at the very moment of a call. The webhooks are put into the store as if registration had
// let them all through; a listener on loopback notices every connection.
import net from 'node:net';
import t, { type Test } from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { webhookSecretContext } from '../../src/webhooks/webhooks.ts';
import { patience } from '../support/patience.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { happen, openStage, type Stage } from './stage.ts';

const LITERALS = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0X7F.0.0.0x1',
    '0177.0.0.1',
    '017700000001',
  ],
  ...['127.0.0.1.', '127.255.255.254', '%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.1'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '[::FFFF:127.0.0.1]', '[::7f00:1]'],
  ...['[::ffff:0:7f00:1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...[
    '[2001:0:7f00:1::]',
    '0',
    '0.0.0.0',
    '[::]',
    '10.0.0.1',
    '10.1',
    '0xa.1',
    '167772161',
    '172.16.0.1',
    '192.168.1.1',
  ],
  ...['3232235777', '169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]'],
  ...['100.64.0.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '4294967295'],
  ...['[fe80::1]', '[fc00::1]', '[fd12:3456::1]', '[ff02::1]', '[2001:db8::1]', '[fec0::1]', '[100::1]', '[5f00::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'loc%61lhost', 'ｌocalhost', 'ⓛocalhost'],
];

/** Names, and what the DNS says of them. */
const NAMES: Record<string, { A?: string[]; AAAA?: string[] }> = {
  'loopback.test': { A: ['127.0.0.1'] },
  'loopback6.test': { AAAA: ['::1'] },
  'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
  'nat64.test': { AAAA: ['64:ff9b::7f00:1'] },
  'sixtofour.test': { AAAA: ['2002:7f00:1::1'] },
  'teredo.test': { AAAA: ['2001:0:7f00:1::1'] },
  'office.test': { A: ['10.1.2.3'] },
  'metadata.test': { A: ['169.254.169.254'] },
  'shared.test': { A: ['100.64.1.1'] },
  'link.test': { AAAA: ['fe80::1'] },
  'unique.test': { AAAA: ['fd00::1'] },
  'nothing.test': { A: ['0.0.0.0'] },
  'mixed.test': { A: ['8.8.8.8', '127.0.0.1'] },
  'mixed6.test': { A: ['8.8.8.8'], AAAA: ['::1'] },
  'xn--bcher-kva.test': { A: ['127.0.0.1'] },
};
const WRITTEN = [
  ...Object.keys(NAMES),
  'LOOPBACK.test',
  'loopback.test.',
  'bücher.test',
  'ⓛoopback.test',
  'loop%62ack.test',
  'alias.test',
];

async function smuggle({ store, vault, bench }: Stage, tenantId: string, url: string): Promise<string> {
  const id = bench.id();
  const secret = vault.seal(Buffer.alloc(32, 1), webhookSecretContext(id));
  const target = new URL(url).href;
  // The same target in two notations is one webhook to the store: the notation is kept apart.
  const webhook = { id, tenantId, url, target: `${target}#${id}`, description: null, createdAt: 0, secret };
  if ((await store.webhooks.createWebhook(webhook, 1000)) !== 'created') throw new Error('not created');
  return id;
}

async function listener(t: Test): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { port, connections: () => connections };
}

t.test('every target inside is refused at the call', async (t) => {
  const stage = await openStage(t, { allowPrivate: false });
  const { dns, bench, store } = stage;
  const { port, connections } = await listener(t);
  for (const [name, { A = [], AAAA = [] }] of Object.entries(NAMES)) {
    dns.set(name, 'A', A);
    dns.set(name, 'AAAA', AAAA);
  }
  dns.set('alias.test', 'CNAME', ['loopback.test']);
  const { tenant, domain } = await bench.sender('acme.test');
  const targets = [...LITERALS, ...WRITTEN];
  t.ok(targets.length >= 60, `${targets.length} targets`);
  const ids = new Map<string, string>();
  for (const host of targets) ids.set(host, await smuggle(stage, tenant.id, `http://${host}:${port}/`));
  const dispatcher = await stage.dispatcher();
  const eventId = await happen(bench, domain);
  await dispatcher.idle();
  for (const [host, webhookId] of ids) {
    const attempts = await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId, limit: 5 });
    t.match(
      attempts,
      [{ status: null, answer: null, state: 'due', reason: /^Not called: .*webhooks\.allow_private/ }],
      host,
    );
  }
  t.equal(connections(), 0);
});

t.test('a name that changes its mind between two attempts, and between two questions', async (t) => {
  const stage = await openStage(t, { allowPrivate: false });
  const { bench, store, clock } = stage;
  const { port, connections } = await listener(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const webhookId = await smuggle(stage, tenant.id, `http://rebinding.test:${port}/`);
  // The policy of this test calls a documentation network public; nobody answers there.
  const answers: string[][] = [['198.51.100.1'], ['127.0.0.1'], ['127.0.0.1'], ['127.0.0.1']];
  let asked = 0;
  const resolver = {
    a: async () => ({ kind: 'found' as const, records: answers[asked++] ?? ['127.0.0.1'], ttlMs: 0 }),
    aaaa: async () => ({ kind: 'no_records' as const }),
  };
  const policy = targetPolicy(['198.51.100.0/24']);
  const dispatcher = await stage.dispatcher({ resolver, policy, timeoutMs: patience(200) });
  const eventId = await happen(bench, domain);
  await dispatcher.idle();
  t.equal(asked, 1, 'one question per attempt: what was checked is what is called');
  await stage.pass(dispatcher, 6000);
  await stage.pass(dispatcher, 6 * MINUTE_MS);
  t.equal(asked, 3, 'and asked anew at the next');
  const attempts = await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId, limit: 5 });
  t.match(attempts, [
    { reason: /^Not called: .*127\.0\.0\.1/ },
    { reason: /^Not called: .*127\.0\.0\.1/ },
    { status: null },
  ]);
  t.notMatch(attempts[2]!.reason, 'Not called');
  t.equal(connections(), 0);
  t.ok(clock.time > 0);
});

t.test('redirects to the inside are not followed', async (t) => {
  const stage = await openStage(t, { allowPrivate: ['127.0.0.2/32'] });
  const { bench, dns, store } = stage;
  const { port, connections } = await listener(t);
  const outside = await startEndpoint(t, 0, '127.0.0.2');
  const { tenant, domain } = await bench.sender('acme.test');
  dns.set('outside.test', 'A', ['127.0.0.2']);
  const locations = [
    `http://127.0.0.1:${port}/`,
    `http://[::1]:${port}/`,
    `//localhost:${port}/`,
    'http://169.254.169.254/latest',
  ];
  let next = 0;
  outside.answer = (response) =>
    response.writeHead([301, 302, 307, 308][next % 4]!, { location: locations[next++ % 4]! }).end();
  const webhookId = await smuggle(stage, tenant.id, `http://outside.test:${outside.port}/`);
  const dispatcher = await stage.dispatcher();
  for (let n = 0; n < 4; n++) await happen(bench, domain);
  await outside.until(4);
  await dispatcher.idle();
  const attempts = await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: null, limit: 5 });
  t.equal(attempts.length, 4);
  for (const { reason } of attempts) t.match(reason, /Redirects are not followed/);
  t.equal(connections(), 0);
});

t.test('allowed again by configuration: everything, or some networks', async (t) => {
  for (const allowPrivate of [true, ['127.0.0.0/8']]) {
    const stage = await openStage(t, { allowPrivate });
    const { bench, dns } = stage;
    const endpoint = await startEndpoint(t);
    dns.set('loopback.test', 'A', ['127.0.0.1']);
    const { tenant, domain } = await bench.sender('acme.test');
    for (const host of ['127.0.0.1', '2130706433', 'localhost', 'loopback.test']) {
      await smuggle(stage, tenant.id, `http://${host}:${endpoint.port}/${host}`);
    }
    const dispatcher = await stage.dispatcher();
    await happen(bench, domain);
    await endpoint.until(4);
    await dispatcher.idle();
    t.equal(endpoint.received.length, 4, String(allowPrivate));
  }
});

t.test('a secret that cannot be opened calls nobody and loses nothing', async (t) => {
  const stage = await openStage(t);
  const { bench, store } = stage;
  const endpoint = await startEndpoint(t);
  const { tenant, domain } = await bench.sender('acme.test');
  await smuggle(stage, tenant.id, endpoint.url);
  const blind = await stage.dispatcher({ vault: new Vault([Buffer.alloc(MASTER_KEY_BYTES, 9)]) });
  await happen(bench, domain);
  await blind.idle();
  t.equal(endpoint.received.length, 0);
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 1 }]);
  await blind.close(0);
  await stage.dispatcher();
  await endpoint.until(1);
});
