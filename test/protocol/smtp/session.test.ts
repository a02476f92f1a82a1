// A session over its life: idle, reused, closed; and against servers that others wrote.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t, { type Test } from 'tap';
import type { Clock } from '../../../src/base/clock.ts';
import {
  type OutgoingMessage,
  openSession,
  type SessionOptions,
  type SmtpSession,
} from '../../../src/protocol/smtp/session.ts';
import { type PeerScript, startPeer } from '../../support/smtp-peer.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } from '../../support/smtp-peer-tls.ts';
import { until } from '../../support/until.ts';

const SMTP_SINK = '/usr/sbin/smtp-sink';
const letter: OutgoingMessage = {
  mailFrom: 'a@postrider.test',
  rcptTo: 'b@peer.test',
  message: Buffer.from('Subject: hello\r\n\r\nworld\r\n'),
  needs: { smtputf8: false, eightBit: false },
};

async function open(t: Test, port: number, options: Partial<SessionOptions> = {}): Promise<SmtpSession> {
  const defaults = { mx: 'mx.peer.test', ip: '127.0.0.1', port, ehloName: 'out.test', tls: 'none' } as const;
  const result = await openSession({ ...defaults, ...options });
  if (result.kind !== 'open') throw new Error(result.peer.response);
  t.teardown(() => result.session.destroy());
  return result.session;
}

async function openTo(t: Test, script: PeerScript, options: Partial<SessionOptions> = {}) {
  const peer = await startPeer([script]);
  t.teardown(() => peer.close());
  return { peer, session: await open(t, peer.port, options) };
}

/** Until the client has noticed what the peer did to an idle session. */
async function untilUnusable(session: SmtpSession): Promise<void> {
  while (session.usable) await new Promise((resolve) => setImmediate(resolve));
}

t.test('421 while idle is noticed before the next message', async (t) => {
  const { peer, session } = await openTo(t, async (c) => {
    await c.welcome('PIPELINING');
    await c.takeMessage();
    c.say('250 ok', '421 4.4.2 idle for too long');
    c.hangUp();
  });
  t.equal((await session.send(letter)).kind, 'accepted');
  await untilUnusable(session);
  t.match(await session.send(letter), {
    kind: 'lost',
    afterDot: false,
    peer: { stage: 'mail', smtpCode: 421, enhancedCode: '4.4.2', response: 'idle for too long' },
  });
  t.equal(peer.bodies.length, 1);
});

t.test('a message that may not be sent any more is broken off before its final dot', async (t) => {
  const asked: boolean[] = [];
  let isTaken = false;
  const mayEnd = () => {
    asked.push(!isTaken);
    return !isTaken;
  };
  const script: PeerScript = async (c) => {
    await c.welcome('PIPELINING');
    await c.takeMessage();
    c.say('250 ok');
    await c.hearCommands();
    isTaken = true;
    c.say('250 ok', '250 ok', '354 go on');
    await c.closed();
    c.assertQuiet();
  };
  const { peer, session } = await openTo(t, script);
  t.equal((await session.send({ ...letter, mayEnd })).kind, 'accepted');
  t.match(await session.send({ ...letter, mayEnd }), {
    kind: 'lost',
    afterDot: false,
    peer: { stage: 'data', smtpCode: null, response: /broken off: another daemon may have taken the message over/ },
  });
  t.strictSame(asked, [true, false]);
  t.equal(peer.bodies.length, 1, 'the server has not got the second one');
  t.equal(session.usable, false);
});

t.test('a server that hangs up while idle', async (t) => {
  const { session } = await openTo(t, async (c) => {
    await c.welcome();
    c.hangUp();
  });
  await untilUnusable(session);
  const response = 'connection closed by the server';
  t.match(await session.send(letter), {
    kind: 'lost',
    afterDot: false,
    peer: { stage: 'mail', smtpCode: null, response },
  });
});

t.test('a refused RSET is no refusal of the next message', async (t) => {
  for (const keywords of [[], ['PIPELINING']]) {
    const { session } = await openTo(t, async (c) => {
      await c.welcome(...keywords);
      await c.takeMessage();
      c.say('554 5.7.1 spam');
      await c.answer('RSET', '421 4.7.0 enough of you');
      c.hangUp();
    });
    t.equal((await session.send(letter)).kind, 'refused');
    t.match(await session.send(letter), { kind: 'lost', afterDot: false, peer: { stage: 'mail', smtpCode: 421 } });
    t.equal(session.usable, false);
  }
});

t.test('a server that answers what nobody asked is cut off', async (t) => {
  const { promise: cutOff, resolve } = Promise.withResolvers<void>();
  const { session } = await openTo(t, async (c) => {
    await c.welcome();
    c.say(...Array.from({ length: 50 }, () => '250 ok'));
    await c.closed();
    resolve();
  });
  await cutOff;
  t.equal(session.usable, false);
  t.match(await session.send(letter), { kind: 'lost', afterDot: false });
});

t.test('one message at a time', async (t) => {
  const { session } = await openTo(t, async (c) => {
    await c.welcome();
    await c.takeMessage();
    c.say('250 ok');
    await c.closed();
  });
  const first = session.send(letter);
  t.equal(session.usable, false);
  await t.rejects(session.send(letter), { message: 'the session is busy with another message' });
  t.equal((await first).kind, 'accepted');
});

t.test('closing does not wait for a server that ignores QUIT', async (t) => {
  const { peer, session } = await openTo(
    t,
    async (c) => {
      await c.welcome();
      await c.expect('QUIT');
      await c.closed();
    },
    { timeouts: { quitMs: 30 } },
  );
  await session.close();
  await until('QUIT is heard', () => peer.heard.at(-1) === 'QUIT');
  t.equal(session.usable, false);
  t.match(await session.send(letter), { kind: 'lost', afterDot: false, peer: { response: 'no reply within 0.03 s' } });
  await session.close();
});

t.test('elapsed time is taken from the clock', async (t) => {
  let now = 1_000;
  const clock: Clock = { now: () => now };
  const { session } = await openTo(
    t,
    async (c) => {
      await c.welcome();
      await c.takeMessage();
      now += 1_234;
      c.say('250 ok');
      await c.closed();
    },
    { clock },
  );
  t.equal((await session.send(letter)).peer.elapsedMs, 1_234);
});

async function startMta(t: Test, options: SMTPServerOptions = {}) {
  const bodies: Buffer[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    key: TEST_ONLY_KEY,
    cert: TEST_ONLY_CERTIFICATE,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        bodies.push(Buffer.concat(chunks));
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as { port: number }).port, bodies };
}

const nasty = [
  '.',
  '.\r\n',
  '..\r\n.\r\n...\r\n',
  'a\r\n.\r\nMAIL FROM:<evil@peer.test>\r\nRCPT TO:<b@peer.test>\r\nDATA\r\n',
  'a\n.\nQUIT\r\n',
  'a\r\n.\nb\n.\r\nc\r\n',
  '\r\n\r\n.\r\n\r\n',
  'no line end',
  `${'.\r\n'.repeat(100_000)}`,
  `${'x'.repeat(128 * 1024 - 2)}\r\n.at the edge of a block\r\n`,
  `${'x'.repeat(128 * 1024)}`,
  '\u0000\u0001\u007fü€😀\r\n.',
];

for (const tls of ['none', 'opportunistic'] as const) {
  t.test(`nasty bodies arrive at a real MTA as they were, TLS ${tls}`, async (t) => {
    const { port, bodies } = await startMta(t);
    const session = await open(t, port, { tls });
    t.equal(session.tls === null, tls === 'none');
    for (const [at, text] of nasty.entries()) {
      const message = Buffer.from(text);
      t.equal((await session.send({ ...letter, message })).kind, 'accepted');
      const whole = text.endsWith('\r\n') ? message : Buffer.concat([message, Buffer.from('\r\n')]);
      t.ok(bodies[at]?.equals(whole), JSON.stringify(text.slice(0, 40)));
    }
    t.equal(bodies.length, nasty.length, 'and no message more');
    await session.close();
  });

  t.test(`a body of 5 MiB, TLS ${tls}`, async (t) => {
    const { port, bodies } = await startMta(t);
    const session = await open(t, port, { tls });
    const message = Buffer.from('.0123456789 abcdefghijklmnopqrstuvwxyz\r\n'.repeat(131_072));
    t.ok(message.length >= 5 * 1024 * 1024);
    t.equal((await session.send({ ...letter, message })).kind, 'accepted');
    t.ok(bodies[0]?.equals(message));
    await session.close();
  });
}

t.test('a real MTA refuses one recipient and takes the next', async (t) => {
  const { port, bodies } = await startMta(t, {
    onRcptTo(address, _session, done) {
      if (address.address !== 'nobody@peer.test') return done();
      done(Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }));
    },
  });
  const session = await open(t, port);
  const refused = await session.send({ ...letter, rcptTo: 'nobody@peer.test' });
  t.match(refused, {
    kind: 'refused',
    peer: { stage: 'rcpt', smtpCode: 550, enhancedCode: '5.1.1', response: 'no such user' },
  });
  t.equal((await session.send(letter)).kind, 'accepted');
  t.equal(bodies.length, 1);
  await session.close();
});

const noSink = existsSync(SMTP_SINK) ? false : `${SMTP_SINK} is not installed`;

t.test('100 messages to smtp-sink on one session', { skip: noSink }, async (t) => {
  const { port, sink } = await startSink(t);
  const session = await open(t, port);
  t.equal(session.capabilities.pipelining, true);
  for (let count = 0; count < 100; count++) {
    const sent = await session.send(letter);
    if (sent.kind !== 'accepted') return t.fail(sent.peer.response);
  }
  await session.close();
  t.equal(sink.exitCode, null, 'it is still there');
});

t.test('smtp-sink that hangs up after the dot', { skip: noSink }, async (t) => {
  const { port } = await startSink(t, '-q', '.');
  const session = await open(t, port);
  t.match(await session.send(letter), { kind: 'lost', afterDot: true, peer: { stage: 'dot' } });
});

async function startSink(t: Test, ...options: string[]): Promise<{ port: number; sink: ChildProcess }> {
  const port = await freePort();
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const sink = spawn(SMTP_SINK, [...user, ...options, `127.0.0.1:${port}`, '100'], { stdio: 'ignore' });
  t.teardown(() => sink.kill());
  while (!(await answers(port))) if (sink.exitCode !== null) throw new Error(`smtp-sink ended with ${sink.exitCode}`);
  return { port, sink };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', () => settle(true));
    socket.on('error', () => settle(false));
  });
}
