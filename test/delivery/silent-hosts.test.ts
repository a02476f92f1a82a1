// Addresses that do not answer beside those that do: a dead backup MX, IPv6 where this machine has none, and servers that
// refuse connections without a word. What answers decides, and connections that work go on.
import net from 'node:net';
import t, { type Test } from 'tap';
import { noPeer } from '../../src/base/outcome.ts';
import { connectToAny } from '../../src/delivery/courier/connect.ts';
import type { Interfaces } from '../../src/delivery/route/source-addresses.ts';
import type { OpenResult } from '../../src/protocol/smtp/session.ts';
import { isDeferred, isDelivered, type MxList, setMx, setUpFor, startSink } from './set-up.ts';

const HOUR = 3_600_000;
const users = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@rcpt.test`);
const ONE_HOST: MxList = { 'mx.rcpt.test': { ip: '127.0.0.1', preference: 10 } };
const DEAD_BACKUP: MxList = { ...ONE_HOST, 'mx2.rcpt.test': { ip: '127.0.0.9', preference: 20 } };
const WITH_IPV6 = 'mx.rcpt.test';

const address = (ip: string, family: 'IPv4' | 'IPv6') => {
  const common = { address: ip, netmask: '', mac: '', internal: false, cidr: null };
  return family === 'IPv6' ? { ...common, family, scopeid: 0 } : { ...common, family };
};
const NO_IPV6: Interfaces = { eth0: [address('192.0.2.1', 'IPv4'), address('fe80::1', 'IPv6')] };

interface Door {
  mx: MxList;
  /** An AAAA record of this host. */
  ipv6?: string;
  /** What a connection beyond the first hears; null: nothing. */
  refusal: string | null;
  /** The first is greeted only when another was refused. */
  greetsLate?: true;
}

/** A server that lets in one connection, and does not answer that one's first mail until another was refused. */
async function oneDoor(t: Test, { mx, ipv6, refusal, greetsLate }: Door) {
  const refused = Promise.withResolvers<void>();
  const letIn = Promise.withResolvers<void>();
  const sink = await startSink(t, {
    async onMail() {
      letIn.resolve();
      await refused.promise;
      return null;
    },
  });
  const counts = { open: 0, refused: 0 };
  const door = net.createServer(async (client) => {
    client.on('error', () => {});
    if (counts.open > 0) {
      counts.refused++;
      if (refusal === null) client.destroy();
      else client.end(`${refusal}\r\n`);
      refused.resolve();
      return;
    }
    counts.open++;
    if (greetsLate) await refused.promise;
    const behind = net.connect(sink.port, '127.0.0.1');
    behind.on('error', () => client.destroy());
    client.pipe(behind).pipe(client);
    client.on('close', () => {
      counts.open--;
      behind.destroy();
    });
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  t.teardown(() => door.close());
  const harness = await setUpFor(t, (door.address() as net.AddressInfo).port, {
    limits: { sessionsPerGroup: 8, messagesPerSession: 10_000 },
    retryStepsMs: [HOUR],
    coolDownStepsMs: [HOUR],
    readInterfaces: () => NO_IPV6,
  });
  setMx(harness, 'rcpt.test', mx);
  if (ipv6) harness.dns.set(ipv6, 'AAAA', ['2001:db8::25']);
  return { sink, harness, counts, letIn: greetsLate ? null : letIn.promise };
}

const TOO_MANY = '421 4.7.0 Too many connections from your address';
for (const [what, door] of Object.entries<Door>({
  'too many connections, and a backup MX that is gone': { mx: DEAD_BACKUP, refusal: TOO_MANY },
  'too many connections, and IPv6 that this machine has not': { mx: ONE_HOST, ipv6: WITH_IPV6, refusal: TOO_MANY },
  'too many connections, which are closed without a word': { mx: ONE_HOST, refusal: null },
  'the same, and a backup MX that is gone': { mx: DEAD_BACKUP, refusal: null },
  'the same, before any was greeted': { mx: DEAD_BACKUP, refusal: null, greetsLate: true },
})) {
  t.test(`${what}: what was let in carries all the mail`, async (t) => {
    const { sink, harness, counts, letIn } = await oneDoor(t, door);
    const first = await harness.send(['first@rcpt.test']);
    await letIn;
    const ids = [...first, ...(await harness.send(users(60)))];
    const messages = await harness.untilAll(ids, isDelivered);
    t.ok(counts.refused > 0, `${counts.refused} refused`);
    t.ok(
      messages.every(({ attempts }) => attempts === 1),
      'no message was blamed for the connection that was refused',
    );
    t.equal(sink.mails.length, ids.length, 'nothing twice');
    const [group] = harness.delivery.shaping.memory.groupNames();
    t.match(harness.delivery.shaping.memory.group(group!).concurrency, { limit: 1, coolDownUntil: 0 });
  });
}

t.test('a host that blocks us, then one that is silent: the block is the verdict', async (t) => {
  const door = net.createServer((client) => {
    client.on('error', () => {});
    client.end('554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org\r\n');
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  t.teardown(() => door.close());
  const harness = await setUpFor(t, (door.address() as net.AddressInfo).port);
  setMx(harness, 'rcpt.test', DEAD_BACKUP);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message.attemptList, [{ peer: { mx: 'mx.rcpt.test', stage: 'greeting', smtpCode: 554 } }]);
  t.match(message.lastReason, /blocked using zen.*mx2\.rcpt\.test.*ECONNREFUSED.*rule dns-block-list/);
  const [group] = harness.delivery.shaping.memory.groupNames();
  t.ok(harness.delivery.shaping.sourceSuspension(group!, null), 'our address makes a pause there');
});

t.test('addresses that this machine cannot call are shown, and not called', async (t) => {
  const door = net.createServer((client) => {
    client.on('error', () => {});
    client.end('450 4.3.2 not now\r\n');
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  t.teardown(() => door.close());
  const { port } = door.address() as net.AddressInfo;
  const harness = await setUpFor(t, port, { readInterfaces: () => NO_IPV6 });
  setMx(harness, 'rcpt.test', ONE_HOST);
  harness.dns.set('mx.rcpt.test', 'AAAA', ['2001:db8::25', '2001:db8::26']);
  setMx(harness, 'rcpt.test', { ...ONE_HOST, 'six.rcpt.test': { ip: [], preference: 5 } });
  harness.dns.set('six.rcpt.test', 'AAAA', ['2001:db8::66']);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message.attemptList[0]?.peer, { mx: 'mx.rcpt.test', remoteIp: '127.0.0.1', smtpCode: 450 });
  const response = 'not called: this machine has no public IPv6 address';
  t.match(message.attemptList[0]?.peer.tried, [
    { mx: 'six.rcpt.test', ip: '2001:db8::66', stage: 'connect', smtpCode: null, response },
    { mx: 'mx.rcpt.test', ip: '127.0.0.1', smtpCode: 450 },
    { mx: 'mx.rcpt.test', ip: '2001:db8::25', stage: 'connect', smtpCode: null, response },
  ]);
  t.equal(message.attemptList[0]?.peer.tried?.length, 3, 'one of each host is enough');
  t.match(message.lastReason, /six\.rcpt\.test \(\[2001:db8::66\]:\d+\): not called: this machine has no public IPv6/);
});

t.test('what is skipped uses up none of the tries, and is called where nothing else is left', async (t) => {
  const says = (smtpCode: number | null, response: string): OpenResult => {
    const peer = { ...noPeer(smtpCode === null ? 'connect' : 'greeting', response), smtpCode };
    return { kind: 'failed', peer, tlsFailure: null, tlsTrouble: null };
  };
  const called: string[] = [];
  const knocker = {
    port: 25,
    async open({ ip }: { ip: string }) {
      called.push(ip);
      return ip.endsWith('.2') ? says(421, 'busy') : says(null, 'silence');
    },
    whySkipped: (ip: string) => (ip.includes(':') ? 'no IPv6' : null),
  };
  const choose = () => ({ decision: 'none' as const, reason: '' }) as never;
  const six = (at: number) => ({
    ...{ name: `six${at}.test`, preference: at },
    addresses: [{ ip: `2001:db8::${at}`, family: 6 as const }],
  });
  const four = (at: number) => ({
    ...{ name: `four${at}.test`, preference: 50 + at },
    addresses: [{ ip: `192.0.2.${at}`, family: 4 as const }],
  });
  const both = await connectToAny([1, 2, 3, 4, 5, 6].map(six).concat([1, 2, 3].map(four) as never), knocker, choose);
  t.strictSame(called, ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  t.match(both, { kind: 'none', asked: 'all', peer: { smtpCode: 421, response: 'busy', tried: { length: 9 } } });
  called.length = 0;
  await connectToAny([six(1)], knocker, choose);
  t.strictSame(called, ['2001:db8::1'], 'as a TLS policy may leave nothing else');
});
