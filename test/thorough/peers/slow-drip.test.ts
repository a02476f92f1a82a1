// Servers whose replies come byte by byte: waited for within the timeout of each reply, and no
// longer, however busy they look.
import t from 'tap';
import { setMx, setUpFor, startSink } from '../../delivery/set-up.ts';
import { pace } from '../../support/patience.ts';
import { type PeerConnection, startPeer } from '../../support/smtp-peer.ts';

const BYTE_EVERY_MS = 3;

async function drip(c: PeerConnection, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    if (!c.socket.writable) return;
    c.sayRaw(Buffer.of(byte));
    await new Promise((resolve) => setTimeout(resolve, BYTE_EVERY_MS));
  }
}

t.test('a whole dialogue, byte by byte', async (t) => {
  const peer = await startPeer([
    async (c) => {
      await drip(c, '220-mx.peer.test\r\n220 in no hurry\r\n');
      await c.expect('EHLO');
      await drip(c, '250-mx.peer.test\r\n250 SIZE 100000\r\n');
      for (const [command, reply] of [
        ['MAIL', '250 2.1.0 ok\r\n'],
        ['RCPT', '250 2.1.5 ok\r\n'],
        ['DATA', '354 go on\r\n'],
      ] as const) {
        await c.expect(command);
        await drip(c, reply);
      }
      await c.takeBody();
      await drip(c, '250-2.0.0 well\r\n250 2.0.0 taken\r\n');
      await c.answer('QUIT', '221 bye');
    },
  ]);
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port, { limits: { messagesPerSession: 1 } });
  setMx(harness, 'rcpt.test', { 'mx.rcpt.test': { ip: '127.0.0.1' } });
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, ({ attemptList }) => attemptList.length > 0);
  t.match(message, { state: 'delivered', attempts: 1, attemptList: [{ peer: { response: 'well taken' } }] });
});

t.test('a greeting that never ends: the next MX, in the same attempt', async (t) => {
  const peer = await startPeer([
    async (c) => {
      while (c.socket.writable) await drip(c, '220-patience\r\n');
    },
  ]);
  t.teardown(() => peer.close());
  const sink = await startSink(t, { host: '127.0.0.2', port: peer.port });
  // A minute shrunk to 0.6 s: the greeting ends there, in the middle of its lines.
  const harness = await setUpFor(t, peer.port, { timeoutFactor: 0.01 * pace() });
  setMx(harness, 'rcpt.test', {
    'mx.rcpt.test': { ip: '127.0.0.1', preference: 10 },
    'mx2.rcpt.test': { ip: '127.0.0.2', preference: 20 },
  });
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, ({ attemptList }) => attemptList.length > 0);
  t.match(message, { state: 'delivered', attempts: 1, attemptList: [{ peer: { mx: 'mx2.rcpt.test' } }] });
  t.equal(sink.mails.length, 1);
  t.equal(peer.connections, 1);
});
