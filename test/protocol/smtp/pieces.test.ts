// A message whose body is read while it is sent: what arrives, how little of it is held, and that a part of it is never
// accepted.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Fault } from '../../../src/base/errors.ts';
import { type OutgoingMessage, openSession } from '../../../src/protocol/smtp/session.ts';
import type { SmtpTimeouts } from '../../../src/protocol/smtp/timeouts.ts';
import { type PeerScript, startPeer } from '../../support/smtp-peer.ts';

const HEADER = Buffer.from('Subject: pieces\r\n\r\n');

async function open(t: Test, script: PeerScript, timeouts: Partial<SmtpTimeouts> = {}) {
  const peer = await startPeer([script]);
  t.teardown(() => peer.close());
  const to = { mx: 'mx.peer.test', ip: '127.0.0.1', port: peer.port, ehloName: 'out.test', tls: 'none' } as const;
  const result = await openSession({ ...to, timeouts });
  if (result.kind !== 'open') throw new Error(result.peer.response);
  t.teardown(() => result.session.destroy());
  return { peer, session: result.session };
}

function mailOf(read: () => AsyncIterable<Buffer>, sizeBytes: number): OutgoingMessage {
  return {
    ...{ mailFrom: 'a@postrider.test', rcptTo: 'b@peer.test', message: HEADER },
    pieces: { sizeBytes, read },
    needs: { smtputf8: false, eightBit: false },
  };
}

function inPieces(pieces: readonly Buffer[]): OutgoingMessage {
  const read = async function* () {
    for (const piece of pieces) {
      await nextTurn();
      yield piece;
    }
  };
  return mailOf(
    read,
    pieces.reduce((sum, { length }) => sum + length, 0),
  );
}

function cutAt(text: string, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    Buffer.from(text.slice(index * length, (index + 1) * length)),
  );
}

const unstuffed = (body: Buffer) => body.toString().replaceAll(/(^|\n)\./g, '$1');

t.test('what arrives is the same, wherever it is cut', async (t) => {
  const body = '.a\r\n..b\r\n.\r\nc.d\r\n\r\n.\r\n';
  const cuts = [1, 2, 3, 5, 100].map((length) => cutAt(body, length));
  const { peer, session } = await open(t, async (c) => {
    await c.welcome('PIPELINING', 'SIZE 1000000');
    for (const _ of cuts) {
      await c.takeMessage();
      c.say('250 ok');
    }
    await c.closed();
  });
  for (const pieces of cuts)
    t.match(await session.send(inPieces(pieces)), { kind: 'accepted', peer: { stage: 'dot' } });
  for (const received of peer.bodies) t.equal(unstuffed(received), `${HEADER}${body}`);
  t.match(peer.heard[1], `SIZE=${HEADER.length + body.length}`);
});

t.test('pieces larger than a block, and none at all', async (t) => {
  const body = '0123456789 abcdefghijklmnopqrstuvwxyz\r\n.\r\n'.repeat(20_000);
  const { peer, session } = await open(t, async (c) => {
    await c.welcome();
    for (let message = 0; message < 2; message++) {
      await c.takeMessage();
      c.say('250 ok');
    }
    await c.closed();
  });
  t.equal((await session.send(inPieces(cutAt(body, 262_143)))).kind, 'accepted');
  t.equal((await session.send(inPieces([]))).kind, 'accepted');
  t.ok(unstuffed(peer.bodies[0]!) === `${HEADER}${body}`);
  t.equal(peer.bodies[1]!.toString(), HEADER.toString());
});

t.test('nothing is read ahead for a server that takes no data', async (t) => {
  const { session } = await open(
    t,
    async (c) => {
      await c.welcome();
      await c.answer('MAIL FROM:', '250 ok');
      await c.answer('RCPT TO:', '250 ok');
      await c.expect('DATA');
      c.socket.pause();
      c.say('354 go ahead');
    },
    { dataBlockMs: 500 },
  );
  let read = 0;
  const endless = async function* () {
    for (; ; read++) yield Buffer.alloc(256 * 1024, 'x\r\n');
  };
  t.match(await session.send(mailOf(endless, 1000)), { kind: 'lost', afterDot: false, peer: { stage: 'data' } });
  t.ok(read < 100, `${read} pieces: what the buffers of the system take`);
});

for (const permanence of ['temporary', 'permanent'] as const) {
  t.test(`a piece that cannot be read ends the connection without a final dot: ${permanence}`, async (t) => {
    const { promise: ended, resolve } = Promise.withResolvers<Buffer>();
    const { session } = await open(t, async (c) => {
      await c.welcome('PIPELINING');
      await c.hearCommands();
      c.say('250 ok', '250 ok', '354 go ahead');
      const received: Buffer[] = [];
      c.socket.on('data', (chunk) => received.push(chunk));
      c.socket.on('close', () => resolve(Buffer.concat(received)));
      await c.closed();
    });
    const read = async function* () {
      yield Buffer.from('one\r\n');
      throw new Fault('piece 1 is missing', { permanence });
    };
    let asked = 0;
    const sending = session.send(mailOf(read, 1000), () => {
      asked++;
      return null;
    });
    if (permanence === 'permanent') await t.rejects(sending, { message: 'piece 1 is missing' });
    else {
      const response = 'the rest of the message cannot be read: piece 1 is missing';
      t.match(await sending, { kind: 'lost', afterDot: false, peer: { stage: 'data', smtpCode: null, response } });
    }
    t.equal(asked, 0, 'nothing is announced behind it');
    t.equal(session.usable, false);
    t.notMatch((await ended).toString(), /^\.\r\n/m, 'the server has not seen an end');
    t.match(await session.send(inPieces([])), { kind: 'lost' }, 'nor is it busy for ever');
  });
}

t.test('a server that refuses in the middle is not sent the rest', async (t) => {
  let read = 0;
  const { session } = await open(t, async (c) => {
    await c.welcome('PIPELINING');
    await c.hearCommands();
    c.say('250 ok', '250 ok', '354 go ahead', '552 5.3.4 too much');
    await c.closed();
  });
  const endless = async function* () {
    for (; ; read++) {
      await nextTurn();
      yield Buffer.alloc(100_000, 'x\r\n');
    }
  };
  t.match(await session.send(mailOf(endless, 1000)), { kind: 'refused', peer: { stage: 'data', smtpCode: 552 } });
  t.ok(read < 10_000);
});
