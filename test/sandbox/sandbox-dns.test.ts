// The DNS server of the sandbox, asked by the product's own resolver and authority, by Node's
// resolver, which has no EDNS, and by hand.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { decode, encode, type Packet } from 'dns-packet';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { createAuthority } from '../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { findMailRoute } from '../../src/protocol/dns/mail-route.ts';
import { startSandboxDns } from '../../src/sandbox/sandbox-dns.ts';
import { patience } from '../support/patience.ts';

const DKIM = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;
const HUGE = 'long '.repeat(600);

/** What the domains are expected to publish; a test may change it at any time. */
const expected = new Map<string, string[]>([
  ['pr202611._domainkey.hello.verified.test', [DKIM]],
  ['hello.verified.test', ['v=spf1 include:bounces.postrider.test ~all']],
  ['huge.verified.test', [HUGE]],
  ['bounces.postrider.test', ['v=spf1 ip4:127.0.0.1 -all']],
  ['outside.example', ['never told: it is in no zone of the sandbox']],
]);

async function startDns(t: Test) {
  const expectedTxt = async (name: string) => {
    if (name === 'broken.verified.test') throw new Error('the store is closed');
    return expected.get(name) ?? null;
  };
  const dns = await startSandboxDns({ zone: { zones: ['bounces.postrider.test'], expectedTxt }, log: silentLogger });
  t.teardown(() => dns.close());
  const resolver = createResolver({ servers: [`127.0.0.1:${dns.port}`], clock: systemClock });
  const authority = createAuthority({ resolver, authorityPort: dns.port, allowPrivate: true });
  return { port: dns.port, resolver, authority };
}

t.test('mail to any domain goes to the capture server', async (t) => {
  const { resolver } = await startDns(t);
  for (const domain of ['example.com', 'mail.Example.ORG', 'xn--bcher-kva.example', 'verified.test', 'com']) {
    const route = await findMailRoute(domain, { resolver, random: Math.random });
    t.match(route, { kind: 'hosts', hosts: [{ name: 'mx.capture.test', addresses: [{ ip: '127.0.0.1' }] }] }, domain);
  }
});

t.test('domains under verified.test publish what is expected of them, at once', async (t) => {
  const { authority } = await startDns(t);
  const texts = async (name: string) => {
    const result = await authority.txt(name);
    return result.kind === 'found' ? result.records : result.kind;
  };
  t.same(await texts('pr202611._domainkey.hello.verified.test'), [DKIM], 'split and joined again');
  t.same(await texts('Hello.Verified.TEST'), ['v=spf1 include:bounces.postrider.test ~all']);
  t.same(await texts('huge.verified.test'), [HUGE], 'over TCP');
  t.same(await texts('bounces.postrider.test'), ['v=spf1 ip4:127.0.0.1 -all']);
  t.equal(await texts('pr202611._domainkey.new.verified.test'), 'no_domain');
  expected.set('pr202611._domainkey.new.verified.test', [DKIM]);
  t.same(await texts('pr202611._domainkey.new.verified.test'), [DKIM]);
});

t.test('all others fail as they would', async (t) => {
  const { authority, resolver } = await startDns(t);
  t.same(await authority.txt('pr202611._domainkey.example.com'), { kind: 'no_domain' });
  t.same(await authority.txt('outside.example'), { kind: 'no_domain' });
  t.same(await resolver.txt('outside.example'), { kind: 'no_records' });
  t.same(await resolver.txt('_dmarc.example.com'), { kind: 'no_domain' });
  t.same(await resolver.a('example.com'), { kind: 'no_records' });
  t.same(await resolver.ns('example.com'), { kind: 'no_records' });
  t.same(await resolver.mx('_dmarc.example.com'), { kind: 'no_domain' });
  t.same(await resolver.ptr('127.0.0.1'), { kind: 'no_domain' });
  t.match(await resolver.a('app.localhost'), { kind: 'found', records: ['127.0.0.1'] });
});

t.test('a name that cannot be looked up now is not denied', async (t) => {
  const { authority } = await startDns(t);
  t.match(await authority.txt('broken.verified.test'), { kind: 'unavailable', reason: /SERVFAIL/ });
});

t.test('without EDNS, long answers come over TCP', async (t) => {
  const { port } = await startDns(t);
  const plain = new Resolver({ timeout: patience(2000), tries: 1 });
  plain.setServers([`127.0.0.1:${port}`]);
  t.equal((await plain.resolveTxt('huge.verified.test'))[0]!.join(''), HUGE);
  t.same(await plain.resolveMx('example.com'), [{ exchange: 'mx.capture.test', priority: 10 }]);
  await t.rejects(plain.resolveTxt('example.com'), { code: 'ENODATA' });
  await t.rejects(plain.resolveTxt('_dmarc.example.com'), { code: 'ENOTFOUND' });
});

t.test('a datagram holds what its asker can take', async (t) => {
  const { port } = await startDns(t);
  const ask = async (name: string, udpPayloadSize: number | null) => {
    const reply = await askOverUdp(port, query({ name, udpPayloadSize }));
    return { truncated: reply.flag_tc, answers: reply.answers!.length };
  };
  const name = 'pr202611._domainkey.hello.verified.test';
  t.same(await ask(name, null), { truncated: true, answers: 0 });
  t.same(await ask(name, 1232), { truncated: false, answers: 1 });
  t.same(await ask('huge.verified.test', 65_535), { truncated: true, answers: 0 });
});

t.test('what is no plain question is refused, and garbage is not answered', async (t) => {
  const { port } = await startDns(t);
  const notify = await askOverUdp(port, query({ name: 'verified.test', flags: 4 << 11 }));
  t.equal(notify.flags! & 0xf, 4, 'NOTIMP');
  const chaos = encode({ type: 'query', id: 7, questions: [{ name: 'version.bind', type: 'TXT', class: 'CH' }] });
  t.equal((await askOverUdp(port, chaos)).flags! & 0xf, 5, 'REFUSED');
  t.equal((await askOverUdp(port, encode({ type: 'query', id: 7 }))).flags! & 0xf, 1, 'FORMERR');
  t.equal((await askOverUdp(port, Buffer.from('garbage'), query({ name: 'a.test' }))).id, 7, 'and goes on');

  const client = connect(port, '127.0.0.1');
  client.write(Buffer.from('\0\x07garbage'));
  await once(client, 'close');
  t.ok(client.destroyed, 'a client over TCP that speaks no DNS is cut off');
});

t.test('several questions over one connection', async (t) => {
  const { port } = await startDns(t);
  const client = connect(port, '127.0.0.1');
  t.teardown(() => client.destroy());
  const framed = ['one.test', 'two.test'].map((name) => {
    const bytes = query({ name, type: 'MX' });
    return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
  });
  const stream = Buffer.concat(framed);
  client.write(stream.subarray(0, 1));
  client.write(stream.subarray(1));
  let received = Buffer.alloc(0);
  const names: string[] = [];
  for await (const chunk of client as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      names.push(decode(received.subarray(2, 2 + received.readUInt16BE(0))).questions![0]!.name);
      received = received.subarray(2 + received.readUInt16BE(0));
    }
    if (names.length === 2) break;
  }
  t.same(names.sort(), ['one.test', 'two.test']);
});

interface QueryOptions {
  name: string;
  type?: 'TXT' | 'MX';
  flags?: number;
  udpPayloadSize?: number | null;
}

function query({ name, type = 'TXT', flags = 0, udpPayloadSize = null }: QueryOptions): Buffer {
  const opt = { type: 'OPT', name: '.', extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false } as const;
  const additionals = udpPayloadSize === null ? [] : [{ ...opt, udpPayloadSize, options: [] }];
  const questions: Packet['questions'] = [{ name, type, class: 'IN' }];
  return encode({ type: 'query', id: 7, flags, questions, additionals });
}

async function askOverUdp(port: number, ...datagrams: Buffer[]) {
  const socket = createSocket('udp4');
  try {
    const answered = once(socket, 'message') as Promise<[Buffer]>;
    for (const datagram of datagrams) socket.send(datagram, port, '127.0.0.1');
    return decode((await answered)[0]);
  } finally {
    socket.close();
  }
}
