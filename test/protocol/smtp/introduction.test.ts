// How sessions begin, and how they fail to: in clear text; TLS is in secure.test.ts.
import { connect, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { type Dialler, dialTcp } from '../../../src/protocol/smtp/dial.ts';
import { openSession, type SessionOptions } from '../../../src/protocol/smtp/session.ts';
import type { SmtpTimeouts } from '../../../src/protocol/smtp/timeouts.ts';
import { patience } from '../../support/patience.ts';
import { type Peer, type PeerScript, startPeer } from '../../support/smtp-peer.ts';

async function open(t: Test, script: PeerScript, options: Partial<SessionOptions> = {}) {
  const peer = await startPeer([script]);
  t.teardown(() => peer.close());
  return { peer, result: await openSession(optionsFor(peer, options)) };
}

function optionsFor(peer: Pick<Peer, 'port'>, options: Partial<SessionOptions> = {}): SessionOptions {
  return {
    mx: 'mx.peer.test',
    ip: '127.0.0.1',
    port: peer.port,
    ehloName: 'out.postrider.test',
    tls: 'none',
    ...options,
  };
}

t.test('a greeting of several lines, byte by byte', async (t) => {
  const { peer, result } = await open(t, async (c) => {
    await c.saySlowly('220-mx.peer.test\r\n220-no spam\r\n220 please\r\n');
    await c.expect('EHLO');
    await c.saySlowly('250-mx.peer.test\r\n250-PIPELINING\r\n250 SIZE 1000\r\n');
    await c.answer('QUIT', '221 bye');
  });
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.match(result.session, { usable: true, tls: null, tlsFailure: null, tlsUnverified: null });
  t.match(result.session.capabilities, { pipelining: true, maxSizeBytes: 1000, startTls: false });
  await result.session.close();
  t.equal(result.session.usable, false);
  t.same(peer.heard, ['EHLO out.postrider.test', 'QUIT']);
});

t.test('a server that does not know EHLO is greeted with HELO', async (t) => {
  const { result } = await open(t, async (c) => {
    c.say('220 old.peer.test');
    await c.answer('EHLO', '500 what?');
    await c.answer('HELO', '250 old.peer.test');
    await c.closed();
  });
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.equal(result.session.capabilities.keywords.size, 0);
  result.session.destroy();
});

interface Refusal {
  says: string;
  script: PeerScript;
  peer: object;
  /** Only the wait that the script provokes is short: no other may fire on a busy machine. */
  timeouts?: Partial<SmtpTimeouts>;
}

const refusals: Refusal[] = [
  {
    says: 'greeting 554',
    script: (c) => c.say('554 5.7.1 not you'),
    peer: { stage: 'greeting', smtpCode: 554, enhancedCode: '5.7.1', response: 'not you' },
  },
  {
    says: 'greeting 421',
    script: (c) => {
      c.say('421-4.3.2 busy', '421 4.3.2 later');
      c.hangUp();
    },
    peer: { stage: 'greeting', smtpCode: 421, enhancedCode: '4.3.2', response: 'busy later' },
  },
  {
    says: 'greeting 250',
    script: (c) => c.say('250 hm'),
    peer: { stage: 'greeting', smtpCode: null, response: 'protocol error: unexpected reply 250 hm' },
  },
  {
    says: 'another protocol',
    script: (c) => c.say('SSH-2.0-OpenSSH_9.2'),
    peer: { stage: 'greeting', smtpCode: null, response: /^protocol error: not an SMTP reply: SSH/ },
  },
  {
    says: 'an endless line',
    script: (c) => c.sayRaw(`220 ${'x'.repeat(5000)}`),
    peer: { stage: 'greeting', response: 'protocol error: reply line too long' },
  },
  {
    says: 'nothing, and hangs up',
    script: (c) => c.hangUp(),
    peer: { stage: 'greeting', smtpCode: null, response: 'connection closed by the server' },
  },
  {
    says: 'EHLO 450',
    script: async (c) => {
      c.say('220 hi');
      await c.answer('EHLO', '450 4.7.1 no reverse name');
    },
    peer: { stage: 'ehlo', smtpCode: 450, enhancedCode: '4.7.1' },
  },
  {
    says: 'EHLO and HELO 550',
    script: async (c) => {
      c.say('220 hi');
      await c.answer('EHLO', '550 no');
      await c.answer('HELO', '550 5.7.1 no, really');
    },
    peer: { stage: 'ehlo', smtpCode: 550, response: 'no, really' },
  },
  {
    says: 'hangs up at EHLO',
    script: async (c) => {
      c.say('220 hi');
      await c.expect('EHLO');
      c.hangUp();
    },
    peer: { stage: 'ehlo', smtpCode: null, response: 'connection closed by the server' },
  },
  {
    says: 'stalls before the greeting',
    timeouts: { greetingMs: 40 },
    script: (c) => c.closed(),
    peer: { stage: 'greeting', smtpCode: null, response: 'no reply within 0.04 s' },
  },
  {
    says: 'stalls within the greeting',
    timeouts: { greetingMs: 40 },
    script: (c) => {
      c.sayRaw('220-wait for it\r\n220');
      return c.closed();
    },
    peer: { stage: 'greeting', response: 'no reply within 0.04 s' },
  },
  {
    says: 'stalls at EHLO',
    timeouts: { ehloMs: 40 },
    script: async (c) => {
      c.say('220 hi');
      await c.expect('EHLO');
      await c.closed();
    },
    peer: { stage: 'ehlo', response: 'no reply within 0.04 s' },
  },
];

for (const { says, script, peer, timeouts = {} } of refusals) {
  t.test(`fails: ${says}`, async (t) => {
    const { result } = await open(t, script, { timeouts });
    t.match(result, { kind: 'failed', tlsFailure: null });
    if (result.kind !== 'failed') return;
    t.match(result.peer, { mx: 'mx.peer.test', remoteIp: '127.0.0.1', tls: null, ...peer });
    t.ok(result.peer.elapsedMs >= 0 && result.peer.elapsedMs < patience(5000));
  });
}

t.test('nobody listens', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const result = await openSession(optionsFor({ port }));
  t.match(result, { kind: 'failed', peer: { stage: 'connect', smtpCode: null, response: 'connect: ECONNREFUSED' } });
});

t.test('the own address is a choice; an impossible one is a failed connect', async (t) => {
  const script: PeerScript = async (c) => {
    c.say(`220 hello ${c.socket.remoteAddress}`);
    await c.hello(c.socket.remoteAddress!.toUpperCase());
    await c.closed();
  };
  const { peer, result } = await open(t, script, { localAddress: '127.0.0.9' });
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.ok(result.session.capabilities.keywords.has('127.0.0.9'));
  result.session.destroy();
  const failed = await openSession(optionsFor(peer, { localAddress: '192.0.2.1' }));
  t.match(failed, { kind: 'failed', peer: { stage: 'connect', response: 'connect: EADDRNOTAVAIL' } });
});

t.test('a connection that never comes about', async (t) => {
  const { port, close } = await startDeafListener();
  t.teardown(close);
  const target = { ip: '127.0.0.1', port, localAddress: undefined, timeoutMs: 40, signal: undefined };
  await t.rejects(dialTcp(target), { message: 'no connection within 0.04 s' });
  const controller = new AbortController();
  const stuck = dialTcp({ ...target, timeoutMs: 60_000, signal: controller.signal });
  controller.abort();
  await t.rejects(stuck, { message: 'aborted' });
  await t.rejects(dialTcp({ ...target, ip: 'mx.peer.test' }), { message: 'not an IP address' });
  const dial = () => Promise.reject(new Error('proxy says no'));
  const result = await openSession(optionsFor({ port: 25 }, { dial }));
  t.match(result, { kind: 'failed', peer: { stage: 'connect', response: 'connect: proxy says no' } });
});

t.test('abort', async (t) => {
  await t.test('before the dial', async (t) => {
    const { peer, result } = await open(t, (c) => c.closed(), { signal: AbortSignal.abort() });
    t.match(result, { kind: 'failed', peer: { stage: 'connect', response: 'connect: aborted' } });
    t.equal(peer.connections, 0);
  });

  await t.test('while waiting for the greeting', async (t) => {
    const controller = new AbortController();
    const dial: Dialler = async (target) => {
      const socket = await dialTcp(target);
      setImmediate(() => controller.abort());
      return socket;
    };
    const { result } = await open(t, (c) => c.closed(), { signal: controller.signal, dial });
    t.match(result, { kind: 'failed', peer: { stage: 'greeting', response: 'aborted' } });
  });

  await t.test('of the opening does not reach the open session', async (t) => {
    const controller = new AbortController();
    const script: PeerScript = async (c) => {
      await c.welcome();
      await c.takeMessage();
      c.say('250 ok');
      await c.closed();
    };
    const { result } = await open(t, script, { signal: controller.signal });
    if (result.kind !== 'open') return t.fail(result.peer.response);
    controller.abort();
    const needs = { smtputf8: false, eightBit: false };
    const message = Buffer.from('a: b\r\n\r\n');
    const sent = await result.session.send({ mailFrom: '', rcptTo: 'a@peer.test', message, needs });
    t.equal(sent.kind, 'accepted');
    result.session.destroy();
  });
});

t.test('an EHLO name that would be two commands is refused', async (t) => {
  await t.rejects(openSession(optionsFor({ port: 25 }, { ehloName: 'a\r\nMAIL FROM:<>' })), {
    message: 'the EHLO name is not a host name',
  });
});

/** Listens, but its queue is full and nobody accepts: the system leaves further connects unanswered. */
async function startDeafListener() {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(code, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.race(fillers.map((filler) => new Promise((resolve) => filler.once('connect', resolve))));
  const close = async () => {
    for (const filler of fillers) filler.destroy();
    await worker.terminate();
  };
  return { port, close };
}
