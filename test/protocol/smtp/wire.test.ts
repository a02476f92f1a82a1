// Replies over a real connection whose every read lands in the same buffer.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { dialForOctets, OCTETS } from '../../../src/protocol/smtp/dial.ts';
import { Wire } from '../../../src/protocol/smtp/wire.ts';

const TIMEOUT_MS = 20_000;

async function connect(t: Test): Promise<{ wire: Wire; ours: Socket; theirs: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const target = { ip: '127.0.0.1', port, localAddress: undefined, timeoutMs: TIMEOUT_MS, signal: undefined };
  const ours = await dialForOctets(target);
  const [theirs] = (await connected) as [Socket];
  t.teardown(() => {
    ours.destroy();
    theirs.destroy();
    server.close();
  });
  return { wire: new Wire(ours), ours, theirs };
}

t.test('a reply in two reads', async (t) => {
  const { wire, ours, theirs } = await connect(t);
  const first = once(ours, OCTETS);
  theirs.write('250-mx.peer.test\r\n250-SI');
  await first;
  t.notOk(wire.quiet, 'the beginning of a reply is waiting for its end');
  theirs.write('ZE 1000\r\n250 PIPELINING\r\n');
  t.match(await wire.readReply(TIMEOUT_MS), { code: 250, lines: ['mx.peer.test', 'SIZE 1000', 'PIPELINING'] });
});

t.test('a reply that is longer than the buffer', async (t) => {
  const { wire, theirs } = await connect(t);
  const lines = Array.from({ length: 90 }, (_, at) => `line ${at} ${'x'.repeat(100 + at)}`);
  theirs.write(lines.map((line, at) => `250${at < lines.length - 1 ? '-' : ' '}${line}\r\n`).join(''));
  t.match(await wire.readReply(TIMEOUT_MS), { code: 250, lines });
});
