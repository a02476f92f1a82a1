// Fetching MTA-STS policies from a real HTTPS server: what is taken, and everything that is not.
import type { IncomingMessage, ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createAddressPolicy } from '../../../src/protocol/dns/addresses/address-policy.ts';
import { fetchPolicy, type PolicyFetchOptions } from '../../../src/protocol/dns/published/mta-sts-fetch.ts';
import { patience } from '../../support/patience.ts';
import { policyText, startPolicyHost } from '../../support/policy-host.ts';
import { createTestAuthority } from '../../support/test-authority.ts';

const authority = createTestAuthority();
t.teardown(() => authority.close());
const certificate = authority.issue('mta-sts.rcpt.test');

type Addresses = { a?: string[]; aaaa?: string[] } | 'unavailable';

async function setUp(
  t: Test,
  addresses: Addresses = { a: ['127.0.0.1'] },
  change: Partial<PolicyFetchOptions> = {},
  shown = certificate,
) {
  const host = await startPolicyHost(shown);
  t.teardown(() => host.close());
  const answer = (ips: string[] | undefined) =>
    ips ? ({ kind: 'found', records: ips, ttlMs: 1000 } as const) : ({ kind: 'no_records' } as const);
  const away = { kind: 'unavailable', reason: 'DNS is away' } as const;
  const options: PolicyFetchOptions = {
    resolver: {
      a: async () => (addresses === 'unavailable' ? away : answer(addresses.a)),
      aaaa: async () => (addresses === 'unavailable' ? away : answer(addresses.aaaa)),
    },
    port: host.port,
    ca: authority.ca,
    addresses: createAddressPolicy({ key: 'delivery.allow_private', allowPrivate: true }),
    timeoutMs: patience(5000),
    ...change,
  };
  host.serve(policyText('enforce', ['mx.rcpt.test']));
  return { host, fetch: (domain = 'rcpt.test') => fetchPolicy(domain, options) };
}

t.test('a policy over HTTPS, from the well-known place', async (t) => {
  const { host, fetch } = await setUp(t);
  const policy = { mode: 'enforce', mx: ['mx.rcpt.test'], maxAgeMs: 86_400_000 };
  t.strictSame(await fetch(), { kind: 'policy', policy });
  t.same(host.asked, [`mta-sts.rcpt.test:${host.port}/.well-known/mta-sts.txt`]);
});

t.test('the next address, when nobody answers at the first', async (t) => {
  const { fetch } = await setUp(t, { a: ['127.0.0.9', '127.0.0.1'] });
  t.match(await fetch(), { kind: 'policy' });
});

const plain = { 'content-type': 'text/plain' };
const misbehaving: Record<string, [reason: RegExp, answer: (q: IncomingMessage, s: ServerResponse) => void]> = {
  'a redirect': [/status 301/, (_, s) => s.writeHead(301, { ...plain, location: '/elsewhere' }).end()],
  'not found': [/status 404/, (_, s) => s.writeHead(404, plain).end()],
  'a web page': [/not text\/plain/, (_, s) => s.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  'no policy': [/"version: STSv1"/, (_, s) => s.writeHead(200, plain).end('hello')],
  'more than 64 KiB': [/larger than 64 KiB/, (_, s) => s.writeHead(200, plain).end('x: y\r\n'.repeat(11_000))],
  'an end in the middle': [
    /aborted|hang up|closed/,
    (_, s) => {
      s.writeHead(200, { ...plain, 'content-length': '1000' }).write('version');
      s.socket?.destroy();
    },
  ],
};
for (const [name, [reason, answer]] of Object.entries(misbehaving)) {
  t.test(`refused: ${name}`, async (t) => {
    const { host, fetch } = await setUp(t);
    host.serve(answer);
    t.match(await fetch(), { kind: 'failed', reason });
    t.match(await fetch(), { kind: 'failed', reason: /^https:\/\/mta-sts\.rcpt\.test\/\.well-known\/mta-sts\.txt: / });
    t.ok(
      host.asked.every((line) => line.endsWith('/.well-known/mta-sts.txt')),
      'no redirect is followed',
    );
  });
}

t.test('refused: a body that never ends, however slowly it comes', async (t) => {
  const { host, fetch } = await setUp(t, undefined, { timeoutMs: 300 });
  host.serve((_, response) => void response.writeHead(200, plain).write('version: STSv1\r\n'));
  t.match(await fetch(), { kind: 'failed', reason: /no answer in time/ });
});

t.test('refused: a certificate of nobody, and one for another name', async (t) => {
  const unknown = await setUp(t, undefined, { ca: createTestAuthorityAway(t) });
  t.match(await unknown.fetch(), { kind: 'failed', reason: /certificate/ });
  const other = await setUp(t);
  t.match(await other.fetch('other.test'), { kind: 'failed', reason: /not valid for mta-sts\.other\.test/ });
  t.same(other.host.asked, [], 'nothing was asked over it');
});

function createTestAuthorityAway(t: Test): string {
  const stranger = createTestAuthority();
  t.teardown(() => stranger.close());
  return stranger.ca;
}

t.test('a common name is no name (section 3.3)', async (t) => {
  const old = await setUp(t, undefined, {}, authority.issueByCommonName('mta-sts.rcpt.test'));
  t.match(await old.fetch(), { kind: 'failed', reason: /the certificate is not valid for mta-sts\.rcpt\.test/ });
  t.same(old.host.asked, []);
});

t.test('addresses', async (t) => {
  const inside = await setUp(
    t,
    { a: ['127.0.0.1', '10.0.0.1'], aaaa: ['::1'] },
    {
      addresses: createAddressPolicy({ key: 'delivery.allow_private', allowPrivate: false }),
    },
  );
  t.match(await inside.fetch(), { kind: 'failed', reason: /not a public address \(delivery\.allow_private\)/ });
  t.same(inside.host.asked, []);
  t.match(await (await setUp(t, {})).fetch(), { kind: 'failed', reason: /has no address/ });
  t.match(await (await setUp(t, 'unavailable')).fetch(), { kind: 'failed', reason: /DNS is away/ });
});
