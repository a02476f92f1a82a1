// The port with TLS from the start: what comes before the greeting has limits, too.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { FIRST_PAIR } from '../../http/test-only-certificates.ts';
import { patience } from '../../support/patience.ts';
import { until } from '../../support/until.ts';
import { LIMITS, openDoor } from './door-kit.ts';

const HOST = '127.0.0.1';
const tls = { read: async () => ({ cert: FIRST_PAIR.cert, key: FIRST_PAIR.key }) } as never;

/** A peer that opens a connection and says nothing. */
function silent(t: Test, port: number, localAddress = HOST): { socket: Socket; isClosed(): boolean } {
  const socket = connect({ port, host: HOST, localAddress });
  let closed = false;
  socket.on('error', () => {});
  socket.on('close', () => (closed = true));
  t.teardown(() => socket.destroy());
  return { socket, isClosed: () => closed };
}

async function greetingOf(t: Test, port: number, localAddress: string): Promise<string> {
  const socket = connectTls({ port, host: HOST, localAddress, rejectUnauthorized: false } as never);
  t.teardown(() => socket.destroy());
  const [greeting] = await once(socket, 'data');
  return String(greeting);
}

t.test('silent sockets of one peer take no more places than a peer may have', async (t) => {
  const limits = { ...LIMITS, connections: 4, connectionsPerPeer: 3 };
  const door = await openDoor(t, { port: null, tlsPort: 0, tls, limits });
  const port = door.tlsPort!;
  // More than smtp-server itself keeps waiting for a handshake, of all peers together.
  const all = Array.from({ length: 12 }, () => silent(t, port));
  await until('the others are refused', () => all.filter(({ isClosed }) => isClosed()).length === 9);
  t.match(door.counted, { 'connection refused': 9 });
  t.match(await greetingOf(t, port, '127.0.0.2'), /^220 /, 'another peer is greeted');
  const kept = all.filter(({ isClosed }) => !isClosed());
  kept[0]!.socket.destroy();
  const again = async () => greetingOf(t, port, HOST).catch(() => null);
  t.match(await until('a place is free', again), /^220 /, 'and the peer itself, when one of its own is gone');
  t.match(await greetingOf(t, port, HOST), /^220 /, 'a handshake that is over counts no more');
});

t.test('a handshake has its time', async (t) => {
  const door = await openDoor(t, { port: null, tlsPort: 0, tls, timeouts: { handshakeMs: patience(1000) } });
  const port = door.tlsPort!;
  const [mute, half] = [silent(t, port), silent(t, port)];
  // The beginning of a TLS record that never ends.
  half.socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1]));
  const greeted = connectTls({ port, host: HOST, rejectUnauthorized: false });
  t.teardown(() => greeted.destroy());
  await once(greeted, 'data');
  await until('both are closed', () => mute.isClosed() && half.isClosed());
  t.equal(greeted.destroyed, false, 'a session goes on');
  t.match(await greetingOf(t, port, HOST), /^220 /, 'and the port is open');
});
