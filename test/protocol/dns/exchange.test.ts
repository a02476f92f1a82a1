// One question, one server: what counts as the answer, and how failures look.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import {
  type ExchangeRequest,
  exchange,
  formatServer,
  parseServer,
} from '../../../src/protocol/dns/lookup/exchange.ts';
import { RCODE } from '../../../src/protocol/dns/lookup/wire.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { patience } from '../../support/patience.ts';

const server = await startDnsServer();
t.teardown(() => server.close());

function ask(name: string, changes: Partial<ExchangeRequest> = {}) {
  const to = { ip: server.address, port: server.port };
  return exchange({ server: to, name, type: 'TXT', recursive: true, timeoutMs: patience(2000), ...changes });
}

async function texts(name: string, changes: Partial<ExchangeRequest> = {}): Promise<string[]> {
  const result = await ask(name, changes);
  return result.kind === 'answer' ? result.answer.answers.map((record) => String(record.value)) : [result.kind];
}

const transports = (name: string) => server.queries.filter((query) => query.name === name).map((q) => q.transport);

t.test('an answer carries code, authority and records', async (t) => {
  server.set('plain.test', 'TXT', ['one', ['spl', 'it']], 120);
  const result = await ask('plain.test');
  if (result.kind !== 'answer') return t.fail(`no answer: ${result.kind}`);
  t.equal(result.answer.rcode, RCODE.NOERROR);
  t.equal(result.answer.aa, true);
  t.same(result.answer.answers, [
    { name: 'plain.test', ttlS: 120, type: 'TXT', value: 'one' },
    { name: 'plain.test', ttlS: 120, type: 'TXT', value: 'split' },
  ]);
  t.same(transports('plain.test'), ['udp']);
});

t.test('a code is an answer too', async (t) => {
  server.behave('broken.test', 'servfail');
  const [missing, broken] = await Promise.all([ask('missing.test'), ask('broken.test')]);
  t.equal(missing.kind === 'answer' && missing.answer.rcode, RCODE.NXDOMAIN);
  t.equal(broken.kind === 'answer' && broken.answer.rcode, RCODE.SERVFAIL);
});

t.test('the records of every type are read', async (t) => {
  server.set('types.test', 'A', ['192.0.2.1']);
  server.set('types.test', 'AAAA', ['2001:db8::1']);
  server.set('types.test', 'MX', [
    { exchange: 'Mail.Types.Test', preference: 10 },
    { exchange: '', preference: 0 },
  ]);
  server.set('types.test', 'NS', ['NS1.types.test']);
  const values = async (type: ExchangeRequest['type']) => {
    const result = await ask('types.test', { type });
    return result.kind === 'answer' ? result.answer.answers.map((record) => record.value) : result.kind;
  };
  t.same(await values('A'), ['192.0.2.1']);
  t.same(await values('AAAA'), ['2001:db8::1']);
  t.same(await values('MX'), [
    { exchange: 'mail.types.test', preference: 10 },
    { exchange: '', preference: 0 },
  ]);
  t.same(await values('NS'), ['ns1.types.test']);
});

t.test('after truncation the question goes over TCP', async (t) => {
  server.set('cut.test', 'TXT', ['whole']);
  server.behave('cut.test', 'truncate');
  t.same(await texts('cut.test'), ['whole']);
  t.same(transports('cut.test'), ['udp', 'tcp']);
});

t.test('an answer that does not fit into a datagram comes over TCP', async (t) => {
  const long = 'x'.repeat(5000);
  server.set('long.test', 'TXT', [long]);
  t.same(await texts('long.test'), [long]);
  t.same(transports('long.test'), ['udp', 'tcp']);
});

t.test('an answer between 512 and 1232 octets needs no TCP', async (t) => {
  server.set('edns.test', 'TXT', ['x'.repeat(1000)]);
  t.equal((await texts('edns.test'))[0]?.length, 1000);
  t.same(transports('edns.test'), ['udp']);
});

t.test('TCP at once on request', async (t) => {
  server.set('tcp.test', 'TXT', ['over tcp']);
  t.same(await texts('tcp.test', { transport: 'tcp' }), ['over tcp']);
  t.same(transports('tcp.test'), ['tcp']);
});

t.test('forged datagrams are passed over, the true answer counts', async (t) => {
  server.set('forged.test', 'TXT', ['true']);
  server.behave('forged.test', 'forged_first');
  t.same(await texts('forged.test'), ['true']);
});

t.test('a wrong id or a wrong question is no answer', async (t) => {
  server.behave('id.test', 'wrong_id');
  server.behave('question.test', 'wrong_question');
  t.same(await texts('id.test', { timeoutMs: 60 }), ['timeout']);
  t.same(await texts('question.test', { timeoutMs: 60 }), ['timeout']);
  t.same(await texts('question.test', { transport: 'tcp' }), ['malformed'], 'over TCP nobody else can answer');
});

t.test('bytes that cannot be read are malformed', async (t) => {
  server.set('garbage.test', 'TXT', ['whole']);
  server.behave('garbage.test', 'garbage');
  t.same(await texts('garbage.test'), ['malformed']);
  server.set('half.test', 'TXT', ['a record that ends too early must not be taken for a whole one']);
  server.behave('half.test', 'cut');
  t.same(await texts('half.test'), ['malformed']);
});

t.test('a server that does not know EDNS is asked without it', async (t) => {
  server.set('old.test', 'TXT', ['old']);
  server.behave('old.test', 'no_edns');
  t.same(await texts('old.test'), ['old']);
  t.same(transports('old.test'), ['udp', 'udp']);
});

t.test('the deadline is over UDP and TCP together', async (t) => {
  server.behave('silent.test', 'silent');
  server.behave('stuck.test', 'truncate_silent');
  t.same(await texts('silent.test', { timeoutMs: 60 }), ['timeout']);
  t.same(await texts('stuck.test', { timeoutMs: 60 }), ['timeout']);
});

t.test('the caller can abort', async (t) => {
  server.behave('aborted.test', 'silent');
  const controller = new AbortController();
  const result = texts('aborted.test', { signal: controller.signal, timeoutMs: 60_000 });
  controller.abort();
  t.same(await result, ['aborted']);
  t.same(await texts('aborted.test', { signal: controller.signal }), ['aborted'], 'also before it began');
});

t.test('a closed port is a network error at once', async (t) => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const port = socket.address().port;
  socket.close();
  const closed = { ip: '127.0.0.1', port };
  t.same(await texts('x.test', { server: closed }), ['network_error']);
  t.same(await texts('x.test', { server: closed, transport: 'tcp' }), ['network_error']);
});

t.test('a server on IPv6', async (t) => {
  const six = await startDnsServer({ address: '::1', records: { 'six.test': { TXT: ['v6'] } } });
  t.teardown(() => six.close());
  const to = { ip: '::1', port: six.port };
  t.same(await texts('six.test', { server: to }), ['v6']);
  t.same(await texts('six.test', { server: to, transport: 'tcp' }), ['v6']);
});

t.test('what is not a DNS name is not asked', async (t) => {
  for (const name of ['', 'a..b', `${'x'.repeat(64)}.test`, 'with space.test', `${'abcdefg.'.repeat(32)}test`]) {
    t.same(await texts(name), ['malformed'], name);
  }
});

t.test('addresses of servers', async (t) => {
  t.same(parseServer('192.0.2.1'), { ip: '192.0.2.1', port: 53 });
  t.same(parseServer('192.0.2.1:5353'), { ip: '192.0.2.1', port: 5353 });
  t.same(parseServer('2001:db8::1'), { ip: '2001:db8::1', port: 53 });
  t.same(parseServer('[2001:db8::1]:5353'), { ip: '2001:db8::1', port: 5353 });
  t.same(parseServer('[2001:db8::1]'), { ip: '2001:db8::1', port: 53 });
  t.equal(formatServer({ ip: '2001:db8::1', port: 53 }), '[2001:db8::1]:53');
  for (const wrong of [
    '',
    'ns1.test',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '192.0.2.1:',
    '[192.0.2.1]:53',
    ':53',
    '1.2.3',
  ]) {
    t.equal(parseServer(wrong), null, wrong);
  }
});
